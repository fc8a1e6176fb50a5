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
