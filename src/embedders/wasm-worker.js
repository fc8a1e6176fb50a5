// Runs onnxruntime-web, whose `run` blocks its thread. Plain JavaScript, so that a worker needs no TypeScript loader.
import { parentPort, workerData } from 'node:worker_threads';
import { env, InferenceSession, Tensor } from 'onnxruntime-web';

/** @typedef {{ id: number, rows: number, columns: number, ids: BigInt64Array, mask: BigInt64Array }} Request */

const port = parentPort;
if (port === null) throw new Error('wasm-worker.js runs only as a worker');

// stdout belongs to the caller's output. (A reader of the worker's stdout in the parent would keep the process alive.)
process.stdout.write = process.stderr.write.bind(process.stderr);

env.wasm.numThreads = workerData.threads;
env.logLevel = 'error';

const session = await InferenceSession.create(workerData.model, { executionProviders: ['wasm'], logSeverityLevel: 3 });
workerData.model = undefined; // the session has its own copy of the 34 MB

/** @param {Request} request */
async function run({ rows, columns, ids, mask }) {
  const shape = [rows, columns];
  const output = await session.run({
    input_ids: new Tensor('int64', ids, shape),
    attention_mask: new Tensor('int64', mask, shape),
    token_type_ids: new Tensor('int64', new BigInt64Array(ids.length), shape),
  });
  const hidden = output.last_hidden_state?.data;
  if (!(hidden instanceof Float32Array)) throw new Error('The model gave no float32 output last_hidden_state.');
  return hidden.slice();
}

port.on('message', async (/** @type {Request} */ request) => {
  try {
    const hidden = await run(request);
    port.postMessage({ id: request.id, hidden }, [hidden.buffer]);
  } catch (error) {
    port.postMessage({ id: request.id, error: error instanceof Error ? error.message : String(error) });
  }
});

port.postMessage({ id: 0 });
