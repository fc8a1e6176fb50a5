import { heardOf, isoOrNull } from '../memory.ts';
import type { Backend } from './elasticsearch-backend.ts';
import { type BulkItem, bulk } from './elasticsearch-bulk.ts';
import { rowOf, watchedFrom } from './elasticsearch-document.ts';
import { isConflict, refusal } from './elasticsearch-errors.ts';
import { pages, type Query } from './elasticsearch-search.ts';

/** What an index of an older schema lacks, worked out from what it has; safe to repeat. */

const WHAT = 'bring the memories to the new schema';
const ROWS = 500;

/** Schema 2: when a person spoke of each memory, and since when it was watched. */
export async function backfill(backend: Backend): Promise<void> {
  const lacking: Query = {
    bool: { filter: { exists: { field: 'created_at' } }, must_not: { exists: { field: 'heard_at' } } },
  };
  let items: BulkItem[] = [];
  for await (const { _id: id, _source } of pages(backend, backend.index, lacking, ['created_at', 'id', 'scope'])) {
    const row = rowOf(_source);
    const fields = { heard_at: isoOrNull(heardOf(row)), watched_from: isoOrNull(watchedFrom(row)) };
    items.push({ action: 'update', index: backend.index, id, fields });
    if (items.length < ROWS) continue;
    await write(backend, items);
    items = [];
  }
  await write(backend, items);
}

async function write(backend: Backend, items: readonly BulkItem[]): Promise<void> {
  const outcomes = await bulk(backend, items, { what: WHAT, refresh: backend.refresh });
  for (const { failure } of outcomes) {
    // Erased in the meantime, or written by this version, which leaves nothing to bring over.
    if (failure && failure.status !== 404 && !isConflict(failure)) throw refusal(WHAT, failure);
  }
}
