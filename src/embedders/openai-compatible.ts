import type { Embedder, EmbedOptions } from '../embedder.ts';
import { SupersededError } from '../errors.ts';
import { embeddingsEndpoint, postEmbeddings } from './openai-request.ts';
import { parseEmbeddings } from './openai-response.ts';

export interface OpenAiCompatibleOptions {
  /** The base with or without `/v1`, or the whole address up to `/embeddings`; a query string is kept. */
  url: string;
  model: string;
  apiKey?: string | undefined;
  /** Length every vector must have; by default that of the first answer. Not sent to the service. */
  dimensions?: number | undefined;
  /** Texts in one request; 64 by default. */
  batchSize?: number | undefined;
  /** Milliseconds for one request; 60,000 by default. */
  timeoutMs?: number | undefined;
  /**
   * Calibration, see EmbeddingModel. The defaults 0.2, 0.7 and 0.9 suit models whose unrelated texts have a cosine near 0.2
   * (OpenAI's text-embedding-3); e5-like models lie much higher (0.73, 0.88): measure yours on a few questions.
   */
  lo?: number | undefined;
  hi?: number | undefined;
  nearDuplicate?: number | undefined;
  /** Put before questions and memories, where the model was trained so; empty by default. */
  queryPrefix?: string | undefined;
  passagePrefix?: string | undefined;
  /** Attempts after the first (3) and milliseconds before the second (500, doubling). */
  retries?: number | undefined;
  retryDelayMs?: number | undefined;
  fetch?: typeof fetch | undefined;
}

/**
 * Embeds by any service that speaks OpenAI's `POST /v1/embeddings`. Texts are sent whole, long ones too.
 * Without `dimensions`, `model()` asks for one vector, once. Nothing is sent before the first call.
 */
export function createOpenAiCompatibleEmbedder(options: OpenAiCompatibleOptions): Embedder {
  const { model, apiKey, batchSize = 64, queryPrefix = '', passagePrefix = '' } = options;
  const { lo = 0.2, hi = 0.7, nearDuplicate = 0.9 } = options;
  check(model.trim() !== '', 'EMBEDDINGS_MODEL (model) is empty.');
  check(apiKey === undefined || /^[\x21-\x7e]+$/.test(apiKey), 'EMBEDDINGS_API_KEY (apiKey) holds no valid key.');
  check(Number.isInteger(batchSize) && batchSize > 0, 'batchSize is not a positive whole number.');
  check(lo < hi && lo >= -1 && hi <= 1, 'The calibration lo, hi is not -1 ≤ lo < hi ≤ 1.');
  const endpoint = embeddingsEndpoint(options.url);
  const address = endpoint.replace(/[?#].*$/, '');
  const request = {
    endpoint,
    address,
    apiKey,
    timeoutMs: options.timeoutMs ?? 60_000,
    retries: options.retries ?? 3,
    retryDelayMs: options.retryDelayMs ?? 500,
    fetch: options.fetch ?? fetch,
  };
  let dimensions = options.dimensions;
  let probe: Promise<unknown> | undefined;

  async function embed(texts: readonly string[], { signal, onProgress }: EmbedOptions = {}): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let start = 0; start < texts.length; start += batchSize) {
      signal?.throwIfAborted();
      const input = texts.slice(start, start + batchSize);
      const text = await postEmbeddings({ model, input, encoding_format: 'float' }, request, signal);
      const part = parseEmbeddings(text, input.length, dimensions);
      dimensions ??= part[0]?.length;
      vectors.push(...part);
      onProgress?.(vectors.length, texts.length);
    }
    return vectors;
  }

  /** Learns the dimensions; callers at the same time share one request, and a failed one is made again. */
  async function learnDimensions(): Promise<number> {
    if (dimensions === undefined) {
      probe ??= embed([`${passagePrefix}dimensions`]).finally(() => {
        probe = undefined;
      });
      await probe;
    }
    return dimensions ?? 0;
  }

  return {
    async model() {
      const prefixes = queryPrefix === '' && passagePrefix === '' ? '' : `#${queryPrefix}|${passagePrefix}`;
      return { name: model, dimensions: await learnDimensions(), hash: address + prefixes, lo, hi, nearDuplicate };
    },
    async embedQuery(text, embedOptions) {
      const [vector] = await embed([queryPrefix + text], embedOptions);
      if (vector !== undefined) return vector;
      throw new SupersededError('EMBEDDER_FAILED', 'The embeddings service gave no vector.');
    },
    embedPassages: (texts, embedOptions) =>
      embed(
        texts.map((text) => passagePrefix + text),
        embedOptions,
      ),
    async forget() {},
    async close() {},
  };
}

function check(holds: boolean, message: string): void {
  if (!holds) throw new SupersededError('CONFIGURATION', message);
}
