import type { Config } from './config.ts';
import type { Embedder, EmbeddingModel } from './embedder.ts';
import { withVectorCache } from './embedders/cache.ts';
import { createLocalEmbedder } from './embedders/local.ts';
import { createOpenAiCompatibleEmbedder } from './embedders/openai-compatible.ts';
import type { MemoryStore } from './store.ts';
import { createElasticsearchStore } from './stores/elasticsearch.ts';
import { createEmbeddedStore } from './stores/embedded.ts';
import { createSuperseded, type Superseded } from './superseded.ts';

/** The composition root of the core: settings in, service out. Nothing connects or loads before the first verb. */

export interface OpenOptions {
  clock?: () => number;
  /** Another file for the embedded store than the configured one; also stays embedded where Elasticsearch is configured. */
  db?: string;
  /** A store that is thrown away afterwards: a file at `db`, or indices of its own on the configured cluster. */
  throwAway?: string;
}

export function openSuperseded(config: Config, options: OpenOptions = {}): Superseded {
  const { clock = Date.now } = options;
  const embedder = config.elasticsearch?.inferenceId ? null : openEmbedder(config);
  const store = openStore(config, embedder, options);
  return createSuperseded({ store, embedder, clock, admission: config.admission });
}

function openStore(config: Config, embedder: Embedder | null, { db, throwAway }: OpenOptions): MemoryStore {
  const { elasticsearch } = config;
  if (elasticsearch === null || db !== undefined) {
    const local = embedder ?? openEmbedder(config);
    return createEmbeddedStore({ file: db ?? config.db, model: () => local.model() });
  }
  const { index, inferenceId, ...connection } = elasticsearch;
  return createElasticsearchStore({
    connection,
    index: throwAway === undefined ? index : `${index}-${throwAway}`,
    inferenceId,
    model: async () => (embedder === null ? serverModel(config, inferenceId ?? '') : embedder.model()),
    clock: Date.now,
  });
}

/** What is known of an endpoint that embeds on the server: its name, and the calibration that was configured. */
function serverModel({ calibration }: Config, inferenceId: string): EmbeddingModel {
  const { lo, hi, nearDuplicate } = calibration;
  return {
    name: inferenceId,
    dimensions: 0,
    hash: null,
    lo: lo ?? SERVER_CALIBRATION.lo,
    hi: hi ?? SERVER_CALIBRATION.hi,
    nearDuplicate: nearDuplicate ?? SERVER_CALIBRATION.nearDuplicate,
  };
}

/** Of e5-like models, such as the built-in multilingual one; `doctor` measures what fits another. */
const SERVER_CALIBRATION = { lo: 0.73, hi: 0.88, nearDuplicate: 0.9 };

export function openEmbedder(config: Config): Embedder {
  return withVectorCache(calibrated(plainEmbedder(config), config.calibration), { directory: config.cache });
}

function plainEmbedder({ embeddings }: Config): Embedder {
  if (embeddings === null) return createLocalEmbedder();
  const { url, model, apiKey } = embeddings;
  return createOpenAiCompatibleEmbedder({ url, model, ...(apiKey === null ? {} : { apiKey }) });
}

/** The embedder with the configured calibration in place of its own. */
function calibrated(embedder: Embedder, calibration: Config['calibration']): Embedder {
  const model = async (): Promise<EmbeddingModel> => {
    const own = await embedder.model();
    const { lo, hi, nearDuplicate } = calibration;
    return { ...own, lo: lo ?? own.lo, hi: hi ?? own.hi, nearDuplicate: nearDuplicate ?? own.nearDuplicate };
  };
  return { ...embedder, model };
}
