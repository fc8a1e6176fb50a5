import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BASELINES, OURS } from '../scripts/evaluate/baselines.ts';
import { intervalOf, randomNumbers } from '../scripts/evaluate/bootstrap.ts';
import { candidateOrders, corpusOf, REFERENCE } from '../scripts/evaluate/candidates.ts';
import { type Life, parseSpokenDate, readLocomo, readStateBench } from '../scripts/evaluate/datasets.ts';
import { gatesOf } from '../scripts/evaluate/gates.ts';
import { percentile, scoresOf } from '../scripts/evaluate/metrics.ts';
import { allLinked, type Mode, scriptsOf } from '../scripts/evaluate/modes.ts';
import { measure } from '../scripts/evaluate/part.ts';
import { plansOf, reversals } from '../scripts/evaluate/plans.ts';
import { type Answer, openService, play } from '../scripts/evaluate/play.ts';
import { drawPlot } from '../scripts/evaluate/plots.ts';
import { BEGIN, END, withTables } from '../scripts/evaluate/report.ts';
import { agreement, gainsOf, rowsOf } from '../scripts/evaluate/summary.ts';
import { createVectors, type Vectors } from '../scripts/evaluate/vectors.ts';
import { createFakeEmbedder, FAKE_MODEL } from './fake-embedder.ts';
import { temporaryFolder } from './temporary.ts';

/** Made up for these tests: a key, what was said of it first and later, and a question. */
const CHANGES = [
  ['seat', 'I always want a window seat', 'From now on book me an aisle seat', 'Which seat should be booked?'],
  ['tea', 'Green tea is what I drink at work', 'At work I drink black coffee now', 'What do I drink at work?'],
  ['gym', 'My gym day is Monday', 'My gym day moved to Thursday', 'Which day is my gym day?'],
  ['bank', 'My bank is Northern Trust', 'I left for a new bank, Harbour Savings', 'Which bank is mine?'],
  ['editor', 'I write code in Emacs', 'These days I write code in Helix', 'Where do I write code?'],
  ['pet', 'We have a cat called Miso', 'We gave Miso away and have a dog called Udon', 'Which pet do we have?'],
] as const;
const WORDS: Record<string, [now: string, then: string]> = {
  seat: ['aisle', 'window'],
  tea: ['coffee', 'green tea'],
  gym: ['thursday', 'monday'],
  bank: ['harbour', 'northern'],
  editor: ['helix', 'emacs'],
  pet: ['udon', 'a cat'],
};
const instant = (minute: number): string =>
  `2025-01-0${1 + Math.floor(minute / 1440)}T10:${String(minute % 60).padStart(2, '0')}:00`;

/** One timeline in StateBench's format, with a link between facts and unrelated talk around them. */
function timeline(index: number): object {
  const [key, then, now, question] = CHANGES[index] ?? CHANGES[0];
  const said = (minute: number, text: string, speaker = 'user') => ({
    ...{ ts: instant(minute), type: 'conversation_turn', speaker, text },
  });
  const wrote = (minute: number, value: string, name: string, supersedes: string | null) => ({
    ts: instant(minute),
    type: supersedes ? 'supersession' : 'state_write',
    writes: [{ id: 'W', layer: 'persistent_facts', key: name, value, supersedes }],
  });
  const [right, wrong] = WORDS[key] ?? ['', ''];
  return {
    id: `made-${key}`,
    track: 'supersession',
    initial_state: { persistent_facts: [{ id: 'F-1', key: 'city', value: 'Lives in Bergen', ts: instant(0) }] },
    events: [
      wrote(2, then, key, null),
      said(5, 'The weather was fine on Sunday'),
      said(6, 'Noted.', 'assistant'),
      wrote(30, now, `${key}_v2`, key),
      said(31, 'Remind me to water the plants'),
      {
        ts: instant(40),
        type: 'query',
        prompt: question,
        ground_truth: { must_mention: [right], must_not_mention: [wrong] },
      },
    ],
  };
}

function stateBenchFile(): string {
  const file = join(temporaryFolder(), 'made.jsonl');
  writeFileSync(file, CHANGES.map((_, index) => JSON.stringify(timeline(index))).join('\n'));
  return file;
}

const quiet = (): void => {};

async function played(lives: Life[], mode: Mode): Promise<{ answers: Answer[]; vectors: Vectors }> {
  const vectors = createVectors(createFakeEmbedder());
  await vectors.prepare(lives);
  const service = openService(join(temporaryFolder(), 'made.db'), vectors);
  const { answers } = await play(
    service,
    lives.flatMap((life) => scriptsOf(life, mode)),
    vectors,
  );
  await service.close();
  return { answers, vectors };
}

describe('a measure', () => {
  it('takes the best place of the current and of the stale memories', () => {
    const scores = scoresOf(['a', 'b', 'c'], ['b', 'c'], ['x', 'a']);
    expect(scores).toEqual({
      'current@1': 0,
      'current above stale': 0,
      'stale@8': 1,
      'recall@8': 1,
      'recall@10': 1,
      MRR: 0.5,
    });
  });

  it('counts a current memory that was not found as below a stale one that was not', () => {
    const scores = scoresOf(['x'], ['b'], ['a']);
    expect(scores['current above stale']).toBe(0);
    expect(scores.MRR).toBe(0);
  });

  it('says nothing of staleness where a question has none', () => {
    const scores = scoresOf(['a'], ['a'], []);
    expect([scores['current above stale'], scores['stale@8'], scores['current@1']]).toEqual([null, null, 1]);
  });

  it('cuts recall at its depth', () => {
    const ranked = Array.from({ length: 12 }, (_, index) => `m${index}`);
    const scores = scoresOf(ranked, ['m0', 'm8', 'm9', 'm11'], []);
    expect([scores['recall@8'], scores['recall@10']]).toEqual([0.25, 0.75]);
  });

  it('takes percentiles of the sorted numbers', () => {
    expect([percentile([3, 1, 2], 0.5), percentile([1, 2, 3, 4], 0.95), percentile([], 0.5)]).toEqual([
      2,
      4,
      Number.NaN,
    ]);
  });
});

describe('the bootstrap', () => {
  const samples = Array.from({ length: 40 }, (_, index) => ({
    group: `g${index % 8}`,
    value: index % 3 === 0 ? 1 : 0,
  }));

  it('gives the same interval for the same seed, around the mean', () => {
    const interval = intervalOf(samples, 7);
    expect(interval).toEqual(intervalOf(samples, 7));
    expect(interval).toMatchObject({ mean: 0.35, n: 40, groups: 8 });
    expect(interval?.low).toBeLessThan(0.35);
    expect(interval?.high).toBeGreaterThan(0.35);
  });

  it('draws groups whole: equal values within a group widen the interval', () => {
    const width = (of: { group: string; value: number }[]) => {
      const { low = 0, high = 0 } = intervalOf(of, 1) ?? {};
      return high - low;
    };
    const tied = Array.from({ length: 64 }, (_, index) => ({ group: `g${index % 8}`, value: (index % 8) % 2 }));
    const free = tied.map((sample, index) => ({ ...sample, group: `${index}` }));
    expect(width(tied)).toBeGreaterThan(1.5 * width(free));
  });

  it('has no interval of nothing, and none to speak of for one group', () => {
    expect(intervalOf([], 1)).toBeNull();
    expect(intervalOf([{ group: 'a', value: 1 }], 1)).toMatchObject({ low: 1, high: 1 });
  });

  it('draws evenly', () => {
    const random = randomNumbers(3);
    const mean = Array.from({ length: 10_000 }, random).reduce((sum, value) => sum + value, 0) / 10_000;
    expect(mean).toBeCloseTo(0.5, 1);
  });
});

describe('the readers', () => {
  it('read StateBench: facts, user turns and writes by instant, links between facts, labels by what is mentioned', () => {
    const [life] = readStateBench(stateBenchFile());
    expect(life?.entries.map(({ content }) => content)).toEqual([
      'Lives in Bergen',
      'I always want a window seat',
      'The weather was fine on Sunday',
      'From now on book me an aisle seat',
      'Remind me to water the plants',
    ]);
    expect(life?.entries[3]?.replaces).toEqual(['m001']);
    expect(life?.questions).toMatchObject([
      { current: ['m003'], stale: ['m001'], group: 'Which seat should be booked?' },
    ]);
    expect(life?.entries[1]?.at).toBe(Date.parse('2025-01-01T10:02:00Z'));
  });

  it('stretch the gaps of StateBench from the first instant of a timeline', () => {
    const [life] = readStateBench(stateBenchFile(), 720);
    expect((life?.entries[3]?.at ?? 0) - (life?.entries[0]?.at ?? 0)).toBe(30 * 720 * 60_000);
    expect((life?.questions[0]?.at ?? 0) - (life?.entries[0]?.at ?? 0)).toBe(40 * 720 * 60_000);
  });

  it('read LoCoMo: turns dated by their session, evidence as relevance, adversarial questions left out', () => {
    const file = join(temporaryFolder(), 'made.json');
    const turn = (dia_id: string, said: string) => ({ speaker: 'Ann', dia_id, text: said });
    const sessions = {
      speaker_a: 'Ann',
      session_1_date_time: '1:05 pm on 8 May, 2023',
      session_1: [turn('D1:1', 'I adopted a parrot'), turn('D1:2', 'It is green')],
      session_2_date_time: '12:30 am on 9 May, 2023',
      session_2: [turn('D2:1', 'It talks a lot')],
    };
    const qa = [
      { question: 'What did Ann adopt?', category: 1, evidence: ['D1:1; D1:2', 'D1:1'] },
      { question: 'What did Ann never say?', category: 5, evidence: ['D1:1'] },
      { question: 'What has no evidence?', category: 2, evidence: ['D'] },
    ];
    writeFileSync(file, JSON.stringify([{ sample_id: 'conv-1', conversation: sessions, qa }]));
    const [life] = readLocomo(file, 1000);
    expect(life?.entries.map(({ id, content, topic }) => [id, content, topic])).toEqual([
      ['D1:1', 'Ann: I adopted a parrot', 'event'],
      ['D1:2', 'Ann: It is green', 'event'],
      ['D2:1', 'Ann: It talks a lot', 'event'],
    ]);
    expect(life?.questions).toMatchObject([
      { id: 'conv-1.q0', current: ['D1:1', 'D1:2'], at: Date.UTC(2023, 4, 9, 0, 30) + 1000, group: 'conv-1' },
    ]);
  });

  it('read spoken dates, noon and midnight too', () => {
    expect(parseSpokenDate('12:00 pm on 1 March, 2024')).toBe(Date.UTC(2024, 2, 1, 12));
    expect(parseSpokenDate('12:01 am on 1 March, 2024')).toBe(Date.UTC(2024, 2, 1, 0, 1));
    expect(() => parseSpokenDate('yesterday')).toThrow('is no date');
  });

  it('name the sets that are absent', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'statebench'));
    const options = { sets: null, seed: 1, out: null, resume: false, memories: null, questions: null };
    const missing = plansOf({ ...options, data: folder }).map(({ name, missing: why }) => [name, why !== null]);
    expect(missing).toEqual([
      ['statebench/dev', true],
      ['locomo/tune', true],
      ['seeds', false],
    ]);
    expect(() => plansOf({ ...options, data: folder, sets: ['hidden'] })).toThrow('--sets hidden is not known');
  });
});

describe('a mode', () => {
  const [life] = readStateBench(stateBenchFile());
  const links = (mode: Mode) =>
    (life ? scriptsOf(life, mode) : []).flatMap(({ steps }) => steps.map(({ supersedes }) => supersedes)).flat();

  it('links nothing, what the data links, or what the labels say', () => {
    expect([links('ranking'), links('linked'), links('oracle')]).toEqual([[], ['m001'], ['m001']]);
  });

  it('knows the questions whose stale memories are all linked', () => {
    const [script] = life ? scriptsOf(life, 'linked') : [];
    const asked = life?.questions[0];
    if (!script || !asked) throw new Error('The made-up life has no question.');
    expect(allLinked(script, asked)).toBe(true);
    expect(allLinked(script, { ...asked, stale: ['m001', 'm002'] })).toBe(false);
    expect(allLinked(script, { ...asked, at: asked.at - 30 * 60_000 })).toBe(false);
  });

  it('closes a memory once where two replace it', () => {
    const entries = life?.entries.map((entry, index) => ({ ...entry, replaces: index > 2 ? ['m001'] : [] })) ?? [];
    const [script] = scriptsOf({ user: 'u', entries, questions: [] }, 'linked');
    expect(script?.steps.map(({ supersedes }) => supersedes.length)).toEqual([0, 0, 0, 1, 0]);
  });
});

describe('the gate on ranking quality', () => {
  /** Shares of the made-up questions with months between the changes; raise them with the ranking, never lower them. */
  const LEAST = { ranking: 5 / 6, linked: 1, oracle: 1 };

  it.each(['ranking', 'linked', 'oracle'] as const)('holds what was reached: %s', async (mode) => {
    const { answers } = await played(readStateBench(stateBenchFile(), 7200), mode);
    const above = answers.map(({ asked, ranked }) => {
      const ids = ranked.map(({ id }) => id);
      return scoresOf(ids, asked.current, asked.stale)['current above stale'] ?? 0;
    });
    const share = above.reduce((sum, value) => sum + value, 0) / above.length;
    expect(share).toBeGreaterThanOrEqual(LEAST[mode]);
  });

  it('ranks the seeds’ reversals in stores of every size they fill', () => {
    const options = { data: null, sets: ['seeds'], seed: 1, out: null, resume: false, memories: null, questions: null };
    const variants = plansOf(options).flatMap(({ plans }) =>
      plans().map(({ variant, stores }) => [variant, stores.length]),
    );
    expect(variants).toEqual([
      ['as they are', 1],
      ['2 rows', 12],
      ['10 rows', 12],
    ]);
  });

  it('fills a store of reversals up to its size', () => {
    const lives = readStateBench(stateBenchFile()).slice(0, 1);
    const filler = Array.from({ length: 20 }, (_, index) => ({
      ...(lives[0]?.entries[0] ?? never()),
      id: `x${index}`,
    }));
    expect(
      reversals(lives, 12, filler)
        .flat()
        .map(({ entries }) => entries.length),
    ).toEqual([12]);
    expect(
      reversals(lives, 2, filler)
        .flat()
        .map(({ entries }) => entries.length),
    ).toEqual([2]);
  });
});

const never = (): never => {
  throw new Error('The made-up life has no memory.');
};

describe('the offline orders', () => {
  it('rank as the store does where they use its form, and each baseline by its own idea', async () => {
    const lives = readStateBench(stateBenchFile(), 720);
    const { answers, vectors } = await played(lives, 'ranking');
    const corpus = corpusOf(lives, vectors, FAKE_MODEL, 1);
    for (const answer of answers) {
      expect(candidateOrders(answer, corpus)[REFERENCE]).toEqual(answer.ranked.map(({ id }) => id));
      expect(BASELINES['newest first']?.(answer)[0]).toBe('m004');
    }
  });
});

describe('a part and its report', () => {
  it('measures every method, finds the gates and agrees with the store', async () => {
    const vectors = createVectors(createFakeEmbedder());
    const lives = readStateBench(stateBenchFile(), 720);
    await vectors.prepare(lives);
    const plan = { set: 'statebench/made', variant: 'gaps × 720', stores: [lives], sweep: true };
    const parts = [
      await measure({ ...plan, mode: 'ranking', candidates: true }, vectors, 1, quiet),
      await measure({ ...plan, mode: 'oracle', candidates: false }, vectors, 1, quiet),
    ];
    const rows = parts.flatMap((part) => rowsOf(part, 1));
    expect(gatesOf(rows).map(({ name }) => name)).toEqual([
      'statebench/made, gaps × 720, oracle: current above stale',
      'statebench/made, gaps × 720, ranking',
    ]);
    const [ranking] = parts;
    if (!ranking) throw new Error('Nothing was measured.');
    expect(agreement(ranking, REFERENCE, OURS)).toBe(1);
    expect(Object.keys(ranking.methods)).toEqual([OURS, ...Object.keys(BASELINES)]);
    expect(gainsOf(ranking, REFERENCE, 1).every(({ gain }) => gain.n === CHANGES.length)).toBe(true);
    expect(ranking.sweep).toHaveLength(40);
  });

  it('puts the tables between the markers of the page and refuses a page without them', () => {
    expect(withTables(`above\n${BEGIN}\nold\n${END}\nbelow`, 'new')).toBe(`above\n${BEGIN}\n\nnew\n${END}\nbelow`);
    expect(() => withTables('no markers', 'new')).toThrow('lacks the markers');
  });

  it('draws a plot whose text is escaped', () => {
    const point = { x: 0.5, y: 0.2, label: 'a < b' };
    const svg = drawPlot({
      title: 'A & B',
      x: 'x',
      y: 'y',
      lines: [{ name: 'line', points: [point] }],
      marks: [point],
    });
    expect(svg).toContain('A &amp; B');
    expect(svg).toContain('a &lt; b');
    expect(svg).not.toContain('NaN');
  });
});
