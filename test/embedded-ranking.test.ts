import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_AGING } from '../src/aging.ts';
import { KINDS, type MemoryRow, type Scope, SHARED } from '../src/memory.ts';
import type { MemoryStore, RankQuery } from '../src/store.ts';
import { createEmbeddedStore } from '../src/stores/embedded.ts';
import { ANA, BEN, DAY, FLAT, modelOf, questionOf, rowOf, T0 } from './store-fixtures.ts';
import { type Held, referenceRanking } from './store-reference.ts';

const folder = mkdtempSync(join(tmpdir(), 'superseded-ranking-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const openStore = (file = join(folder, `${files++}.db`), dimensions = 8) =>
  createEmbeddedStore({ file, model: async () => modelOf(dimensions) });

const SCOPES: Scope[] = [ANA, BEN, SHARED];
const scope = fc.constantFrom<Scope[]>(ANA, ANA, BEN, SHARED);
const instant = fc.integer({ min: 0, max: 8 }).map((days) => T0 + days * DAY);
const words = (max: number) =>
  fc
    .array(fc.constantFrom('knee', 'tram', 'museum', 'late', 'the', 'the'), { maxLength: max })
    .map((list) => list.join(' '));
const vector = fc
  .array(fc.integer({ min: -2, max: 3 }), { minLength: 8, maxLength: 8 })
  .map((list) => (list.every((value) => value === 0) ? [1, ...list.slice(1)] : list))
  .map((list) => Float32Array.from(list, (value) => value / Math.hypot(...list)));

/** A row and its vector; ids are given when it is inserted. */
const held = fc.record({
  vector,
  row: fc.record({
    kind: fc.constantFrom(...KINDS),
    topic: fc.constantFrom('preference', 'plan', 'constraint', 'lodging'),
    title: fc.option(words(2)),
    content: words(12).map((text) => `x ${text}`),
    tags: fc.array(fc.constantFrom('knee', 'late show', 'T'), { maxLength: 2 }),
    createdAt: instant,
    validFrom: instant,
    plannedTo: fc.option(instant, { freq: 4 }),
    freshAt: instant,
    confidence: fc.constantFrom(1, 0.5, 0.3, 0.1 + 0.2),
    feedbackSum: fc.constantFrom(0, -1, 0.7, -2),
    feedbackCount: fc.constantFrom(0, 1, 3),
  }),
});
const closing = fc.record({
  closedAt: instant,
  validTo: instant,
  closedAs: fc.constantFrom('superseded' as const, 'retired' as const, 'denied' as const),
  confidence: fc.constantFrom(1, 0.2),
});
const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('insert' as const),
      scope,
      rows: fc.array(held, { minLength: 1, maxLength: 12 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('copies' as const),
      scope,
      one: held,
      count: fc.integer({ min: 70, max: 100 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('close' as const), pick: fc.nat(), closing }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('erase' as const), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rank' as const) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

const query: fc.Arbitrary<RankQuery> = fc
  .record({
    text: words(5),
    vector,
    asOf: instant,
    knownAt: instant,
    includeHistory: fc.boolean(),
    strict: fc.boolean(),
    limit: fc.constantFrom(3, 200),
    aging: fc.constantFrom(DEFAULT_AGING, FLAT),
    kinds: fc.constantFrom([], [], ['episodic' as const]),
    topics: fc.constantFrom([], [], ['plan', 'lodging']),
    tags: fc.constantFrom([], [], [], ['knee', 'nothing'], ['late']),
  })
  .map((fields) => questionOf({ ...fields, strict: fields.strict && !fields.includeHistory }));

/** Does the command to the store and to a plain list. */
async function run(store: MemoryStore, all: Held[], command: Command, number: number): Promise<void> {
  if (command.do === 'rank') {
    await store.for(ANA).rank(questionOf({ text: 'knee tram' }));
  } else if (command.do === 'insert' || command.do === 'copies') {
    const rows = command.do === 'insert' ? command.rows : Array.from({ length: command.count }, () => command.one);
    const insert = rows.map(({ row, vector }, n) => ({
      vector,
      row: rowOf({ ...row, scope: command.scope, id: `m${(n * 7) % 10}-${number}-${n}` }),
    }));
    await store.for(command.scope).commit({ insert });
    all.push(...insert);
  } else {
    const index = all.length === 0 ? -1 : command.pick % all.length;
    const target = all[index];
    if (!target) return;
    const handle = store.for(target.row.scope);
    const stored = (await handle.get([target.row.id])).find(({ row }) => row.scope === target.row.scope);
    if (!stored) throw new Error('a row is missing');
    if (command.do === 'erase') {
      await handle.commit({ erase: [{ ...stored, at: T0 }] });
      all.splice(index, 1);
    } else {
      const row: MemoryRow = { ...target.row, ...command.closing };
      await handle.commit({ update: [{ row, version: stored.version }] });
      all[index] = { ...target, row };
    }
  }
}

describe('the ranking of the embedded store', () => {
  it('equals the ranking recomputed from all rows, after any writes, by this process or another', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { maxLength: 12 }),
        fc.array(query, { minLength: 1, maxLength: 6 }),
        async (commands, queries) => {
          const file = join(folder, `${files++}.db`);
          const [store, other] = [openStore(file), openStore(file)];
          const all: Held[] = [];
          for (const [number, command] of commands.entries())
            await run(number % 2 ? store : other, all, command, number);
          for (const query of queries) {
            for (const scope of SCOPES) {
              expect((await store.for(scope).rank(query)).ranked).toEqual(referenceRanking(all, scope, query));
            }
          }
          await Promise.all([store.close(), other.close()]);
        },
      ),
      { numRuns: 20 },
    );
  }, 60_000);

  it('equals it too for a scope of several pages, before and after most of it is erased', async () => {
    const store = openStore();
    const all: Held[] = Array.from({ length: 2600 }, (_, n) => {
      const angle = ((n * 37) % 997) / 300;
      const vector = Float32Array.of(Math.cos(angle), Math.sin(angle), 0, 0, 0, 0, 0, 0);
      return {
        vector,
        row: rowOf({
          id: `m${n}`,
          content: `w${n % 13} w${n % 101} w${n}`,
          freshAt: T0 + n,
          scope: n % 50 ? ANA : BEN,
        }),
      };
    });
    await store.load({ insert: all });
    const query = questionOf({ text: 'w7 w55 w1003', aging: DEFAULT_AGING });
    expect((await store.for(ANA).rank(query)).ranked).toEqual(referenceRanking(all, ANA, query));
    const gone = all.filter(({ row }, n) => n % 3 && row.scope === ANA).map(({ row }) => row.id);
    const erase = (await store.for(ANA).get(gone)).map((stored) => ({ ...stored, at: T0 }));
    await store.for(ANA).commit({ erase });
    const left = all.filter(({ row }) => !gone.includes(row.id));
    expect((await store.for(ANA).rank(query)).ranked).toEqual(referenceRanking(left, ANA, query));
    expect((await store.for(ANA).rank(query)).ranked).toEqual(referenceRanking(left, ANA, query));
    await store.close();
  }, 30_000);

  it('sums vectors of any number of dimensions', async () => {
    for (const dimensions of [1, 3, 8, 13, 384]) {
      const store = openStore(undefined, dimensions);
      const vector = new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions));
      await store.for(ANA).commit({ insert: [{ row: rowOf({ id: 'a' }), vector }] });
      const near = await store.for(ANA).nearest({ ...questionOf({}, dimensions), vector, minCosine: 0.5 });
      expect(near[0]?.cosine).toBeCloseTo(1, 6);
      await store.close();
    }
  });
});
