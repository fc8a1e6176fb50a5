import type { Config } from './config.ts';
import type { Embedder, EmbeddingModel } from './embedder.ts';
import { withVectorCache } from './embedders/cache.ts';
import { createLocalEmbedder } from './embedders/local.ts';
import { createOpenAiCompatibleEmbedder } from './embedders/openai-compatible.ts';
import type { MemoryStore } from './store.ts';
import { createEmbeddedStore } from './stores/embedded.ts';
import { createSuperseded, type Superseded } from './superseded.ts';

/** The composition root of the core: settings in, service out. Nothing connects or loads before the first verb. */

export interface OpenOptions {
  clock?: () => number;
  /** Another file for the embedded store than the configured one. */
  db?: string;
}

export function openSuperseded(config: Config, { clock = Date.now, db = config.db }: OpenOptions = {}): Superseded {
  const embedder = openEmbedder(config);
  const store: MemoryStore = createEmbeddedStore({ file: db, model: () => embedder.model() });
  return createSuperseded({ store, embedder, clock, admission: config.admission });
}

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
