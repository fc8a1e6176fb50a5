import { join } from 'node:path';
import { LibSQLStore, LibSQLVector } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import type { Life } from './datasets.ts';
import { type Scores, scoresOf } from './metrics.ts';
import type { Progress, Vectors } from './vectors.ts';

/**
 * Mastra's own semantic recall over the same texts and vectors: one resource and thread per life, each memory a user
 * message, `messageRange` 0. Mastra embeds questions and messages alike; here each gets the prefix its model wants.
 */

const MOST_HITS = 100;

/** Hands back the hits of the last search: `recall` itself returns them in the order of the conversation. */
class RecordingVector extends LibSQLVector {
  order: string[] = [];

  override async query(parameters: Parameters<LibSQLVector['query']>[0]) {
    const results = await super.query(parameters);
    this.order = results.map(({ metadata }) => String(metadata?.message_id));
    return results;
  }
}

export async function askMastra(
  lives: readonly Life[],
  vectors: Vectors,
  folder: string,
  onProgress?: Progress,
): Promise<Scores[]> {
  const url = `file:${join(folder, 'mastra.db')}`;
  const vector = new RecordingVector({ id: 'vectors', url });
  const storage = new LibSQLStore({ id: 'messages', url });
  let embedding: 'query' | 'passage' = 'passage';
  const { dimensions, name } = await vectors.embedder.model();
  const embedder = {
    specificationVersion: 'v2' as const,
    provider: 'local',
    modelId: name,
    maxEmbeddingsPerCall: 128,
    supportsParallelCalls: false,
    async doEmbed({ values }: { values: string[] }) {
      const made =
        embedding === 'passage'
          ? await vectors.embedder.embedPassages(values)
          : await Promise.all(values.map((value) => vectors.embedder.embedQuery(value)));
      return { embeddings: made.map((one) => Array.from(one.subarray(0, dimensions))) };
    },
  };
  const semanticRecall = { topK: MOST_HITS, messageRange: 0, scope: 'resource' as const };
  const memory = new Memory({ storage, vector, embedder, options: { lastMessages: false, semanticRecall } });
  const scores: Scores[] = [];
  for (const [index, { user, entries, questions }] of lives.entries()) {
    const owner = { threadId: `thread-${user}`, resourceId: user };
    await memory.createThread({ ...owner, title: user });
    let written = 0;
    for (const asked of [...questions].sort((a, b) => a.at - b.at)) {
      const due = entries.filter(({ at }) => at <= asked.at).slice(written);
      written += due.length;
      embedding = 'passage';
      if (due.length > 0) {
        const messages = due.map(({ id, content, at }) => ({
          id: `${user} ${id}`,
          role: 'user' as const,
          createdAt: new Date(at),
          content: { format: 2 as const, parts: [{ type: 'text' as const, text: content }] },
          ...owner,
        }));
        await memory.saveMessages({ messages });
      }
      embedding = 'query';
      await memory.recall({ ...owner, vectorSearchString: asked.question });
      const ranked = [...new Set(vector.order)].map((id) => id.slice(user.length + 1));
      scores.push(scoresOf(ranked, asked.current, asked.stale));
    }
    onProgress?.('Asking Mastra', index + 1, lives.length);
  }
  await vector.close();
  return scores;
}
