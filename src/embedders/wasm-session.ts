import { Worker } from 'node:worker_threads';
import { SupersededError } from '../errors.ts';
import { projectFile } from '../project-file.ts';
import type { TokenBatch } from './micro-batches.ts';
import type { OnnxSession } from './onnx-session.ts';

/** Milliseconds for loading the model or for one micro-batch (about 1 s on two cores); then the worker is given up. */
const TIMEOUT_MS = 120_000;

interface Reply {
  id: number;
  hidden?: Float32Array;
  error?: string;
}

interface Pending {
  resolve: (reply: Reply) => void;
  reject: (error: SupersededError) => void;
  timer: NodeJS.Timeout;
}

/**
 * Opens a model on onnxruntime-web in a worker, so that its blocking runs leave the main thread free.
 * The worker keeps the process alive only while it has work. After an error of the worker every call is refused.
 */
export async function openWasmSession(model: Uint8Array, threads: number): Promise<OnnxSession> {
  const worker = new Worker(projectFile('src/embedders/wasm-worker.js'), {
    workerData: { model, threads },
    execArgv: [],
  });

  const pending = new Map<number, Pending>();
  let failure: SupersededError | undefined;
  let lastId = 0;

  function settle(id: number): Pending | undefined {
    const entry = pending.get(id);
    pending.delete(id);
    clearTimeout(entry?.timer);
    if (pending.size === 0) worker.unref();
    return entry;
  }

  function fail(reason: string, cause?: unknown): void {
    failure ??= new SupersededError('EMBEDDER_FAILED', `The WASM embedding worker ${reason}.`, { cause });
    for (const id of [...pending.keys()]) settle(id)?.reject(failure);
    void worker.terminate();
  }

  function expect(id: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(`gave no answer within ${TIMEOUT_MS / 1000} s`), TIMEOUT_MS);
      pending.set(id, { resolve, reject, timer });
      worker.ref();
    });
  }

  worker.on('message', (reply: Reply) => settle(reply.id)?.resolve(reply));
  worker.on('error', (error: unknown) => fail(`failed: ${error instanceof Error ? error.message : error}`, error));
  worker.on('exit', (code) => fail(`stopped with code ${code}`));

  await expect(lastId);
  return {
    runtime: 'wasm',
    alive: () => failure === undefined,
    async run(batch: TokenBatch) {
      if (failure !== undefined) throw failure;
      const id = ++lastId;
      const answer = expect(id);
      worker.postMessage({ id, ...batch });
      const { hidden, error } = await answer;
      if (hidden !== undefined) return hidden;
      throw new SupersededError('EMBEDDER_FAILED', `The WASM embedding worker failed: ${error ?? 'no vectors came'}.`);
    },
    async close() {
      failure ??= new SupersededError('EMBEDDER_FAILED', 'The embedder was closed while it was at work.');
      await worker.terminate();
    },
  };
}
