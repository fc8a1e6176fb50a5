import type { estypes } from '@elastic/elasticsearch';
import type { MemoryRow, Scope } from '../memory.ts';
import type { Filter, NearestQuery, Stored } from '../store.ts';
import type { Backend } from './elasticsearch-backend.ts';
import { any, claimedQuery, filterQuery, isLinking, isOpen, matches, openQuery } from './elasticsearch-filters.ts';
import { resolve } from './elasticsearch-rows.ts';
import { search } from './elasticsearch-search.ts';

/** Own rows by filter and by nearness. */

const PAGE = 1000;

/**
 * Newest first. Pages on where rows of undecided commits were left out, so that a short answer means the end. A search
 * sees the last refresh; by link or text key, so that it sees what a look-up by id does, one is made first, and rows
 * that a decided commit is changing are looked at as well.
 */
export async function findRows(backend: Backend, scope: Scope, filter: Filter): Promise<Stored[]> {
  const linking = isLinking(filter);
  const query = linking ? any(filterQuery(scope, filter), claimedQuery(scope)) : filterQuery(scope, filter);
  if (linking) {
    await backend.elastic.call('refresh the memories', (client, call) =>
      client.indices.refresh({ index: backend.index }, call),
    );
  }
  const rows: Stored[] = [];
  let after: estypes.SortResults | undefined = filter.after && [filter.after.createdAt, filter.after.id];
  while (rows.length < filter.limit) {
    const size = Math.min(PAGE, filter.limit - rows.length);
    const hits = await search(backend, 'look up memories', {
      index: backend.index,
      query,
      sort: [{ created_at: 'desc' }, { id: 'desc' }],
      size,
      ...(after ? { search_after: after } : {}),
    });
    const seen = await resolve(backend, hits);
    const byDocument = new Map(seen.found.map((found) => [found.document, found]));
    for (const { _id } of hits) {
      const found = byDocument.get(_id);
      if (found && matches(found.row, filter)) rows.push({ row: found.row, version: found.version });
    }
    after = hits.at(-1)?.sort;
    if (hits.length < size || after === undefined) break;
  }
  return rows;
}

/** Rows that another commit may close or hide while they are read are asked for beyond the limit. */
const SPARE = 20;
/** Scores are float32: a cosine computed from one may miss the true one by so much. */
const TOLERANCE = 1e-6;

export async function nearestRows(
  backend: Backend,
  scope: Scope,
  inferenceId: string | null,
  query: NearestQuery,
): Promise<{ row: MemoryRow; cosine: number }[]> {
  const size = query.limit + SPARE;
  const knn = {
    ...(inferenceId === null
      ? { field: 'vector', query_vector: Array.from(query.vector ?? []) }
      : {
          field: 'passage',
          query_vector_builder: { text_embedding: { model_id: inferenceId, model_text: query.text } },
        }),
    k: size,
    num_candidates: Math.max(100, 2 * size),
    filter: openQuery(scope, query),
    similarity: Math.max(-1, query.minCosine - TOLERANCE),
  };
  const request = { index: backend.index, query: { knn }, size };
  const hits = await search(backend, 'find similar memories', request, query.signal);
  const seen = await resolve(backend, hits, query.signal);
  const scores = new Map(hits.map(({ _id, _score }) => [_id, _score ?? 0]));
  return seen.found
    .filter(({ row }) => isOpen(row, query))
    .map(({ document, row }) => ({ row, cosine: Math.min(1, 2 * (scores.get(document) ?? 0) - 1) }))
    .sort((a, b) => b.cosine - a.cosine || b.row.createdAt - a.row.createdAt || (a.row.id < b.row.id ? -1 : 1))
    .slice(0, query.limit);
}
