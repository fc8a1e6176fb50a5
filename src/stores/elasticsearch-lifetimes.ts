import type { estypes } from '@elastic/elasticsearch';
import { z } from 'zod';
import type { Scope } from '../memory.ts';
import { MS_PER_HOUR } from '../score.ts';
import type { Life, Lifetimes } from '../store.ts';
import type { Backend } from './elasticsearch-backend.ts';
import { read } from './elasticsearch-document.ts';
import { exists, upTo } from './elasticsearch-filters.ts';
import type { Query } from './elasticsearch-search.ts';

/**
 * How long memories held, by aggregations that any licence has. Rows of a commit of several rows count as they stand in
 * the index: before it is decided, and, where its writer died, as they were until someone settles it.
 */

/** Buckets of scope and topic a request answers with. */
const PAGE = 1000;

const isChanged: Query = { term: { changed_mind: true } };
const sum = (field: string) => ({ sum: { field } });

/** All scopes, or all topics, where none is named. */
interface Which {
  scope?: Scope;
  topics?: readonly string[] | undefined;
}

/** Tombstones have no created_at. */
function counted({ scope, topics }: Which, now: number): Query {
  const filter: Query[] = [
    upTo('created_at', now),
    exists('watched_from'),
    exists('heard_at'),
    ...(scope === undefined ? [] : [{ term: { scope } }]),
    ...(topics === undefined ? [] : [{ terms: { topic: [...topics] } }]),
  ];
  const notCounted: Query[] = [
    exists('planned_to'),
    { terms: { closed_as: ['held', 'denied'] } },
    { term: { never_valid: true } },
  ];
  return { bool: { filter, must_not: notCounted } };
}

const state = (filter: Query): estypes.AggregationsAggregationContainer => ({
  filter,
  aggs: { from: sum('watched_from'), to: sum('valid_to') },
});

function aggregations(now: number): Record<string, estypes.AggregationsAggregationContainer> {
  const ended = [upTo('valid_to', now), upTo('closed_at', now)];
  return {
    open: state({ bool: { must_not: { bool: { filter: ended } } } }),
    changed: state({ bool: { filter: [...ended, isChanged] } }),
    ended: state({ bool: { filter: ended, must_not: isChanged } }),
    recorded: { max: { field: 'created_at' } },
    // Words dated ahead of now have not been heard.
    heard: { filter: upTo('heard_at', now), aggs: { last: { max: { field: 'heard_at' } } } },
  };
}

const total = z.object({ value: z.number() });
const lived = z.object({ doc_count: z.number(), from: total, to: total });
const page = z.object({
  topics: z.object({
    after_key: z.record(z.string(), z.string()).optional(),
    buckets: z.array(
      z.object({
        key: z.object({ scope: z.string(), topic: z.string() }),
        open: lived,
        changed: lived,
        ended: lived,
        recorded: total,
        heard: z.object({ last: z.object({ value: z.number().nullable() }) }),
      }),
    ),
  }),
});
type Bucket = z.output<typeof page>['topics']['buckets'][number];

export async function readLifetimes(backend: Backend, which: Which, now: number): Promise<Lifetimes[]> {
  const lifetimes: Lifetimes[] = [];
  for (let after: Record<string, string> | undefined; ; ) {
    const composite = {
      size: PAGE,
      sources: [{ scope: { terms: { field: 'scope' } } }, { topic: { terms: { field: 'topic' } } }],
      ...(after ? { after } : {}),
    };
    const answer = await backend.elastic.call('count how long memories held', (client, call) =>
      client.search(
        {
          index: backend.index,
          size: 0,
          query: counted(which, now),
          aggs: { topics: { composite, aggs: aggregations(now) } },
          allow_partial_search_results: false,
          track_total_hits: false,
        },
        call,
      ),
    );
    const { topics } = read(page, answer.aggregations, 'count of lives');
    lifetimes.push(...topics.buckets.map((bucket) => lifetimesOf(bucket, now)));
    after = topics.after_key;
    if (topics.buckets.length < PAGE || after === undefined) return lifetimes;
  }
}

function lifetimesOf({ key, open, changed, ended, recorded, heard }: Bucket, now: number): Lifetimes {
  const closed = ({ doc_count, from, to }: z.output<typeof lived>) => ({
    count: doc_count,
    hours: (to.value - from.value) / MS_PER_HOUR,
  });
  return {
    scope: key.scope as Scope,
    topic: key.topic,
    open: { count: open.doc_count, hours: (open.doc_count * now - open.from.value) / MS_PER_HOUR },
    changed: closed(changed),
    ended: closed(ended),
    heardAt: Math.max(recorded.value, heard.last.value ?? recorded.value),
    readAt: now,
  };
}

/** Hits of one request, as many as Elasticsearch gives; columns alone are read, not the documents. */
const MOST_HITS = 10_000;

const instants = z.tuple([z.coerce.number()]);
const columns = z.object({
  watched_from: instants,
  valid_to: instants.optional(),
  closed_at: instants.optional(),
  changed_mind: z.array(z.boolean()).optional(),
});

export async function readLives(backend: Backend, scope: Scope, topic: string, now: number): Promise<Life[]> {
  const lives: Life[] = [];
  const date = (field: string) => ({ field, format: 'epoch_millis' });
  for (let after: estypes.SortResults | undefined; ; ) {
    const answer = await backend.elastic.call('read how long memories held', (client, call) =>
      client.search(
        {
          index: backend.index,
          query: counted({ scope, topics: [topic] }, now),
          size: MOST_HITS,
          sort: [{ valid_from: 'asc' }, { id: 'asc' }],
          ...(after ? { search_after: after } : {}),
          _source: false,
          fields: [date('watched_from'), date('valid_to'), date('closed_at'), 'changed_mind'],
          allow_partial_search_results: false,
          track_total_hits: false,
        },
        call,
      ),
    );
    const { hits } = answer.hits;
    for (const hit of hits) {
      const { watched_from, valid_to, closed_at, changed_mind } = read(columns, hit.fields, 'life');
      const over = valid_to && closed_at && valid_to[0] <= now && closed_at[0] <= now;
      const endedAt = over ? valid_to[0] : null;
      lives.push({ startedAt: watched_from[0], endedAt, changed: endedAt !== null && changed_mind?.[0] === true });
    }
    after = hits.at(-1)?.sort;
    if (hits.length < MOST_HITS || after === undefined) return lives;
  }
}
