import { existsSync } from 'node:fs';
import { SupersededError } from '../errors.ts';
import { projectFile } from '../project-file.ts';
import { runNode } from '../run-node.ts';
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
    const { code } = await runNode(['--import', 'tsx', file, ...args]);
    return { json: null, text: () => '', raw: '', exitCode: code ?? 1 };
  },
});

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
