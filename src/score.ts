import { type AgingTable, windowOf } from './aging.ts';
import { feedbackOf, type MemoryRow } from './memory.ts';

/** The score formula. Every part is 0…1; relevance × ageWeight × trust is the score. */

export const MS_PER_HOUR = 3_600_000;
/** Weights of the two branches. */
export const WEIGHTS = { lexical: 0.3, semantic: 0.7 } as const;
/** The BM25 score that counts as half a match. */
export const LEXICAL_K = 11;
/** Candidates taken from each branch. */
export const BRANCH_SIZE = 80;
/** Most candidates a question can have: both branches, no overlap. */
export const MOST_CANDIDATES = 2 * BRANCH_SIZE;

export interface Calibration {
  /** Cosine that counts as 0. */
  lo: number;
  /** Cosine that counts as 1. */
  hi: number;
}

export interface Parts {
  lexical: number;
  semantic: number;
  relevance: number;
  ageWeight: number;
  trust: number;
}

/** Saturates an unbounded BM25 score into 0…1. */
export const lexicalOf = (bm25: number): number => bm25 / (bm25 + LEXICAL_K);

/** Elasticsearch's form of a cosine, (1 + cos) / 2 as a 32-bit float. */
export const cosineScoreOf = (cosine: number): number => Math.fround((1 + cosine) / 2);

/** Stretches the model's useful range of cosines over 0…1; takes Elasticsearch's form. */
export const semanticOf = (cosineScore: number, { lo, hi }: Calibration): number =>
  Math.min(1, Math.max(0, (2 * cosineScore - 1 - lo) / (hi - lo)));

export const relevanceOf = (lexical: number, semantic: number): number =>
  WEIGHTS.lexical * lexical + WEIGHTS.semantic * semantic;

/** Exponential decay from 1 to the floor; 1 at age 0 and in the future, floor + (1 − floor) / 2 after one half-life. */
export function ageWeightOf(table: AgingTable, topic: string, freshAt: number, asOf: number): number {
  const { halfLifeHours, floor } = windowOf(table, topic);
  if (halfLifeHours === null) return 1;
  const hours = Math.max(0, asOf - freshAt) / MS_PER_HOUR;
  return floor + (1 - floor) * 0.5 ** (hours / halfLifeHours);
}

/** Confidence halves at most; bad feedback lowers to a fifth at most; good feedback refreshes instead of lifting. */
export const trustOf = (row: Pick<MemoryRow, 'confidence' | 'feedbackSum' | 'feedbackCount'>): number =>
  (0.5 + 0.5 * row.confidence) * (1 + 0.8 * Math.min(feedbackOf(row), 0));

export const scoreOf = (parts: Pick<Parts, 'relevance' | 'ageWeight' | 'trust'>): number =>
  parts.relevance * parts.ageWeight * parts.trust;
