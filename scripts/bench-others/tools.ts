import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { LibSQLStore, LibSQLVector } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import type { Embedder } from '../../src/embedder.ts';
import { iso } from '../../src/memory.ts';
import { createEmbeddedStore } from '../../src/stores/embedded.ts';
import { createSuperseded } from '../../src/superseded.ts';

/** The tools that run in Node, each set up as its documentation shows. */
export interface Tool {
  version: string;
  settings: string;
  write(user: string, id: string, text: string, at: number): Promise<void>;
  /** Ids, best first. */
  recall(user: string, question: string, limit: number, at: number): Promise<string[]>;
  close(): Promise<void>;
}

const versionOf = (name: string): string => {
  const entry = createRequire(import.meta.url).resolve(name);
  const folder = entry.slice(0, entry.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length);
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
};

export const TOOLS: Readonly<Record<string, (folder: string, embedder: Embedder) => Promise<Tool>>> = {
  superseded: async (folder, embedder) => {
    const store = createEmbeddedStore({ file: join(folder, 'superseded.db'), model: () => embedder.model() });
    const service = createSuperseded({ store, embedder });
    const root = join(dirname(new URL(import.meta.url).pathname), '../../package.json');
    return {
      version: (JSON.parse(readFileSync(root, 'utf8')) as { version: string }).version,
      settings: 'embedded store, default windows, nothing linked',
      async write(user, id, content, at) {
        await service.for(user).remember({ id, content, recordedAt: iso(at), allowSecret: true });
      },
      async recall(user, query, limit, at) {
        const { hits } = await service.for(user).recall({ query, limit, now: iso(at) });
        return hits.map(({ memory }) => memory.id);
      },
      close: () => service.close(),
    };
  },
  mastra: async (folder, embedder) => {
    const url = `file:${join(folder, 'mastra.db')}`;
    const vector = new RecordingVector({ id: 'vectors', url });
    const { name } = await embedder.model();
    const asking = { now: false };
    const model = {
      specificationVersion: 'v2' as const,
      ...{ provider: 'local', modelId: name, maxEmbeddingsPerCall: 128, supportsParallelCalls: false },
      async doEmbed({ values }: { values: string[] }) {
        const made = asking.now
          ? await Promise.all(values.map((value) => embedder.embedQuery(value)))
          : await embedder.embedPassages(values);
        return { embeddings: made.map((one) => Array.from(one)) };
      },
    };
    const memory = new Memory({
      storage: new LibSQLStore({ id: 'messages', url }),
      vector,
      embedder: model,
      options: { lastMessages: false, semanticRecall: { topK: 8, messageRange: 0, scope: 'resource' } },
    });
    const threads = new Set<string>();
    return {
      version: versionOf('@mastra/memory'),
      settings: `semanticRecall { messageRange: 0, scope: "resource" }, LibSQLVector ${versionOf('@mastra/libsql')}`,
      async write(user, id, text, at) {
        const owner = { threadId: `thread-${user}`, resourceId: user };
        if (!threads.has(user)) await memory.createThread(owner);
        threads.add(user);
        asking.now = false;
        const content = { format: 2 as const, parts: [{ type: 'text' as const, text }] };
        const message = { id: `${user} ${id}`, role: 'user' as const, createdAt: new Date(at), content, ...owner };
        await memory.saveMessages({ messages: [message] });
      },
      async recall(user, question, topK) {
        asking.now = true;
        await memory.recall({
          ...{ threadId: `thread-${user}`, resourceId: user, vectorSearchString: question },
          threadConfig: { lastMessages: false, semanticRecall: { topK, messageRange: 0, scope: 'resource' } },
        });
        return vector.order.map((id) => id.slice(user.length + 1));
      },
      close: () => vector.close(),
    };
  },
};

/** Keeps the order of the hits, which Mastra's recall gives up for that of the conversation. */
class RecordingVector extends LibSQLVector {
  order: string[] = [];

  override async query(parameters: Parameters<LibSQLVector['query']>[0]) {
    const results = await super.query(parameters);
    this.order = results.map(({ metadata }) => String(metadata?.message_id));
    return results;
  }
}
