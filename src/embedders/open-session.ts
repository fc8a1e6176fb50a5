import { openNativeSession } from './native-session.ts';
import type { OnnxRuntime, OnnxSession } from './onnx-session.ts';
import { openWasmSession } from './wasm-session.ts';

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
