import { windowOf } from '../aging.ts';
import { feedbackOf } from '../memory.ts';
import {
  ageWeightOf,
  BRANCH_SIZE,
  cosineScoreOf,
  lexicalOf,
  MS_PER_HOUR,
  type Parts,
  relevanceOf,
  scoreOf,
  semanticOf,
  trustOf,
} from '../score.ts';
import type { NearestQuery, RankQuery } from '../store.ts';
import type { ScopeRows } from './embedded-cache.ts';
import type { Dictionary } from './embedded-dictionary.ts';

/** Ranking over the cached rows: filter, the best of each branch, then the score of the candidates. */

interface Candidate {
  rows: ScopeRows;
  slot: number;
  value: number;
}

export interface Scored extends Parts {
  seq: number;
  revision: number;
  score: number;
}

/** Scores own and shared rows; `bm25` holds the sums of the slots of each, in the same order. */
export function rankRows(
  query: RankQuery,
  vector: Float64Array,
  scopes: readonly ScopeRows[],
  bm25: readonly Float64Array[],
): Scored[] {
  const lexical = new Best(BRANCH_SIZE);
  const semantic = new Best(BRANCH_SIZE);
  scopes.forEach((rows, index) => {
    const sums = bm25[index] as Float64Array;
    const accepts = acceptor(query, rows);
    for (let slot = 0; slot < rows.size; slot++) {
      if (!accepts(slot)) continue;
      const sum = sums[slot] as number;
      if (sum > 0) lexical.offer(rows, slot, Math.fround(sum));
      semantic.offer(rows, slot, cosineScoreOf(rows.cosine(slot, vector)));
    }
  });
  const found = new Map<ScopeRows, Map<number, { bm25: number; cosineScore: number | null }>>();
  for (const { rows, slot, value } of lexical.take()) entry(found, rows).set(slot, { bm25: value, cosineScore: null });
  for (const { rows, slot, value } of semantic.take()) {
    const bm25 = entry(found, rows).get(slot)?.bm25 ?? 0;
    entry(found, rows).set(slot, { bm25, cosineScore: value });
  }
  const scored: (Candidate & { parts: Parts })[] = [];
  for (const [rows, slots] of found) {
    for (const [slot, { bm25, cosineScore }] of slots) {
      const parts = partsOf(query, rows, slot, bm25, cosineScore);
      const value = scoreOf(parts);
      if (value > 0) scored.push({ rows, slot, value, parts });
    }
  }
  return scored
    .sort(byRank)
    .slice(0, query.limit)
    .map(({ rows, slot, value, parts }) => ({ ...parts, score: value, ...identify(rows, slot) }));
}

/** Own rows that are still held, at a cosine of at least `minCosine`. */
export function nearestRows(query: NearestQuery, vector: Float64Array, rows: ScopeRows) {
  const { createdAt, closedAt, plannedTo } = rows.columns;
  const near: { slot: number; cosine: number }[] = [];
  for (let slot = 0; slot < rows.size; slot++) {
    const open = closedAt[slot] === Number.POSITIVE_INFINITY && (plannedTo[slot] as number) > query.asOf;
    if (!rows.alive[slot] || !open || (createdAt[slot] as number) > query.knownAt) continue;
    const cosine = rows.cosine(slot, vector);
    if (cosine >= query.minCosine) near.push({ slot, cosine });
  }
  const byDistance = (a: (typeof near)[0], b: (typeof near)[0]) =>
    b.cosine - a.cosine ||
    (createdAt[b.slot] as number) - (createdAt[a.slot] as number) ||
    compareText(rows.ids[a.slot], rows.ids[b.slot]);
  return near
    .sort(byDistance)
    .slice(0, query.limit)
    .map(({ slot, cosine }) => ({ cosine, ...identify(rows, slot) }));
}

const identify = ({ columns }: ScopeRows, slot: number) => ({
  seq: columns.seq[slot] as number,
  revision: columns.revision[slot] as number,
});

function entry<K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const inner = map.get(key) ?? new Map<L, V>();
  map.set(key, inner);
  return inner;
}

function partsOf(query: RankQuery, rows: ScopeRows, slot: number, bm25: number, cosineScore: number | null): Parts {
  const { columns } = rows;
  const lexical = lexicalOf(bm25);
  const semantic = cosineScore === null ? 0 : semanticOf(cosineScore, query.calibration);
  const topic = rows.topics.words[columns.topic[slot] as number] as string;
  return {
    lexical,
    semantic,
    relevance: relevanceOf(lexical, semantic),
    ageWeight: ageWeightOf(query.aging, topic, columns.freshAt[slot] as number, query.asOf),
    trust: trustOf(trustFields(rows, slot)),
  };
}

const trustFields = ({ columns }: ScopeRows, slot: number) => ({
  confidence: columns.confidence[slot] as number,
  feedbackSum: columns.feedbackSum[slot] as number,
  feedbackCount: columns.feedbackCount[slot] as number,
});

/** The filter of a question over the columns of a scope: `holds`, or with history `statusOf` other than upcoming. */
function acceptor(query: RankQuery, rows: ScopeRows): (slot: number) => boolean {
  const { asOf, knownAt, includeHistory, strict } = query;
  const { alive, columns } = rows;
  const { createdAt, validFrom, plannedTo, validTo, closedAt, closed, freshAt } = columns;
  const kinds = chosen(rows.kinds, query.kinds);
  const topics = chosen(rows.topics, query.topics);
  const wanted = new Set(query.tags);
  const tags = mask(rows.tagLists, query.tags.length > 0, (list) =>
    (JSON.parse(list) as string[]).some((tag) => wanted.has(tag)),
  );
  const oldest = rows.topics.words.map((topic) => {
    const { halfLifeHours } = windowOf(query.aging, topic);
    return halfLifeHours === null ? Number.NEGATIVE_INFINITY : asOf - halfLifeHours * MS_PER_HOUR;
  });
  return (slot) => {
    if (!alive[slot] || (createdAt[slot] as number) > knownAt) return false;
    if (kinds && !kinds[columns.kind[slot] as number]) return false;
    if (topics && !topics[columns.topic[slot] as number]) return false;
    if (tags && !tags[columns.tags[slot] as number]) return false;
    const end = validTo[slot] as number;
    const start = validFrom[slot] as number;
    const expired = (plannedTo[slot] as number) <= asOf;
    const known = (closedAt[slot] as number) <= knownAt;
    if (includeHistory) {
      const ended = closed[slot] === 1 && known && (end <= asOf || end <= start);
      if (!ended && !expired && start > asOf) return false;
    } else if (start > asOf || expired || (known && !(end > asOf))) return false;
    if (!strict) return true;
    const { confidence, ...feedback } = trustFields(rows, slot);
    const fresh = (freshAt[slot] as number) >= (oldest[columns.topic[slot] as number] as number);
    return fresh && confidence >= 0.5 && feedbackOf(feedback) > -0.5;
  };
}

const chosen = (dictionary: Dictionary, words: readonly string[]): boolean[] | null =>
  mask(dictionary, words.length > 0, (word) => words.includes(word));

/** For each word of a dictionary whether it is wanted; null where all are. */
const mask = (dictionary: Dictionary, filtered: boolean, wanted: (word: string) => boolean): boolean[] | null =>
  filtered ? dictionary.words.map(wanted) : null;

const compareText = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

/** By value, then freshAt, both descending, then id and scope in code units. */
function byRank(a: Candidate, b: Candidate): number {
  return (
    b.value - a.value ||
    (b.rows.columns.freshAt[b.slot] as number) - (a.rows.columns.freshAt[a.slot] as number) ||
    compareText(a.rows.ids[a.slot], b.rows.ids[b.slot]) ||
    compareText(a.rows.scope, b.rows.scope)
  );
}

/** Keeps the best candidates offered. */
class Best {
  readonly #size: number;
  #kept: Candidate[] = [];
  /** Nothing below this can be among the best. */
  #least = Number.NEGATIVE_INFINITY;

  constructor(size: number) {
    this.#size = size;
  }

  offer(rows: ScopeRows, slot: number, value: number): void {
    if (value < this.#least) return;
    this.#kept.push({ rows, slot, value });
    if (this.#kept.length >= 4 * this.#size) this.#cut();
  }

  take(): Candidate[] {
    this.#cut();
    return this.#kept;
  }

  #cut(): void {
    this.#kept.sort(byRank);
    this.#kept.length = Math.min(this.#kept.length, this.#size);
    if (this.#kept.length === this.#size) this.#least = this.#kept.at(-1)?.value ?? this.#least;
  }
}
