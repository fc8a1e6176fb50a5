import { PRESETS } from '../src/aging.ts';
import type { Embedder, EmbeddingModel } from '../src/embedder.ts';
import type { MemoryRow } from '../src/memory.ts';
import { seedRow } from '../src/seeds.ts';
import type { RankQuery } from '../src/store.ts';
import { questionOf as anyQuestion } from '../test/store-fixtures.ts';

/** What the benchmarks store and ask: synthetic, and the same on every run. */

export const MODEL: EmbeddingModel = {
  name: 'synthetic',
  dimensions: 384,
  hash: null,
  lo: 0,
  hi: 1,
  nearDuplicate: 0.99,
};
export const NOW = Date.parse('2026-03-01T09:00:00Z');
const TOPICS = ['preference', 'plan', 'event', 'fact', 'constraint', 'lodging'];

/** Repeatable numbers (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomOf(7);
/** A word of a vocabulary of 20,000, the first ones far more often than the last. */
const word = (): string => `w${Math.floor(20_000 ** random())}`;
export const sentence = (words: number): string => Array.from({ length: words }, word).join(' ');

export function unitVector(): Float32Array {
  const vector = Float32Array.from({ length: MODEL.dimensions }, () => random() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((component) => component / length);
}

export const embedder: Embedder = {
  model: async () => MODEL,
  embedQuery: async () => unitVector(),
  embedPassages: async (texts) => texts.map(unitVector),
  forget: async () => {},
  close: async () => {},
};

export const rowOf = (index: number, users: number): MemoryRow =>
  seedRow(
    {
      id: `m${index}`,
      title: null,
      content: sentence(35),
      tags: [],
      kind: 'episodic',
      topic: TOPICS[index % TOPICS.length] ?? 'fact',
      scope: `user:u${index % users}`,
      ageDays: 1 + (index % 700),
    },
    NOW,
  );

export interface Times {
  p50: number;
  p95: number;
}

export async function timesOf(count: number, run: (index: number) => Promise<unknown>): Promise<Times> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const start = performance.now();
    await run(index);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round((times[Math.floor(share * (times.length - 1))] ?? 0) * 100) / 100;
  return { p50: at(0.5), p95: at(0.95) };
}

export const megabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

export const questionOf = (more: Partial<RankQuery> = {}): RankQuery =>
  anyQuestion({
    text: sentence(6),
    vector: unitVector(),
    calibration: { lo: 0, hi: 1 },
    aging: PRESETS.default,
    limit: 8,
    asOf: NOW,
    knownAt: NOW,
    ...more,
  });
