import { type ChildProcess, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { runCommandLine } from '../src/command-line.ts';
import { temporaryFolder } from './temporary.ts';

export const ROOT = resolve(import.meta.dirname, '..');
/** Vectors of the tests' texts, kept between runs. */
export const TEST_CACHE = join(ROOT, 'node_modules', '.cache', 'superseded-test');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

const environment = (env: Record<string, string>): Record<string, string> => ({
  NO_COLOR: '1',
  SUPERSEDED_DB: join(temporaryFolder(), 'memories.db'),
  SUPERSEDED_CACHE: TEST_CACHE,
  ...env,
});

/** Starts the command line in a process of its own, as a user's shell would. */
export function startCli(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const settings = /^(ELASTICSEARCH|EMBEDDINGS|SUPERSEDED|OPENROUTER)_/;
  const inherited = Object.entries(process.env).filter(([name]) => !settings.test(name));
  return spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'src', 'cli.ts'), ...args], {
    cwd: ROOT,
    env: { ...Object.fromEntries(inherited), ...environment(env) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export function ended(child: ChildProcess): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...output }));
  });
}

/** Runs the command line in this process. */
export async function runCli(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  const into = (stream: 'stdout' | 'stderr') => ({
    isTTY: false,
    write: (text: string | Uint8Array, done?: unknown) => {
      output[stream] += text;
      if (typeof done === 'function') done();
      return true;
    },
  });
  const code = await runCommandLine(args, { stdout: into('stdout'), stderr: into('stderr'), env: environment(env) });
  return { code, ...output };
}
