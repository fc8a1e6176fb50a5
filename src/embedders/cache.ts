import type { Embedder, EmbeddingModel, EmbedOptions } from '../embedder.ts';
import { openVectorFiles, type VectorFiles } from './vector-files.ts';

export interface VectorCacheOptions {
  /** Folder of the cache; made when first needed. It grows by about 1.6 KB a text and is never pruned: delete it freely. */
  directory: string;
  /** Whether vectors of questions are kept too; true unless given. */
  questions?: boolean | undefined;
  /** Told once when the cache cannot be written; by default a line on stderr. Embedding goes on without it. */
  warn?: ((message: string) => void) | undefined;
}

type Kind = 'query' | 'passage';

/**
 * Keeps an embedder's vectors between runs, by model, kind and a hash of the text; the text itself is not stored.
 * With every vector at hand the model is not loaded. `forget` removes a text under every model that was ever cached.
 */
export function withVectorCache(
  embedder: Embedder,
  { directory, questions = true, warn = warnOnStderr }: VectorCacheOptions,
): Embedder {
  const files: VectorFiles = openVectorFiles(directory);
  let warned = false;

  async function embed(kind: Kind, texts: readonly string[], options: EmbedOptions = {}): Promise<Float32Array[]> {
    options.signal?.throwIfAborted();
    if (texts.length === 0) return [];
    if (kind === 'query' && !questions) return embedMissing(kind, texts, options);
    const model = await embedder.model();
    const vectors = new Map<string, Float32Array>();
    const distinct = [...new Set(texts)];
    const stored = await files.read(model, kind, distinct);
    distinct.forEach((text, i) => {
      const vector = stored[i];
      if (vector) vectors.set(text, vector);
    });
    const missing = distinct.filter((text) => !vectors.has(text));
    if (missing.length > 0) {
      const made = await embedMissing(kind, missing, progressOf(options, texts.length, missing.length));
      missing.forEach((text, i) => {
        const vector = made[i];
        if (vector) vectors.set(text, vector);
      });
      await keep(model, kind, missing, made);
    } else {
      options.onProgress?.(texts.length, texts.length);
    }
    return texts.map((text) => Float32Array.from(vectors.get(text) ?? []));
  }

  async function embedMissing(kind: Kind, texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    if (kind === 'passage') return embedder.embedPassages(texts, options);
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(await embedder.embedQuery(text, options));
    return vectors;
  }

  async function keep(model: EmbeddingModel, kind: Kind, texts: readonly string[], vectors: readonly Float32Array[]) {
    try {
      await files.write(model, kind, texts, vectors);
    } catch (error) {
      if (!warned) warn(`Vectors are not cached in ${directory}: ${error instanceof Error ? error.message : error}`);
      warned = true;
    }
  }

  return {
    model: () => embedder.model(),
    async embedQuery(text, options) {
      const [vector] = await embed('query', [text], options);
      return vector ?? new Float32Array();
    },
    embedPassages: (texts, options) => embed('passage', texts, options),
    async forget(texts) {
      await files.remove(['query', 'passage'], texts);
      await embedder.forget(texts);
    },
    close: () => embedder.close(),
  };
}

/** Counts cached texts as done from the start. */
function progressOf({ signal, onProgress }: EmbedOptions, total: number, missing: number): EmbedOptions {
  return {
    ...(signal && { signal }),
    ...(onProgress && { onProgress: (done: number) => onProgress(total - missing + done, total) }),
  };
}

function warnOnStderr(message: string): void {
  process.stderr.write(`${message}\n`);
}
