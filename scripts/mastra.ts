import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { runNode } from '../src/run-node.ts';

/**
 * Runs the framework's command line, or the built server, for `npm run dev`, `npm run build` and `npm start`:
 * telemetry off on every platform, signals passed on, and the build made complete.
 */

const ROOT = resolve(import.meta.dirname, '..');
const OUTPUT = join(ROOT, '.mastra', 'output');
const ENTRY = join(OUTPUT, 'index.mjs');

/** What the bundle reads at run time besides its code. */
const SHIPPED = ['models', 'seeds', 'src/embedders/wasm-worker.js'];

export const QUIET = { MASTRA_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' } as const;

/** The framework's command line as Node runs it. */
export const mastraCli = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('mastra/package.json')), 'dist', 'index.js');

/** Runs a program of the framework; the answer is its exit code, 0 where it was asked to stop. */
export async function runQuietly(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  prints: 'stdout' | 'stderr' = 'stdout',
): Promise<number> {
  const { code, signal } = await runNode(args, {
    cwd: ROOT,
    stdio: ['inherit', prints === 'stdout' ? 'inherit' : process.stderr, 'inherit'],
    env: { ...process.env, ...QUIET, ...env },
  });
  return code ?? (signal === 'SIGINT' || signal === 'SIGTERM' ? 0 : 1);
}

/** The bundler writes a package.json of its own; the server tells the version in it. */
function writeVersion(): void {
  const read = (folder: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const built = { ...read(OUTPUT), version: read(ROOT).version };
  writeFileSync(join(OUTPUT, 'package.json'), `${JSON.stringify(built, null, 2)}\n`);
}

async function main([command = '', ...rest]: readonly string[]): Promise<number> {
  if (command === 'start') {
    if (existsSync(ENTRY)) return runQuietly([ENTRY, ...rest]);
    process.stderr.write('There is no built server yet. Run: npm run build\n');
    return 1;
  }
  const code = await runQuietly([mastraCli(), command, ...rest]);
  if (command === 'build' && code === 0) {
    for (const path of SHIPPED) cpSync(join(ROOT, path), join(OUTPUT, path), { recursive: true });
    writeVersion();
  }
  return code;
}

if (process.argv[1] && resolve(process.argv[1]) === import.meta.filename) {
  process.exitCode = await main(process.argv.slice(2));
}
