import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { createSuperseded } from '../../src/superseded.ts';
import { createFakeEmbedder, FAKE_MODEL } from '../fake-embedder.ts';
import { afterThisTest } from '../temporary.ts';
import { clusterOfRun, newIndex, newStore } from './stores.ts';

/** What is left of an erased memory: nothing in any answer at once, nothing in the files after an expunge. */

const SECRET = 'zanzibarquartz';

async function rest(method: string, path: string, body?: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${clusterOfRun().node}${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return answer.text();
}

const filesHolding = (folder: string, bytes: Buffer): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => {
      try {
        return statSync(path).isFile() && readFileSync(path).includes(bytes);
      } catch {
        return false; // merged away meanwhile
      }
    });

describe.skipIf(inject('cluster')?.kind !== 'jars')(
  'an erased memory on Elasticsearch (needs the files of a node from jars)',
  () => {
    it('comes back from no API, and leaves the files with retention and an expunge', { timeout: 180_000 }, async () => {
      const index = newIndex();
      const store = await newStore({ embedding: FAKE_MODEL, index });
      const service = createSuperseded({ store, embedder: createFakeEmbedder() });
      afterThisTest(() => service.close());
      const soft = { 'index.soft_deletes.retention_lease.sync_interval': '200ms' };
      for (const name of [index, `${index}-log`]) await rest('PUT', `/${name}/_settings`, soft);
      const user = service.for('ann');
      for (let i = 0; i < 20; i++) await user.remember({ content: `Neighbour ${i} of its own` });
      await user.remember({ id: 'a', content: `The word is ${SECRET}`, title: SECRET, tags: [SECRET] });
      await user.feedback('a', { outcome: 1, query: `what is ${SECRET}` });
      await user.erase('a');
      for (const name of [index, `${index}-log`]) {
        const everything = await rest('POST', `/${name}/_search`, { size: 1000, query: { match_all: {} } });
        expect(everything).toContain('"hits"');
        expect(everything).not.toContain(SECRET);
        expect(await rest('POST', `/${name}/_count`, { query: { query_string: { query: `*${SECRET}*` } } })).toContain(
          '"count":0',
        );
      }
      expect(JSON.stringify([await user.audit(), await user.exportNdjson()])).not.toContain(SECRET);
      const stats = JSON.parse(await rest('GET', '/_nodes/stats/fs')) as {
        nodes: Record<string, { fs: { data: { path: string }[] } }>;
      };
      const folder = Object.values(stats.nodes)[0]?.fs.data[0]?.path ?? '';
      expect(folder).not.toBe('');
      let left: string[] = [];
      for (let attempt = 0; attempt < 40; attempt++) {
        for (const name of [index, `${index}-log`]) {
          await rest('POST', `/${name}/_flush?force=true&wait_if_ongoing=true`);
          await rest('POST', `/${name}/_forcemerge?only_expunge_deletes=true&flush=true`);
        }
        left = filesHolding(folder, Buffer.from(SECRET));
        if (left.length === 0) break;
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
      expect(left).toEqual([]);
    });
  },
);
