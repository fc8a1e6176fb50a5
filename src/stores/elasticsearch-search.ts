import type { estypes } from '@elastic/elasticsearch';
import type { Backend, Hit } from './elasticsearch-backend.ts';
import { EXCLUDED } from './elasticsearch-rows.ts';

/** Searches that are not rankings: complete answers or an error, and results of any length in pages. */

export type Query = NonNullable<estypes.SearchRequest['query']>;

export interface SearchRequest {
  index: string;
  query: Query;
  size: number;
  sort?: estypes.Sort;
  search_after?: estypes.SortResults;
}

/** One page of hits; throws where a shard did not answer, rather than pass off a part for the whole. */
export async function search(
  backend: Backend,
  what: string,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<(Hit & { _score?: number | null | undefined; sort?: estypes.SortResults | undefined })[]> {
  const answer = await backend.elastic.call(
    what,
    (client, call) =>
      client.search(
        {
          ...request,
          seq_no_primary_term: true,
          allow_partial_search_results: false,
          track_total_hits: false,
          _source_excludes: EXCLUDED,
        },
        call,
      ),
    signal,
  );
  return answer.hits.hits.map((hit) => ({ ...hit, _id: hit._id ?? '' }));
}

const PAGE = 1000;

/** Every hit, in the order of these fields, which must tell hits apart. */
export async function* pages(
  backend: Backend,
  index: string,
  query: Query,
  fields: readonly string[],
): AsyncGenerator<Hit> {
  const sort = fields.map((field) => ({ [field]: 'asc' as const }));
  for (let after: estypes.SortResults | undefined; ; ) {
    const request = { index, query, size: PAGE, sort, ...(after ? { search_after: after } : {}) };
    const hits = await search(backend, 'search the log', request);
    yield* hits;
    after = hits.at(-1)?.sort;
    if (hits.length < PAGE || after === undefined) return;
  }
}
