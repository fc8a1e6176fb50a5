import { inject } from 'vitest';
import type { EmbeddingModel } from '../../src/embedder.ts';
import {
  createElasticsearchStore,
  type ElasticsearchOptions,
  type ElasticsearchStore,
} from '../../src/stores/elasticsearch.ts';
import { modelOf } from '../store-fixtures.ts';
import type { Cluster } from './cluster.ts';

/** Stores on the cluster of the run, each with indices of its own. */

const run = `t${process.pid.toString(36)}${Date.now().toString(36)}`;
let made = 0;

export const newIndex = (): string => `superseded-${run}-${made++}`;

export function clusterOfRun(): Cluster {
  const cluster = inject('cluster');
  if (cluster === null) throw new Error('no cluster: the suite must skip itself');
  return cluster;
}

/** For the names of suites: what answers the queries, where that is not Elasticsearch itself. */
export const onWhat = (): string => (inject('cluster')?.kind === 'jars' ? ', ES|QL by the stand-in' : '');

/** A request to the node itself, past the product. */
export async function ask(path: string, method = 'GET', body?: object): Promise<string> {
  const { node, auth } = clusterOfRun();
  const login =
    auth && ('apiKey' in auth ? `ApiKey ${auth.apiKey}` : `Basic ${btoa(`${auth.username}:${auth.password}`)}`);
  const headers = { 'content-type': 'application/json', ...(login ? { authorization: login } : {}) };
  const answer = await fetch(new URL(path, node), { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  return answer.text();
}

export interface TestStoreOptions extends Partial<ElasticsearchOptions> {
  /** Another address, such as a proxy's. */
  url?: string;
  embedding?: EmbeddingModel;
}

/** A store that is not set up yet. Commits refresh at once: tests need not wait a second each. */
export function storeOn({ url, embedding = modelOf(8), ...options }: TestStoreOptions = {}): ElasticsearchStore {
  const cluster = clusterOfRun();
  return createElasticsearchStore({
    connection: { url: url ?? cluster.url, ...cluster.auth },
    index: newIndex(),
    inferenceId: null,
    model: async () => embedding,
    refresh: true,
    clock: Date.now,
    ...options,
  });
}

export async function newStore(options: TestStoreOptions = {}): Promise<ElasticsearchStore> {
  const store = storeOn(options);
  await store.setup();
  return store;
}
