import type { TokenBatch } from './micro-batches.ts';

export type OnnxRuntime = 'native' | 'wasm';

/** A loaded model: token ids in, last hidden states out (rows × columns × dimensions, in that order). */
export interface OnnxSession {
  readonly runtime: OnnxRuntime;
  /** False once closed or failed for good; then every run is refused. */
  alive(): boolean;
  run(batch: TokenBatch): Promise<Float32Array>;
  close(): Promise<void>;
}
