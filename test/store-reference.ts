import { windowOf } from '../src/aging.ts';
import { tokenize } from '../src/analyzer.ts';
import { countTerms, FIELDS, indexRow, lengthFactors, postingScore, termWeight } from '../src/bm25.ts';
import { feedbackOf, holds, type MemoryRow, type Scope, SHARED, statusOf } from '../src/memory.ts';
import {
  ageWeightOf,
  BRANCH_SIZE,
  cosineScoreOf,
  lexicalOf,
  MS_PER_HOUR,
  relevanceOf,
  scoreOf,
  semanticOf,
  trustOf,
} from '../src/score.ts';
import type { Ranked, RankQuery } from '../src/store.ts';

/** The ranking as the design writes it: over plain rows, without any index or cache. */

export interface Held {
  row: MemoryRow;
  vector: Float32Array;
}

export function referenceRanking(all: readonly Held[], scope: Scope, query: RankQuery): Ranked[] {
  const bm25 = bm25Of(all, query.text);
  const candidates = all
    .filter(({ row }) => (row.scope === scope || row.scope === SHARED) && accepts(query, row))
    .map(({ row, vector }) => ({
      row,
      bm25: bm25.get(row) ?? 0,
      cosineScore: cosineScoreOf(dot(vector, query.vector)),
    }));
  const lexical = best(
    candidates.filter((one) => one.bm25 > 0),
    (one) => one.bm25,
  );
  const semantic = best(candidates, (one) => one.cosineScore);
  const ranked = candidates.map((one): Ranked => {
    const parts = {
      lexical: lexical.has(one.row) ? lexicalOf(one.bm25) : 0,
      semantic: semantic.has(one.row) ? semanticOf(one.cosineScore, query.calibration) : 0,
      ageWeight: ageWeightOf(query.aging, one.row.topic, one.row.freshAt, query.asOf),
      trust: trustOf(one.row),
    };
    const relevance = relevanceOf(parts.lexical, parts.semantic);
    return { row: one.row, ...parts, relevance, score: scoreOf({ ...parts, relevance }) };
  });
  return ranked
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || byTime(a.row, b.row))
    .slice(0, query.limit);
}

function accepts(query: RankQuery, row: MemoryRow): boolean {
  const recorded = row.createdAt <= query.knownAt;
  const held = query.includeHistory ? recorded && statusOf(row, query) !== 'upcoming' : holds(row, query);
  const { halfLifeHours } = windowOf(query.aging, row.topic);
  const fresh = halfLifeHours === null || query.asOf - row.freshAt <= halfLifeHours * MS_PER_HOUR;
  const sure = statusOf(row, query) === 'open' && row.confidence >= 0.5 && feedbackOf(row) > -0.5 && fresh;
  const any = <T>(wanted: readonly T[], has: (one: T) => boolean) => wanted.length === 0 || wanted.some(has);
  return (
    held &&
    (!query.strict || sure) &&
    any(query.kinds, (kind) => kind === row.kind) &&
    any(query.topics, (topic) => topic === row.topic) &&
    any(query.tags, (tag) => row.tags.includes(tag))
  );
}

function best<T extends { row: MemoryRow }>(candidates: T[], value: (one: T) => number): Set<MemoryRow> {
  const sorted = [...candidates].sort((a, b) => value(b) - value(a) || byTime(a.row, b.row));
  return new Set(sorted.slice(0, BRANCH_SIZE).map(({ row }) => row));
}

const byTime = (a: MemoryRow, b: MemoryRow): number =>
  b.freshAt - a.freshAt || compare(a.id, b.id) || compare(a.scope, b.scope);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const dot = (a: Float32Array, b: Float32Array | null): number =>
  a.reduce((sum, value, index) => sum + value * (b?.[index] ?? 0), 0);

function bm25Of(all: readonly Held[], text: string): Map<MemoryRow, number> {
  const indexed = all.map(({ row }) => ({ row, ...indexRow(row) }));
  const sums = new Map<MemoryRow, number>();
  const statistics = FIELDS.map((_, field) => {
    const lengths = indexed.map(({ lengths }) => lengths[field] ?? 0);
    return {
      documents: lengths.filter((length) => length > 0).length,
      tokens: lengths.reduce((sum, length) => sum + length, 0),
    };
  });
  for (const [term, repeats] of countTerms(tokenize(text))) {
    for (const [field, counts] of statistics.entries()) {
      const found = indexed.flatMap(({ row, postings }) =>
        postings
          .filter((posting) => posting.term === term && posting.field === field)
          .map((posting) => ({ row, posting })),
      );
      const weight = termWeight(repeats, counts.documents, found.length);
      const factors = lengthFactors(counts);
      for (const { row, posting } of found) {
        sums.set(row, (sums.get(row) ?? 0) + postingScore(weight, posting.tf, factors[posting.norm] as number));
      }
    }
  }
  return new Map([...sums].map(([row, sum]) => [row, Math.fround(sum)]));
}
