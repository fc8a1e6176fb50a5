import type { AgingTable } from '../src/aging.ts';
import { PRESETS } from '../src/aging.ts';
import type { EmbeddingModel } from '../src/embedder.ts';
import { type MemoryRow, newRow, type Scope, textKeyOf } from '../src/memory.ts';
import type { AuditEntry, MemoryStore, RankQuery, Stored } from '../src/store.ts';

/** Rows, vectors and questions for tests of stores: synthetic, and the same for every driver. */

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** The instant most fixtures are recorded at. */
export const T0 = Date.UTC(2026, 0, 1);
/** The instant most questions are asked at. */
export const NOW = T0 + 10 * DAY;

export const ANA: Scope = 'user:ana';
export const BEN: Scope = 'user:ben';

export const modelOf = (dimensions: number): EmbeddingModel => ({
  name: 'synthetic',
  dimensions,
  hash: 'synthetic-1',
  lo: 0.2,
  hi: 0.8,
  nearDuplicate: 0.9,
});

/** A unit vector at this cosine to the question's, which is the first axis; `axis` chooses where the rest points. */
export function at(cosine: number, dimensions = 8, axis = 1): Float32Array {
  const vector = new Float32Array(dimensions);
  vector[0] = cosine;
  vector[axis] = Math.sqrt(1 - cosine * cosine);
  return vector;
}

export function rowOf(overrides: Partial<MemoryRow> & { id: string }): MemoryRow {
  const { id, createdAt = T0, validFrom = T0 } = overrides;
  const said = { id, scope: ANA, kind: 'episodic', topic: 'preference', title: null, content: `memory ${id}` } as const;
  const row: MemoryRow = {
    ...newRow({ ...said, tags: [] }, createdAt, validFrom),
    freshAt: overrides.validFrom ?? createdAt,
    ...overrides,
  };
  return { ...row, textKey: overrides.textKey ?? textKeyOf(row) };
}

export const closed = (
  row: MemoryRow,
  closedAt: number,
  validTo = closedAt,
  closedAs: NonNullable<MemoryRow['closedAs']> = 'retired',
): MemoryRow => ({ ...row, closedAt, validTo, closedAs });

/** No ageing, so that relevance and trust alone decide. */
export const FLAT: AgingTable = PRESETS.flat;

export function questionOf(overrides: Partial<RankQuery> = {}, dimensions = 8): RankQuery {
  return {
    text: 'question',
    vector: at(1, dimensions),
    calibration: modelOf(dimensions),
    aging: FLAT,
    limit: 200,
    includeHistory: false,
    strict: false,
    kinds: [],
    topics: [],
    tags: [],
    asOf: NOW,
    knownAt: NOW,
    ...overrides,
  };
}

export const entryOf = (overrides: Partial<AuditEntry> & { id: string; memory: string }): AuditEntry => ({
  at: T0,
  actor: 'ana',
  verb: 'remember',
  before: null,
  after: null,
  source: 'library',
  detail: null,
  ...overrides,
});

/** Writes rows of any scopes, each at its cosine to the question (0.5 unless given). */
export async function put(
  store: MemoryStore,
  rows: readonly MemoryRow[],
  cosines: readonly number[] = [],
): Promise<void> {
  const dimensions = (await store.model()).dimensions;
  for (const scope of new Set(rows.map((row) => row.scope))) {
    const insert = rows.flatMap((row, index) =>
      row.scope === scope ? [{ row, vector: at(cosines[index] ?? 0.5, dimensions) }] : [],
    );
    await store.for(scope).commit({ insert });
  }
}

/** Ids in the order of the ranking. */
export async function ranked(store: MemoryStore, query: RankQuery, scope = ANA): Promise<string[]> {
  return (await store.for(scope).rank(query)).ranked.map(({ row }) => row.id);
}

export async function read(store: MemoryStore, id: string, scope = ANA): Promise<Stored> {
  const [stored] = await store.for(scope).get([id]);
  if (!stored) throw new Error(`${id} is not in the store`);
  return stored;
}
