import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { SupersededError } from '../errors.ts';
import { projectFile } from '../project-file.ts';
import type { Command } from './command.ts';

/** Commands that only a checkout has: scripts beside the sources, which read their own arguments and help. */

const scripted = (command: Pick<Command, 'name' | 'summary' | 'example'>, script: string): Command => ({
  ...command,
  arguments: [],
  options: {},
  handsOn: true,
  async run({ arguments: args }) {
    const file = projectFile(script);
    if (!existsSync(file)) {
      throw new SupersededError('UNSUPPORTED', `The package does not hold what ${command.name} runs.`, {
        hint: 'Run it in a checkout of the repository, after npm install.',
      });
    }
    const exitCode = await runScript(file, args);
    return { json: null, text: () => '', raw: '', exitCode };
  },
});

/** Runs until the script ends, in the caller's terminal; the answer is its exit code. */
function runScript(file: string, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], { stdio: 'inherit' });
  const passOn = (signal: NodeJS.Signals) => () => void child.kill(signal);
  const signals = (['SIGTERM', 'SIGHUP'] as const).map((signal) => [signal, passOn(signal)] as const);
  // Ctrl-C reaches the child by itself: it is of the same process group.
  const wait = () => {};
  process.on('SIGINT', wait);
  for (const [signal, handler] of signals) process.on(signal, handler);
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  }).finally(() => {
    process.off('SIGINT', wait);
    for (const [signal, handler] of signals) process.off(signal, handler);
  });
}

export const CHECKOUT_COMMANDS: readonly Command[] = [
  scripted(
    {
      name: 'demo',
      summary: 'Open Studio over a seeded throw-away store, a script in place of the language model.',
      example: 'npx superseded demo',
    },
    'scripts/demo.ts',
  ),
  scripted(
    {
      name: 'evaluate',
      summary: 'Measure ranking and learned windows against baselines, with intervals, tables and plots.',
      example: 'npx superseded evaluate --sets seeds,learned --json',
    },
    'scripts/evaluate/run.ts',
  ),
  scripted(
    {
      name: 'bench',
      summary: 'Measure speed and memory of a store, and of embedding.',
      example: 'npx superseded bench --sizes 1000 --out bench.json',
    },
    'scripts/bench.ts',
  ),
];
