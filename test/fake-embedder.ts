import type { Embedder, EmbeddingModel } from '../src/embedder.ts';

export const FAKE_MODEL: EmbeddingModel = {
  name: 'words',
  dimensions: 64,
  hash: 'words-1',
  lo: 0,
  hi: 1,
  nearDuplicate: 0.9,
};

/** A deterministic embedder for tests: texts that share words are near, others are nearly orthogonal. */
export function createFakeEmbedder(): Embedder & { embedded: string[]; forgotten: string[] } {
  const embedded: string[] = [];
  const forgotten: string[] = [];
  const embed = (text: string): Float32Array => {
    embedded.push(text);
    const vector = new Float32Array(FAKE_MODEL.dimensions);
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
      let hash = 2166136261;
      for (const unit of word) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 16777619) >>> 0;
      const index = hash % FAKE_MODEL.dimensions;
      vector[index] = (vector[index] ?? 0) + (hash & 0x10000 ? 1 : -1) * (1 + (hash % 97) / 97);
    }
    const length = Math.hypot(...vector) || 1;
    if (vector.every((component) => component === 0)) vector[0] = length;
    return vector.map((component) => component / length);
  };
  return {
    embedded,
    forgotten,
    model: async () => FAKE_MODEL,
    embedQuery: async (text) => embed(text),
    embedPassages: async (texts, options) => {
      const vectors = texts.map(embed);
      options?.onProgress?.(texts.length, texts.length);
      return vectors;
    },
    forget: async (texts) => {
      forgotten.push(...texts);
    },
    close: async () => {},
  };
}
