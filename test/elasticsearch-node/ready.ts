import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const LOWEST_PORT = 20_000;
const PORTS = 10_000;

/** Below the ports that systems hand out by themselves, so that it stays free while a node restarts. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = LOWEST_PORT + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${LOWEST_PORT} to ${LOWEST_PORT + PORTS - 1}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Resolves when every primary shard is there and the licence is issued: both come a moment after the node answers. */
export async function untilReady(url: string, timeoutMs: number, giveUp?: AbortSignal): Promise<void> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = giveUp ? AbortSignal.any([deadline, giveUp]) : deadline;
  while (!(await isReady(url, signal))) {
    if (signal.aborted) throw new Error(`${url} was not ready after ${timeoutMs / 1000} s`);
    await sleep(100);
  }
}

async function isReady(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const health = await fetch(`${url}/_cluster/health?wait_for_status=yellow&timeout=5s`, { signal });
    return health.ok && (await fetch(`${url}/_license`, { signal })).ok;
  } catch {
    return false;
  }
}
