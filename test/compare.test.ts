import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Compared } from '../src/commands/compare-report.ts';
import type { ComparedQuestion } from '../src/comparison.ts';
import type { SeedMemory } from '../src/seeds.ts';
import { ROOT, runCli } from './run-cli.ts';
import { temporaryFolder } from './temporary.ts';

/** The main job on the shipped seeds, with the real model and a real store. */

const NOW = ['--now', '2026-03-01T09:00:00Z'];
const seeds: SeedMemory[] = JSON.parse(readFileSync(join(ROOT, 'seeds', 'memories.json'), 'utf8'));
const own = new Set(seeds.filter(({ scope }) => scope === 'user:demo').map(({ id }) => id));
let compared: Compared;

const questionsOf = (preset: string): ComparedQuestion[] =>
  compared.presets.find(({ name }) => name === preset)?.questions ?? [];
const reversals = (preset: string) => questionsOf(preset).filter(({ stale }) => stale !== null);
const firstPhrasings = (preset: string) => reversals(preset).filter(({ id }) => id.endsWith('-1'));
const rankOf = (place: ComparedQuestion['current']): number => [place].flat()[0]?.rank ?? Number.POSITIVE_INFINITY;
const isCurrentAhead = ({ current, stale }: ComparedQuestion) =>
  rankOf(current) < (stale?.rank ?? Number.POSITIVE_INFINITY);

beforeAll(async () => {
  const { code, stdout, stderr } = await runCli(['compare', '--json', ...NOW]);
  expect(`${code} ${stderr}`).toBe('0 ');
  compared = JSON.parse(stdout);
}, 120_000);

describe('the seeds', () => {
  it('hold 20 landmarks that all share and 15 dated episodes of one traveller, and no field that links two', () => {
    expect(
      seeds.filter(({ scope, kind, topic }) => scope === 'shared' && kind === 'semantic' && topic === 'landmark'),
    ).toHaveLength(20);
    const episodes = seeds.filter(({ scope, kind }) => scope === 'user:demo' && kind === 'episodic');
    expect(episodes).toHaveLength(15);
    expect(Math.min(...episodes.map(({ ageDays }) => ageDays))).toBe(3);
    expect(Math.max(...episodes.map(({ ageDays }) => ageDays))).toBe(330);
    for (const seed of seeds) {
      expect(
        Object.keys(seed).filter(
          (key) => !['id', 'title', 'content', 'tags', 'kind', 'topic', 'scope', 'ageDays'].includes(key),
        ),
      ).toEqual([]);
      for (const other of seeds) if (other.id !== seed.id) expect(seed.content).not.toContain(other.id);
    }
  });
});

describe('the comparison', () => {
  it('prefers the stale memory in 4 of 4 first phrasings without ageing', () => {
    expect(firstPhrasings('flat')).toHaveLength(4);
    expect(firstPhrasings('flat').filter(isCurrentAhead)).toEqual([]);
  });

  it.each(['single-window', 'default'])('has the current memory ahead in 12 of 12 phrasings under %s', (preset) => {
    expect(reversals(preset)).toHaveLength(12);
    expect(reversals(preset).filter((question) => !isCurrentAhead(question))).toEqual([]);
  });

  it('has the current one first of the traveller’s memories in at least 10 of 12 phrasings under default', () => {
    const first = reversals('default').filter(({ hits, current }) => {
      const [best] = hits.filter(({ id }) => own.has(id));
      return best?.id === [current].flat()[0]?.id;
    });
    expect(first.length).toBeGreaterThanOrEqual(10);
  });

  it.each(['flat', 'single-window', 'default'])(
    'keeps the trip context first for its own question under %s',
    (preset) => {
      const trip = questionsOf(preset).find(({ id }) => id === 'trip');
      expect(rankOf(trip?.current ?? [])).toBe(1);
    },
  );

  it('finds all four current memories for a free day in eight hits, and not in five', async () => {
    const free = questionsOf('default').find(({ id }) => id === 'free-day');
    const wanted = [free?.current ?? []].flat().map(({ id }) => id);
    const found = free?.hits.map(({ id }) => id) ?? [];
    expect(wanted).toHaveLength(4);
    expect(wanted.filter((id) => !found.includes(id))).toEqual([]);
    expect(wanted.filter((id) => !found.slice(0, 5).includes(id))).not.toEqual([]);
  });

  it('scores a 45-day-old memory at exactly half under a 1080-hour window', () => {
    const id = [firstPhrasings('flat')[0]?.current ?? []].flat()[0]?.id;
    const score = (preset: string) => firstPhrasings(preset)[0]?.hits.find((hit) => hit.id === id);
    expect(score('flat')?.ageDays).toBe(45);
    expect((score('single-window')?.score ?? 0) / (score('flat')?.score ?? 1)).toBe(0.5);
  });

  it('counts what it shows', () => {
    for (const { name, total, currentAboveStale } of compared.presets) {
      expect(total).toBe(12);
      expect(currentAboveStale).toBe(reversals(name).filter(isCurrentAhead).length);
    }
  });

  it('gives the scores on record, whatever the runtime, to 0.00005', () => {
    const file = join(ROOT, 'test', 'golden', 'compare.json');
    const scores = compared.presets.flatMap(({ name, questions }) =>
      questions.flatMap(({ id, hits }) => hits.map((hit) => ({ at: `${name} ${id} ${hit.id}`, score: hit.score }))),
    );
    if (process.env.UPDATE_GOLDEN) writeFileSync(file, `${JSON.stringify(scores, null, 1)}\n`);
    const recorded: typeof scores = JSON.parse(readFileSync(file, 'utf8'));
    expect(scores.map(({ at }) => at)).toEqual(recorded.map(({ at }) => at));
    for (const [index, { score }] of scores.entries()) {
      expect(Math.abs(score - (recorded[index]?.score ?? 0))).toBeLessThan(0.00005);
    }
  });

  it('prints the same twice, in at most 100 columns', async () => {
    const first = await runCli(['compare', ...NOW]);
    const second = await runCli(['compare', ...NOW]);
    expect(second.stdout).toBe(first.stdout);
    for (const line of first.stdout.split('\n')) expect([...line].length).toBeLessThanOrEqual(100);
  });

  it('edits and deletes nothing', async () => {
    const db = ['--db', join(temporaryFolder(), 'a.db')];
    await runCli(['seed', ...db, ...NOW]);
    const state = async () => {
      const exported = await runCli(['export', ...db, ...NOW]);
      const audited = await runCli(['audit', '--limit', '100', '--json', ...db, ...NOW]);
      return exported.stdout + audited.stdout;
    };
    const before = await state();
    await runCli(['compare', ...db, ...NOW]);
    expect(await state()).toBe(before);
    expect(before.trim().split('\n').length).toBeGreaterThan(15);
  });

  it('takes memories and questions of another kind, presets and a limit', async () => {
    const folder = temporaryFolder();
    const memory = (id: string, content: string, ageDays: number) => ({
      id,
      content,
      kind: 'semantic',
      topic: 'preference',
      scope: 'user:eve',
      ageDays,
    });
    writeFileSync(
      join(folder, 'm.json'),
      JSON.stringify([memory('tea', 'Eve drinks tea', 200), memory('coffee', 'Eve drinks coffee', 2)]),
    );
    const asked = {
      id: 'drink',
      question: 'What does Eve drink?',
      current: ['coffee'],
      stale: 'tea',
      scope: 'user:eve',
    };
    writeFileSync(join(folder, 'q.json'), JSON.stringify([asked]));
    const files = ['--memories', join(folder, 'm.json'), '--questions', join(folder, 'q.json')];
    const { stdout } = await runCli(['compare', ...files, '--preset', 'default', '--limit', '1', '--json', ...NOW]);
    const { presets } = JSON.parse(stdout) as Compared;
    expect(presets).toMatchObject([{ name: 'default', total: 1, currentFirst: 1, currentAboveStale: 1 }]);
    expect(presets[0]?.questions[0]).toMatchObject({
      hits: [{ id: 'coffee', rank: 1 }],
      current: [{ id: 'coffee' }],
      stale: { id: 'tea', rank: 2 },
    });
  });
});
