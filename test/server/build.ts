import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { cleanEnvironment } from './environment.ts';

/** `npm run build`, once for the run and in a copy: a `mastra dev` at work in the checkout writes to the same folder. */

const ROOT = resolve(import.meta.dirname, '..', '..');
const BUILT_FROM = [
  'src',
  'scripts',
  'models',
  'seeds',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  '.npmrc',
];
const OUTPUT_KEPT = 8_000;

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the copy; the built server is in `.mastra/output`. */
    built: string;
  }
}

export default async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'superseded-server-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    for (const path of BUILT_FROM) {
      if (existsSync(join(ROOT, path))) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const start = performance.now();
    await build(folder);
    console.info(`npm run build: ${((performance.now() - start) / 1000).toFixed(0)} s`);
  } catch (error) {
    remove();
    throw error;
  }
  provide('built', folder);
  return remove;
}

function build(folder: string): Promise<void> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/mastra.ts', 'build'], {
    cwd: folder,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_KEPT);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`npm run build failed:\n${output}`))));
  });
}
