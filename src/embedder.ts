/** Identity and calibration of an embedding model; stored with the data, so that two models never mix in one store. */
export interface EmbeddingModel {
  name: string;
  dimensions: number;
  /** sha256 of the model file, or the address of the service; null where neither is known. */
  hash: string | null;
  /** Mean cosine of a question and an unrelated memory: relevance 0. */
  lo: number;
  /** Cosine of a question and a memory that answers it: relevance 1. */
  hi: number;
  /** Cosine from which two memories count as near-duplicates. */
  nearDuplicate: number;
}

export interface EmbedOptions {
  signal?: AbortSignal;
  /** Called with the number of texts done so far and the number of all. */
  onProgress?: (done: number, total: number) => void;
}

/** Turns text into unit vectors; questions and memories are embedded differently (`query: ` and `passage: `). */
export interface Embedder {
  /** Loads what must be loaded to know the model; cheap after the first call. */
  model(): Promise<EmbeddingModel>;
  embedQuery(text: string, options?: EmbedOptions): Promise<Float32Array>;
  embedPassages(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  /** Removes a text's cached vectors, for erasure. Does nothing where nothing is cached. */
  forget(texts: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
