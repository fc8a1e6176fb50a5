import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { PRESETS } from '../../src/aging.ts';
import { type Scope, SHARED } from '../../src/memory.ts';
import type { Ranking, RankQuery } from '../../src/store.ts';
import { createEmbeddedStore } from '../../src/stores/embedded.ts';
import { startStandIn } from '../esql-stand-in.ts';
import { ANA, BEN, DAY, modelOf, NOW, rowOf, T0 } from '../store-fixtures.ts';
import { clusterOfRun, newIndex, newStore, onWhat, storeOn } from './stores.ts';

/** The same memories in both stores: a score there is a score here. No updates, since dead versions count for BM25. */

const WORDS = `seat window aisle hotel vegan flight train dog cat coffee tea Rome Paris Berlin plan meeting never always
  allergy nuts late early room quiet`.split(/\s+/);
const TOPICS = ['preference', 'plan', 'event', 'constraint', 'general'];
const SCOPES: readonly Scope[] = [ANA, BEN, SHARED];

let state = 7;
/** The same numbers in 0…1 on every run. */
const random = (): number => {
  state = (state * 1103515245 + 12345) % 2147483648;
  return state / 2147483648;
};
function pick<T>(from: readonly T[]): T {
  const picked = from[Math.floor(random() * from.length)];
  if (picked === undefined) throw new Error('nothing to pick from');
  return picked;
}
function unit(): Float32Array {
  const vector = Float32Array.from({ length: 16 }, () => random() - 0.3);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
const sentence = (length: number) => Array.from({ length }, () => pick(WORDS)).join(' ');

const memory = (_: unknown, n: number) => ({
  row: rowOf({
    id: `m${n}`,
    scope: pick(SCOPES),
    topic: pick(TOPICS),
    title: random() < 0.5 ? pick(WORDS) : null,
    content: sentence(3 + Math.floor(random() * 20)),
    tags: random() < 0.7 ? [pick(WORDS), pick(WORDS)] : [],
    confidence: Math.round(random() * 100) / 100,
    feedbackSum: Math.round(random() * 4 - 2),
    feedbackCount: 2,
    createdAt: T0 - Math.floor(random() * 400) * DAY,
  }),
  vector: unit(),
});

const question = (n: number): RankQuery => ({
  text: sentence(3),
  vector: unit(),
  calibration: { lo: 0.2, hi: 0.8 },
  aging: n % 2 ? PRESETS.default : PRESETS['single-window'],
  limit: n % 3 ? 8 : 160,
  includeHistory: n % 5 === 0,
  strict: n % 5 === 1,
  kinds: [],
  topics: n % 7 ? [] : ['plan', 'event'],
  tags: n % 11 ? [] : [pick(WORDS), pick(WORDS)],
  asOf: NOW - (n % 4) * DAY,
  knownAt: NOW,
});

function expectSame(got: Ranking, wanted: Ranking): void {
  const key = ({ row }: Ranking['ranked'][number]) => `${row.scope}|${row.id}`;
  const scores = new Map(got.ranked.map((ranked) => [key(ranked), ranked]));
  expect([...scores.keys()].sort()).toEqual(wanted.ranked.map(key).sort());
  wanted.ranked.forEach((ranked, place) => {
    const same = scores.get(key(ranked));
    for (const part of ['lexical', 'semantic', 'relevance', 'ageWeight', 'trust', 'score'] as const) {
      expect(Math.abs((same?.[part] ?? Number.NaN) - ranked[part])).toBeLessThan(0.00005);
    }
    const there = got.ranked[place];
    if (there && key(there) !== key(ranked)) expect(Math.abs(there.score - ranked.score)).toBeLessThan(0.00001);
    expect(same?.row).toEqual(ranked.row);
  });
}

describe.skipIf(inject('cluster') === null)(`1,000 memories of several users, asked 200 questions${onWhat()}`, () => {
  it('rank alike in the embedded store and on Elasticsearch, in both dialects', { timeout: 600_000 }, async () => {
    const insert = Array.from({ length: 1000 }, memory);
    const folder = await mkdtemp(join(tmpdir(), 'superseded-parity-'));
    const embedded = createEmbeddedStore({ file: join(folder, 'memories.db'), model: async () => modelOf(16) });
    const options = { index: newIndex(), embedding: modelOf(16) };
    const fuse = await newStore({ ...options, dialect: 'fuse' });
    const portable = await newStore({ ...options, dialect: 'portable' });
    // Whether KNN takes the filter beside a query with it, Elasticsearch does not say: the stand-in does either.
    const { kind, node } = clusterOfRun();
    const other = kind === 'jars' ? await startStandIn({ target: node, requestFilter: 'post' }) : null;
    const late = other && storeOn({ ...options, url: other.url });
    await embedded.setup();
    await embedded.load({ insert });
    await fuse.load({ insert });
    for (let n = 0; n < 200; n++) {
      const query = question(n);
      const wanted = await embedded.for(ANA).rank(query);
      expectSame(await fuse.for(ANA).rank(query), wanted);
      expectSame(await portable.for(ANA).rank(query), wanted);
      if (late && query.tags.length > 0) expectSame(await late.for(ANA).rank(query), wanted);
    }
    await Promise.all([embedded, fuse, portable, late].map((store) => store?.close()));
    await other?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});
