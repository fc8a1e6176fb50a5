import { type Config, silenceTelemetry } from './config.ts';
import type { Embedder, EmbeddingModel } from './embedder.ts';
import { withVectorCache } from './embedders/cache.ts';
import { createLocalEmbedder } from './embedders/local.ts';
import { createOpenAiCompatibleEmbedder } from './embedders/openai-compatible.ts';
import { SupersededError } from './errors.ts';
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
  /** Whether vectors of questions are kept on disk too; true unless a long-running server asks for less. */
  cacheQuestions?: boolean | undefined;
}

export function openSuperseded(config: Config, options: OpenOptions = {}): Superseded {
  const { clock = Date.now, db, throwAway, cacheQuestions } = options;
  const { elasticsearch, admission, windows } = config;
  if (elasticsearch === null || db !== undefined) {
    const embedder = openEmbedder(config, { cacheQuestions });
    const store = createEmbeddedStore({ file: db ?? config.db, model: () => embedder.model() });
    return createSuperseded({ store, embedder, clock, admission, windows });
  }
  const { index, inferenceId, ...connection } = elasticsearch;
  const embedder = inferenceId === null ? openEmbedder(config, { cacheQuestions }) : null;
  const store = createElasticsearchStore({
    connection,
    index: throwAway === undefined ? index : `${index}-${throwAway}`,
    inferenceId,
    model: async () => (embedder === null ? serverModel(config, inferenceId ?? '') : embedder.model()),
    clock: Date.now,
  });
  return createSuperseded({ store, embedder, clock, admission, windows });
}

/** What is known of an endpoint that embeds on the server: its name, and the calibration that was configured. */
function serverModel({ calibration }: Config, inferenceId: string): EmbeddingModel {
  return withCalibration({ name: inferenceId, dimensions: 0, hash: null, ...SERVER_CALIBRATION }, calibration);
}

/** Of e5-like models, such as the built-in multilingual one; `doctor` measures what fits another. */
const SERVER_CALIBRATION = { lo: 0.73, hi: 0.88, nearDuplicate: 0.9 };

export function openEmbedder(
  config: Config,
  { cacheQuestions = true }: Pick<OpenOptions, 'cacheQuestions'> = {},
): Embedder {
  const embedder = calibrated(plainEmbedder(config), config.calibration);
  return withVectorCache(embedder, { directory: config.cache, questions: cacheQuestions });
}

function plainEmbedder({ embeddings }: Config): Embedder {
  if (embeddings === null) {
    silenceTelemetry();
    return createLocalEmbedder();
  }
  const { url, model, apiKey } = embeddings;
  return createOpenAiCompatibleEmbedder({ url, model, ...(apiKey === null ? {} : { apiKey }) });
}

/** The embedder with the configured calibration in place of its own. */
function calibrated(embedder: Embedder, calibration: Config['calibration']): Embedder {
  return { ...embedder, model: async () => withCalibration(await embedder.model(), calibration) };
}

/** Throws CONFIGURATION where one configured end and the model's own other end are the wrong way round. */
function withCalibration(model: EmbeddingModel, { lo, hi, nearDuplicate }: Config['calibration']): EmbeddingModel {
  const fitted = {
    ...model,
    lo: lo ?? model.lo,
    hi: hi ?? model.hi,
    nearDuplicate: nearDuplicate ?? model.nearDuplicate,
  };
  if (fitted.lo < fitted.hi) return fitted;
  throw new SupersededError(
    'CONFIGURATION',
    `The calibration of ${model.name} is upside down: lo ${fitted.lo}, hi ${fitted.hi}.`,
    {
      hint: 'Set EMBEDDINGS_LO and EMBEDDINGS_HI together, as `superseded doctor` recommends.',
    },
  );
}
