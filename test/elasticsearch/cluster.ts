import type { TestProject } from 'vitest/node';
import { startNode } from '../elasticsearch-node/node.ts';
import { startStandIn } from '../esql-stand-in.ts';

/** Starts the node of the run, and before it, where it has no ES|QL of its own, the stand-in. */

export interface Cluster {
  /** Where the product connects. */
  url: string;
  /** The node itself. */
  node: string;
  kind: 'external' | 'jars' | 'docker';
  auth?: { apiKey: string } | { username: string; password: string };
}

declare module 'vitest' {
  interface ProvidedContext {
    cluster: Cluster | null;
  }
}

export default async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const node = await startNode();
  if ('skipped' in node) {
    console.warn(`SKIPPED, every suite on Elasticsearch: ${node.skipped}`);
    provide('cluster', null);
    return;
  }
  const standIn = node.kind === 'jars' ? await startStandIn({ target: node.url }) : null;
  console.info(`Elasticsearch: ${node.kind} node${standIn ? ', ES|QL answered by the stand-in' : ''}`);
  provide('cluster', {
    url: standIn?.url ?? node.url,
    node: node.url,
    kind: node.kind,
    ...(node.auth ? { auth: node.auth } : {}),
  });
  return async () => {
    await standIn?.stop();
    await node.stop();
  };
}
