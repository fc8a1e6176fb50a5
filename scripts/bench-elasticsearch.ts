import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MemoryStore } from '../src/store.ts';
import { createElasticsearchStore } from '../src/stores/elasticsearch.ts';
import { createEmbeddedStore } from '../src/stores/embedded.ts';
import { startNode } from '../test/elasticsearch-node/node.ts';
import { startStandIn } from '../test/esql-stand-in.ts';
import { embedder, megabytes, NOW, questionOf, rowOf, timesOf, unitVector } from './bench-data.ts';

/** Elasticsearch beside the embedded store: the same memories, the same questions. */

const BATCH = 1000;

interface Amounts {
  size: number;
  users: number;
  queries: number;
}

export async function measureElasticsearch(address: string, amounts: Amounts) {
  const cluster = await reach(address);
  const folder = mkdtempSync(join(tmpdir(), 'superseded-bench-'));
  const elasticsearch = createElasticsearchStore({
    connection: { url: cluster.url },
    index: `superseded-bench-${randomUUID().slice(0, 8)}`,
    inferenceId: null,
    model: embedder.model,
    clock: Date.now,
  });
  const embedded = createEmbeddedStore({ file: join(folder, 'bench.db'), model: embedder.model });
  const stores = { elasticsearch, embedded };
  try {
    await elasticsearch.setup();
    await embedded.setup();
    const filled = await fill(stores, amounts);
    return {
      at: new Date().toISOString().slice(0, 10),
      note: cluster.note,
      memories: amounts.size,
      users: amounts.users,
      ...filled,
      ...(await ask(stores, amounts)),
    };
  } finally {
    process.stderr.write('\n');
    await elasticsearch.drop();
    await Promise.all([elasticsearch.close(), embedded.close()]);
    rmSync(folder, { recursive: true, force: true });
    await cluster.stop();
  }
}

async function reach(address: string): Promise<{ url: string; note: string; stop: () => Promise<void> }> {
  if (address !== 'test-node') return { url: address, note: 'ES|QL answered by Elasticsearch', stop: async () => {} };
  const node = await startNode();
  if ('skipped' in node) throw new Error(node.skipped);
  if (node.kind !== 'jars') return { url: node.url, note: 'ES|QL answered by Elasticsearch', stop: node.stop };
  const standIn = await startStandIn({ target: node.url });
  const stop = async () => {
    await standIn.stop();
    await node.stop();
  };
  const note =
    'Real Elasticsearch node (BM25, kNN, writes); ES|QL answered by a stand-in of the tests, so recall times are its own.';
  return { url: standIn.url, note, stop };
}

type Stores = Record<'elasticsearch' | 'embedded', MemoryStore>;

/** A batch at a time into both, so that no more than one is in memory. */
async function fill(stores: Stores, { size, users }: Amounts) {
  const seconds = { elasticsearch: 0, embedded: 0 };
  let mostMb = 0;
  for (let from = 0; from < size; from += BATCH) {
    const count = Math.min(BATCH, size - from);
    const insert = Array.from({ length: count }, (_, at) => ({ row: rowOf(from + at, users), vector: unitVector() }));
    for (const name of ['elasticsearch', 'embedded'] as const) {
      const start = performance.now();
      await stores[name].load({ insert });
      seconds[name] += (performance.now() - start) / 1000;
    }
    mostMb = Math.max(mostMb, megabytes(process.memoryUsage().rss));
    process.stderr.write(`\r${from + count} of ${size} written, ${mostMb} MB resident at most `);
  }
  const fillSeconds = {
    elasticsearch: Math.round(seconds.elasticsearch * 10) / 10,
    embedded: Math.round(seconds.embedded * 10) / 10,
  };
  return { fillSeconds, mostResidentMb: mostMb };
}

/** One round to warm up, then the same questions to each. */
async function ask(stores: Stores, { users, queries }: Amounts) {
  const questions = Array.from({ length: queries }, () => questionOf());
  const question = (index: number) => questions[index] ?? questionOf();
  const recallOf = async (store: MemoryStore) => {
    const rank = (index: number) => store.for(`user:u${index % users}`).rank(question(index));
    await timesOf(Math.min(queries, 20), rank);
    return timesOf(queries, rank);
  };
  const windowsOf = (store: MemoryStore) => timesOf(20, (index) => store.for(`user:u${index % users}`).lifetimes(NOW));
  const { elasticsearch, embedded } = stores;
  return {
    recall: { elasticsearch: await recallOf(elasticsearch), embedded: await recallOf(embedded) },
    windows: { elasticsearch: await windowsOf(elasticsearch), embedded: await windowsOf(embedded) },
    windowsOfEveryone: {
      elasticsearch: await timesOf(5, () => elasticsearch.lifetimes(NOW)),
      embedded: await timesOf(5, () => embedded.lifetimes(NOW)),
    },
  };
}
