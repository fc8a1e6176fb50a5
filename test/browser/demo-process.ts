import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** `npm run demo` as a process of its own, and where a browser may be found. */

const ROOT = resolve(import.meta.dirname, '..', '..');

/** Where Chromium is; null where there is none. */
export const chromiumPath = (): string | null =>
  [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  ) ?? null;

export const CHROMIUM_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Demo {
  /** Studio's page of the agent. */
  studio: string;
  origin: string;
  stop(): Promise<void>;
}

/** Starts the demo and waits until it says where Studio is; rejects with its output where it ends before that. */
export function startDemo(port: number): Promise<Demo> {
  const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
  const child = spawn(process.execPath, [tsx, 'scripts/demo.ts'], {
    cwd: ROOT,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk;
      const studio = /Studio is open at (\S+)/.exec(output)?.[1];
      if (studio) resolve({ studio, origin: new URL(studio).origin, stop: () => stop(child) });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`The demo ended early:\n${output.slice(-2000)}`)));
  });
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.pid === undefined) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGINT');
  });
}
