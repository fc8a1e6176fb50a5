import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BASELINES, OURS } from '../scripts/evaluate/baselines.ts';
import { candidateOrders, corpusOf, REFERENCE } from '../scripts/evaluate/candidates.ts';
import { type Life, readStateBench } from '../scripts/evaluate/datasets.ts';
import { gatesOf } from '../scripts/evaluate/gates.ts';
import { scoresOf } from '../scripts/evaluate/metrics.ts';
import { type Mode, scriptsOf } from '../scripts/evaluate/modes.ts';
import { measure } from '../scripts/evaluate/part.ts';
import { plansOf, reversals } from '../scripts/evaluate/plans.ts';
import { type Answer, openService, play } from '../scripts/evaluate/play.ts';
import { drawPlot } from '../scripts/evaluate/plots.ts';
import { BEGIN, END, withTables } from '../scripts/evaluate/report.ts';
import { agreement, gainsOf, rowsOf } from '../scripts/evaluate/summary.ts';
import { createVectors, type Vectors } from '../scripts/evaluate/vectors.ts';
import { CHANGES, stateBenchFile } from './evaluation-fixtures.ts';
import { createFakeEmbedder, FAKE_MODEL } from './fake-embedder.ts';
import { temporaryFolder } from './temporary.ts';

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

describe('the gate on ranking quality', () => {
  /** Shares of the made-up questions with months between the changes; raise them with the ranking, never lower them. */
  const LEAST = { ranking: 5 / 6, linked: 1, oracle: 1 };

  const shareOf = (answers: readonly Answer[], order: (answer: Answer) => string[]): number => {
    const above = answers.map((answer) => {
      const { current, stale } = answer.asked;
      return scoresOf(order(answer), current, stale)['current above stale'] ?? 0;
    });
    return above.reduce((sum, value) => sum + value, 0) / above.length;
  };

  it.each(['ranking', 'linked', 'oracle'] as const)('holds what was reached: %s', async (mode) => {
    const { answers } = await played(readStateBench(stateBenchFile(), 7200), mode);
    expect(shareOf(answers, ({ ranked }) => ranked.map(({ id }) => id))).toBeGreaterThanOrEqual(LEAST[mode]);
  });

  it('owes the unlinked reversals to ageing: without it most are lost', async () => {
    const { answers } = await played(readStateBench(stateBenchFile(), 7200), 'ranking');
    const flat = BASELINES['no ageing'];
    if (!flat) throw new Error('There is no baseline without ageing.');
    expect(shareOf(answers, flat)).toBeLessThanOrEqual(0.5);
  });

  it('ranks the seeds’ reversals in stores of every size they fill', () => {
    const options = {
      ...{ data: null, sets: ['seeds'], seed: 1, out: null, resume: false, json: false },
      ...{ memories: null, questions: null },
    };
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
