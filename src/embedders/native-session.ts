import { SupersededError } from '../errors.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { OnnxSession } from './onnx-session.ts';

/** Opens a model on onnxruntime-node; a run blocks the main thread for one micro-batch (about 0.15 s on two cores). */
export async function openNativeSession(model: Uint8Array, threads: number): Promise<OnnxSession> {
  const { InferenceSession, Tensor } = await importNativeRuntime();
  const session = await InferenceSession.create(model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    // Spinning costs twice the processor time and, where cores are shared, is no faster.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  }).catch((cause: unknown) => {
    throw failed('cannot load the model', cause);
  });
  let open = true;
  // The runtime does all runs that wait in one turn of the event loop: two hundred at once would keep sockets and timers
  // waiting for seconds.
  const inTurn = oneAtATime();
  return {
    runtime: 'native',
    alive: () => open,
    run: ({ rows, columns, ids, mask }) =>
      inTurn(async () => {
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
      }),
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
