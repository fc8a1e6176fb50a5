import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { intervalOf, randomNumbers } from '../scripts/evaluate/bootstrap.ts';
import { parseSpokenDate, readLocomo, readStateBench } from '../scripts/evaluate/datasets.ts';
import { percentile, scoresOf } from '../scripts/evaluate/metrics.ts';
import { allLinked, type Mode, scriptsOf } from '../scripts/evaluate/modes.ts';
import { plansOf } from '../scripts/evaluate/plans.ts';
import { stateBenchFile } from './evaluation-fixtures.ts';
import { temporaryFolder } from './temporary.ts';

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
      session_1: [
        turn('D1:1', 'I adopted a parrot'),
        { ...turn('D1:2', 'It is green'), blip_caption: 'a bird on a shelf' },
      ],
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
    expect(readLocomo(file, 0, 'captioned')[0]?.entries[1]?.content).toBe('Ann: It is green [a bird on a shelf]');
    expect(readLocomo(file, 0, 'bare')[0]?.entries[1]?.content).toBe('It is green');
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
    const options = { sets: null, seed: 1, out: null, resume: false, json: false, memories: null, questions: null };
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
