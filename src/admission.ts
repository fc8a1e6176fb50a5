import { DEFAULT_AGING } from './aging.ts';
import type { MemoryRow } from './memory.ts';
import { ageWeightOf } from './score.ts';

/** An optional gate against noise: how much a new memory deserves to be kept, as the mean of five parts, each 0…1. */

export interface Admission {
  score: number;
  parts: { utility: number; confidence: number; novelty: number; recency: number; type: number };
}

const UTILITY: Readonly<Record<string, number>> = {
  constraint: 1,
  preference: 1,
  opinion: 0.8,
  plan: 0.8,
  fact: 0.7,
  event: 0.5,
};

/** How likely a later answer depends on it, by topic. */
export const utilityOf = ({ topic }: Pick<MemoryRow, 'topic'>): number => UTILITY[topic] ?? 0.5;

/** 1 where nothing alike is known, 0 where the nearest open memory says the same. */
export const noveltyOf = (nearest: number): number => 1 - Math.min(1, Math.max(0, (nearest - 0.8) / 0.2));

/** How much of it is left by now under the default windows. */
export const recencyOf = ({ topic, validFrom }: Pick<MemoryRow, 'topic' | 'validFrom'>, now: number): number =>
  ageWeightOf(DEFAULT_AGING, topic, validFrom, now);

/** Settled facts and know-how outlast single episodes. */
export const typeOf = ({ kind }: Pick<MemoryRow, 'kind'>): number =>
  kind === 'procedural' ? 1 : kind === 'semantic' ? 0.8 : 0.6;

export function admissionOf(row: MemoryRow, nearest: number, now: number): Admission {
  const parts = {
    utility: utilityOf(row),
    confidence: row.confidence,
    novelty: noveltyOf(nearest),
    recency: recencyOf(row, now),
    type: typeOf(row),
  };
  return { score: Object.values(parts).reduce((sum, part) => sum + part, 0) / 5, parts };
}
