import type { Row } from '@libsql/client/sqlite3';
import { tokenize } from '../analyzer.ts';
import { countTerms } from '../bm25.ts';
import { SupersededError } from '../errors.ts';
import type { MemoryRow, Scope } from '../memory.ts';
import type { NearestQuery, Ranking, RankQuery } from '../store.ts';
import { type Database, numberOf } from './embedded-database.ts';
import { linkedStatement, rowsStatement } from './embedded-lookups.ts';
import { Statistics } from './embedded-postings.ts';
import { nearestRows, rankRows, type Scored } from './embedded-ranking.ts';
import { readRow } from './embedded-rows.ts';
import type { ScopeCache } from './embedded-sync.ts';

/** Ranking and nearness: score over the cached columns, then read the rows that won. */

export interface Searchable {
  database: Database;
  cache: ScopeCache;
  dimensions: number;
  /** Runs work on the cache one after the other. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** How often rows may change between being scored and being read before a search gives up. */
const ATTEMPTS = 20;

/** Scores and rows of one state: where a row changed after it was scored, everything is scored again. */
export async function rank(store: Searchable, scopes: readonly Scope[], query: RankQuery): Promise<Ranking> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const scored = await score(store, scopes, query);
    query.signal?.throwIfAborted();
    const seqs = scored.map(({ seq }) => seq);
    const [rows, linked] = await store.database.read([rowsStatement(seqs), linkedStatement(seqs)]);
    const ranked = withRows(scored, rows?.rows);
    if (ranked) return { ranked, linked: (linked?.rows ?? []).map(readRow) };
  }
  throw changing();
}

export async function nearest(store: Searchable, scope: Scope, query: NearestQuery) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const near = await findNear(store, scope, query);
    query.signal?.throwIfAborted();
    const [rows] = await store.database.read([rowsStatement(near.map(({ seq }) => seq))]);
    const found = withRows(near, rows?.rows);
    if (found) return found;
  }
  throw changing();
}

/** Puts the rows in the place of their numbers; null where one is not as it was scored. */
function withRows<T extends { seq: number; revision: number }>(
  found: readonly T[],
  rows: readonly Row[] = [],
): (Omit<T, 'seq' | 'revision'> & { row: MemoryRow })[] | null {
  const bySeq = new Map(rows.map((row) => [numberOf(row, 'seq'), row]));
  const whole = [];
  for (const { seq, revision, ...parts } of found) {
    const row = bySeq.get(seq);
    if (!row || numberOf(row, 'revision') !== revision) return null;
    whole.push({ row: readRow(row), ...parts });
  }
  return whole;
}

const changing = (): SupersededError =>
  new SupersededError('STORE_UNAVAILABLE', 'The memories changed faster than they could be read.', {
    hint: 'Try again.',
  });

function score(
  { inTurn, database, cache, dimensions }: Searchable,
  scopes: readonly Scope[],
  query: RankQuery,
): Promise<Scored[]> {
  const vector = checked(query.vector, dimensions);
  const terms = countTerms(tokenize(query.text));
  const words = [...terms.keys()];
  return inTurn(async () => {
    const { rows, answers } = await cache.sync(
      database,
      scopes,
      (rows) => [...Statistics.statements(words), ...rows.map(({ postings }) => postings.changes(words))],
      query.signal,
    );
    const statistics = new Statistics(answers[0], answers[1]);
    const bm25 = rows.map(({ postings }, index) => {
      postings.apply(answers[2 + index]);
      const sums = postings.scores(terms, statistics);
      postings.evict();
      return sums;
    });
    return rankRows(query, vector, rows, bm25);
  });
}

function findNear({ inTurn, database, cache, dimensions }: Searchable, scope: Scope, query: NearestQuery) {
  const vector = checked(query.vector, dimensions);
  return inTurn(async () => {
    const { rows } = await cache.sync(database, [scope], () => [], query.signal);
    return rows.flatMap((own) => nearestRows(query, vector, own));
  });
}

function checked(vector: Float32Array | null, dimensions: number): Float64Array {
  if (vector?.length === dimensions) return Float64Array.from(vector);
  const got = vector ? `${vector.length} dimensions` : 'no vector';
  throw new SupersededError('MODEL_MISMATCH', `The question has ${got}; the store holds ${dimensions}.`);
}
