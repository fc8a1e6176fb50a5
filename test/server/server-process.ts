import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { STAND_IN_MODEL } from '../../scripts/openrouter-stub.ts';
import { freePort } from '../elasticsearch-node/ready.ts';
import { type Answered, read } from '../http-app.ts';
import { TEST_CACHE } from '../run-cli.ts';
import { cleanEnvironment } from './environment.ts';

/** The built server as a process of its own, and requests to it. */

export const TOKENS = { ann: 'token-of-ann', ben: 'token-of-ben', root: 'token-of-root' } as const;
export type User = keyof typeof TOKENS;

const WITH_TOKENS = {
  SUPERSEDED_TOKENS: `${TOKENS.ann}:ann,${TOKENS.ben}:ben`,
  SUPERSEDED_ADMIN_TOKENS: `${TOKENS.root}:root`,
};

const UP_MS = 120_000;
const END_MS = 60_000;
const STDERR_KEPT = 20_000;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  log: string;
}

export interface ServerProcess {
  url: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A request with a user's token, or none, and a JSON body. */
  send(user: User | null, method: string, path: string, body?: unknown): Promise<Answered>;
  /** Asks it to end and waits until it has; one that does not is killed, which the answer shows. */
  end(signal?: NodeJS.Signals): Promise<Ended>;
  log(): string;
}

/** The process that is started: the bundle itself, or the command behind `npm start`. */
export type Way = 'bundle' | 'npm start';

/** Starts a server without waiting for it. It has tokens unless `settings` empties them. */
export function spawnServer(settings: Record<string, string>, way: Way = 'bundle') {
  const built = inject('built');
  const args =
    way === 'bundle'
      ? [join(built, '.mastra', 'output', 'index.mjs')]
      : ['--import', 'tsx', 'scripts/mastra.ts', 'start'];
  const child = spawn(process.execPath, args, {
    cwd: built,
    env: cleanEnvironment({ SUPERSEDED_CACHE: TEST_CACHE, ...WITH_TOKENS, ...settings }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-STDERR_KEPT);
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, log: output }));
  });
  return { child, ended, log: () => output };
}

/** Starts a server on a free port of this machine and waits until it answers. */
export async function startServer(settings: Record<string, string>, way: Way = 'bundle'): Promise<ServerProcess> {
  const port = await freePort();
  const { child, ended, log } = spawnServer({ PORT: String(port), ...settings }, way);
  const url = `http://127.0.0.1:${port}`;
  const request = (path: string, init?: RequestInit) => fetch(`${url}${path}`, init);
  const end = (signal: NodeJS.Signals = 'SIGTERM') => endOf(child, ended, signal);
  const deadline = performance.now() + UP_MS;
  for (;;) {
    const early = await Promise.race([ended, sleep(100)]);
    if (early) throw new Error(`The server ended early, with ${early.code ?? early.signal}:\n${early.log}`);
    const up = await request('/v1/health').then(
      (response) => response.ok,
      () => false,
    );
    if (up) break;
    if (performance.now() < deadline) continue;
    await end('SIGKILL');
    throw new Error(`The server did not answer within ${UP_MS / 1000} s:\n${log()}`);
  }
  const send: ServerProcess['send'] = async (user, method, path, body) =>
    read(await request(path, requestOf(user, method, body)));
  return { url, fetch: request, send, end, log };
}

export function requestOf(
  user: User | null,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): RequestInit {
  return {
    method,
    headers: {
      ...(user ? { authorization: `Bearer ${TOKENS[user]}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

async function endOf(child: ChildProcess, ended: Promise<Ended>, signal: NodeJS.Signals): Promise<Ended> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  const late = setTimeout(() => child.kill('SIGKILL'), END_MS);
  try {
    return await ended;
  } finally {
    clearTimeout(late);
  }
}

/** The model of the agent: the scripted stand-in behind a stub of OpenRouter. */
export const modelAt = (url: string): Record<string, string> => ({
  OPENROUTER_API_KEY: 'none-needed',
  OPENROUTER_MODEL: STAND_IN_MODEL,
  OPENROUTER_BASE_URL: url,
});

/** p50 and p95 of durations in milliseconds, in words. */
export function percentiles(durations: readonly number[]): string {
  const sorted = [...durations].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0);
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`;
}
