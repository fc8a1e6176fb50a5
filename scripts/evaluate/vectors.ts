import type { Embedder } from '../../src/embedder.ts';
import { passageOf } from '../../src/memory.ts';
import type { Life } from './datasets.ts';

/** The vectors of a whole run, held in memory: made in batches, then handed to stores and baselines alike. */
export interface Vectors {
  /** Answers from memory, and asks the real embedder for the rest. */
  embedder: Embedder;
  /** Embeds all texts of the lives; what the cache on disk holds is read from there. */
  prepare(lives: readonly Life[], onProgress?: Progress): Promise<void>;
  passage(text: string): Float32Array;
  query(text: string): Float32Array;
}

export type Progress = (what: string, done: number, total: number) => void;

/** Texts between two writes to the cache: what a stopped run loses at most. */
const BATCH = 256;

export function createVectors(real: Embedder): Vectors {
  const passages = new Map<string, Float32Array>();
  const queries = new Map<string, Float32Array>();

  async function passagesOf(texts: readonly string[], onProgress?: (done: number, total: number) => void) {
    const missing = [...new Set(texts)].filter((text) => !passages.has(text));
    for (let start = 0; start < missing.length; start += BATCH) {
      const batch = missing.slice(start, start + BATCH);
      const made = await real.embedPassages(batch);
      batch.forEach((text, index) => void passages.set(text, known(made[index], text)));
      onProgress?.(start + batch.length, missing.length);
    }
    return texts.map((text) => known(passages.get(text), text));
  }

  async function queryOf(text: string): Promise<Float32Array> {
    const vector = queries.get(text) ?? (await real.embedQuery(text));
    queries.set(text, vector);
    return vector;
  }

  return {
    embedder: {
      model: () => real.model(),
      embedQuery: queryOf,
      embedPassages: (texts) => passagesOf(texts),
      forget: async () => {},
      close: async () => {},
    },
    async prepare(lives, onProgress) {
      const texts = lives.flatMap(({ entries }) => entries.map(passageOf));
      await passagesOf(texts, (done, total) => onProgress?.('Embedding memories', done, total));
      const questions = [...new Set(lives.flatMap((life) => life.questions.map(({ question }) => question)))];
      for (const [index, question] of questions.entries()) {
        await queryOf(question);
        onProgress?.('Embedding questions', index + 1, questions.length);
      }
    },
    passage: (text) => known(passages.get(text), text),
    query: (text) => known(queries.get(text), text),
  };
}

/** Cosine of two unit vectors. */
export function cosineOf(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return sum;
}

function known(vector: Float32Array | undefined, text: string): Float32Array {
  if (vector) return vector;
  throw new Error(`No vector was made for "${text.slice(0, 60)}".`);
}
