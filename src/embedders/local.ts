import { availableParallelism } from 'node:os';
import type { Embedder, EmbeddingModel, EmbedOptions } from '../embedder.ts';
import { SupersededError } from '../errors.ts';
import { projectFile } from '../project-file.ts';
import { type ModelCard, readModelCard, readTokenizer, readWeights } from './local-model.ts';
import { meanPool, toMicroBatches } from './micro-batches.ts';
import type { OnnxRuntime, OnnxSession } from './onnx-session.ts';
import { openSession } from './open-session.ts';
import { splitIntoRuns } from './passages.ts';
import { meanOfUnits, toUnit } from './unit-vectors.ts';

export interface LocalEmbedderOptions {
  /** Folder with model.json, the weights and the tokenizer; the shipped e5-small-v2 by default. */
  modelDir?: string | undefined;
  /** `auto` takes the native ONNX runtime where it loads, else WASM in a worker. */
  runtime?: OnnxRuntime | 'auto' | undefined;
  /** Threads of the runtime; by default one per core, at most 4. */
  threads?: number | undefined;
}

export interface LocalEmbedder extends Embedder {
  /** The runtime in use; loads the model. */
  runtime(): Promise<OnnxRuntime>;
}

type Kind = 'query' | 'passage';

/** Texts that are tokenised before the first of them goes through the model; bounds memory and blocking (about 50 ms). */
const TEXTS_AT_ONCE = 128;

interface Loaded {
  session: OnnxSession;
  dimensions: number;
  /** The token runs of a text, each with [CLS], prefix and [SEP]. */
  toRuns: (kind: Kind, text: string) => number[][];
}

/**
 * Embeds with a model on this machine. `model()` reads model.json only; the weights load with the first text.
 * After `close()` or a failed load, the next text loads them again.
 */
export function createLocalEmbedder(options: LocalEmbedderOptions = {}): LocalEmbedder {
  const directory = options.modelDir ?? projectFile('models/e5-small-v2');
  const threads = options.threads ?? Math.min(4, availableParallelism());
  const runtime = options.runtime ?? 'auto';
  let card: Promise<ModelCard> | undefined;
  let loaded: Promise<Loaded> | undefined;

  function readCard(): Promise<ModelCard> {
    const attempt = card ?? readModelCard(directory);
    card = attempt;
    attempt.catch(() => {
      if (card === attempt) card = undefined;
    });
    return attempt;
  }

  function load(): Promise<Loaded> {
    const attempt = loaded ?? readCard().then((known) => openModel(directory, known, { runtime, threads }));
    loaded = attempt;
    attempt.catch(() => {
      if (loaded === attempt) loaded = undefined;
    });
    return attempt;
  }

  async function embed(kind: Kind, texts: readonly string[], { signal, onProgress }: EmbedOptions = {}) {
    signal?.throwIfAborted();
    const vectors: Float32Array[] = [];
    for (let start = 0; start < texts.length; start += TEXTS_AT_ONCE) {
      const opening = load();
      const model = await opening;
      try {
        const runs = texts.slice(start, start + TEXTS_AT_ONCE).map((text) => model.toRuns(kind, text));
        const report = (done: number) => onProgress?.(start + done, texts.length);
        vectors.push(...(await embedRuns(runs, model, signal, report)));
      } finally {
        if (!model.session.alive() && loaded === opening) loaded = undefined;
      }
    }
    return vectors;
  }

  return {
    async model(): Promise<EmbeddingModel> {
      const { name, dimensions, sha256, lo, hi, nearDuplicate } = await readCard();
      return { name, dimensions, hash: sha256, lo, hi, nearDuplicate };
    },
    async embedQuery(text, options) {
      const [vector] = await embed('query', [text], options);
      return known(vector);
    },
    embedPassages: (texts, options) => embed('passage', texts, options),
    async runtime() {
      return (await load()).session.runtime;
    },
    async forget() {},
    async close() {
      const closing = loaded;
      loaded = undefined;
      await (await closing?.catch(() => undefined))?.session.close();
    },
  };
}

async function openModel(
  directory: string,
  card: ModelCard,
  options: { runtime: OnnxRuntime | 'auto'; threads: number },
): Promise<Loaded> {
  const [tokenize, weights] = await Promise.all([readTokenizer(directory), readWeights(directory, card)]);
  const session = await openSession(weights, options);
  const [start, end] = specialIds(tokenize('[CLS][SEP]').ids);
  const prefixes = { query: tokenize(card.queryPrefix).ids, passage: tokenize(card.passagePrefix).ids };
  return {
    session,
    dimensions: card.dimensions,
    toRuns(kind, text) {
      const prefix = prefixes[kind];
      const budget = card.maxTokens - prefix.length - 2;
      return splitIntoRuns(text, { budget, tokenize }).map((ids) => [start, ...prefix, ...ids, end]);
    },
  };
}

/** One vector for the runs of each text; `report` gets the number of texts done after every micro-batch. */
async function embedRuns(
  runsOfTexts: readonly number[][][],
  { session, dimensions }: Loaded,
  signal: AbortSignal | undefined,
  report: (done: number) => void,
): Promise<Float32Array[]> {
  const runs = runsOfTexts.flatMap((own, text) => own.map((ids, part) => ({ ids, text, part })));
  const parts: Float32Array[][] = runsOfTexts.map(() => []);
  const missing = runsOfTexts.map((own) => own.length);
  for (const batch of toMicroBatches(runs.map((run) => run.ids))) {
    signal?.throwIfAborted();
    const hidden = await session.run(batch);
    batch.positions.forEach((position, row) => {
      const run = runs[position];
      const own = run && parts[run.text];
      if (!own) return;
      own[run.part] = known(toUnit(meanPool(hidden, batch, row, dimensions)));
      missing[run.text] = (missing[run.text] ?? 0) - 1;
    });
    report(missing.filter((left) => left === 0).length);
  }
  return parts.map((own) => known(meanOfUnits(own)));
}

function specialIds([start, end]: number[]): [number, number] {
  if (start !== undefined && end !== undefined) return [start, end];
  throw new SupersededError('CONFIGURATION', 'The tokenizer knows no [CLS] and [SEP].');
}

function known(vector: Float32Array | null | undefined): Float32Array {
  if (vector) return vector;
  throw new SupersededError('EMBEDDER_FAILED', 'The model gave a vector without a direction.');
}
