import { SupersededError } from '../errors.ts';
import type { TokenBatch } from './micro-batches.ts';
import { openWasmSession } from './wasm-session.ts';

export type OnnxRuntime = 'native' | 'wasm';

/** A loaded model: token ids in, last hidden states out (rows × columns × dimensions, in that order). */
export interface OnnxSession {
  readonly runtime: OnnxRuntime;
  /** False once closed or failed for good; then every run is refused. */
  alive(): boolean;
  run(batch: TokenBatch): Promise<Float32Array>;
  close(): Promise<void>;
}

export interface SessionOptions {
  runtime: OnnxRuntime | 'auto';
  threads: number;
}

/**
 * Opens a model on the native ONNX runtime, or on WASM in a worker where `auto` finds no native one that works.
 * Throws CONFIGURATION when the native runtime is asked for and not there, EMBEDDER_FAILED when the model does not load.
 */
export async function openSession(model: Uint8Array, { runtime, threads }: SessionOptions): Promise<OnnxSession> {
  if (runtime === 'wasm') return openWasmSession(model, threads);
  try {
    return await openNativeSession(model, threads);
  } catch (error) {
    if (runtime === 'auto') return openWasmSession(model, threads);
    throw error;
  }
}

async function openNativeSession(model: Uint8Array, threads: number): Promise<OnnxSession> {
  const { InferenceSession, Tensor } = await importNativeRuntime();
  const session = await InferenceSession.create(model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  }).catch((cause: unknown) => {
    throw failed('cannot load the model', cause);
  });
  let open = true;
  return {
    runtime: 'native',
    alive: () => open,
    async run({ rows, columns, ids, mask }) {
      if (!open) throw failed('was closed while it was at work');
      const shape = [rows, columns];
      const feeds = {
        input_ids: new Tensor('int64', ids, shape),
        attention_mask: new Tensor('int64', mask, shape),
        token_type_ids: new Tensor('int64', new BigInt64Array(ids.length), shape),
      };
      const output = await session.run(feeds).catch((cause: unknown) => {
        throw failed('failed', cause);
      });
      const hidden = output.last_hidden_state?.data;
      if (hidden instanceof Float32Array) return hidden;
      throw failed('gave no float32 output last_hidden_state');
    },
    async close() {
      if (open) await session.release();
      open = false;
    },
  };
}

async function importNativeRuntime() {
  try {
    return await import('onnxruntime-node');
  } catch (cause) {
    throw new SupersededError('CONFIGURATION', 'The native ONNX runtime is not installed or does not load here.', {
      hint: "Install the optional dependency onnxruntime-node, or use the runtime 'wasm' or 'auto'.",
      cause,
    });
  }
}

function failed(what: string, cause?: unknown): SupersededError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new SupersededError('EMBEDDER_FAILED', `The native ONNX runtime ${what}${reason}.`, { cause });
}
