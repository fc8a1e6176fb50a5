import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config.ts';
import type { ChatAnswer } from '../src/http/chat-route.ts';
import { createTravelAgent } from '../src/mastra/agent.ts';
import { createChat } from '../src/mastra/chat.ts';
import { createModel, isConfigured } from '../src/mastra/model.ts';
import { type ModelSettings, NO_MODEL_HINT } from '../src/mastra/model-errors.ts';
import { preRecall } from '../src/mastra/pre-recall.ts';
import { makeTools } from '../src/mastra/tools.ts';
import { openSuperseded } from '../src/open.ts';
import { projectFile } from '../src/project-file.ts';
import { readMemories, seed } from '../src/seeds.ts';
import type { Superseded } from '../src/superseded.ts';
import { breachesOf, REVERSALS, wilson } from './agent-checks.ts';
import { STAND_IN_MODEL } from './openrouter-stub.ts';

/**
 * How often a real model's plan honours what the traveller changed their mind about, without ageing (`flat`) and with
 * it (`default`). Nothing links the reversals in the seeds: only age tells. Every run has a fresh store.
 */

export const QUESTION = 'Plan a free day in San Francisco for me.';
export const EVALUATED = ['flat', 'default'] as const;
type Evaluated = (typeof EVALUATED)[number];

export interface Run {
  preset: Evaluated;
  /** Null where the turn failed; `error` says why. */
  answer: ChatAnswer | null;
  error?: string;
}

export interface Row {
  reversal: string;
  preset: Evaluated;
  runs: number;
  honoured: number;
  low: number;
  high: number;
  /** Runs in which the memory in force reached the model, and in which the reversed one stood before it. */
  currentSeen: number;
  staleFirst: number;
}

export interface Options {
  settings: ModelSettings;
  runs: number;
  /** A seeded store of its own for one run. */
  open: () => Promise<Superseded>;
  onRun?: (run: Run) => void;
}

export async function evaluateAgent({ settings, runs, open, onRun }: Options): Promise<Run[]> {
  const done: Run[] = [];
  for (let index = 0; index < runs; index++) {
    for (const preset of EVALUATED) {
      const run = await runOnce(settings, preset, await open());
      done.push(run);
      onRun?.(run);
    }
  }
  return done;
}

async function runOnce(settings: ModelSettings, preset: Evaluated, service: Superseded): Promise<Run> {
  const agent = createTravelAgent({
    model: createModel(settings),
    tools: makeTools({ service, preset }),
    preRecall: preRecall({ service, preset }),
  });
  const chat = createChat({ agent, isConfigured: () => isConfigured(settings) });
  try {
    const signal = new AbortController().signal;
    const answer = await chat.generate({ message: QUESTION, thread: null, user: 'demo', signal });
    return { preset, answer };
  } catch (error) {
    return { preset, answer: null, error: error instanceof Error ? error.message : String(error) };
  } finally {
    await service.close();
  }
}

/** Ids in the order in which recalls showed them to the model. */
const shownIds = ({ steps }: ChatAnswer): string[] =>
  steps
    .filter(({ tool }) => tool === 'recall' || tool === 'pre-recall')
    .flatMap(({ output }) =>
      [...JSON.stringify(output).matchAll(/"memory":\{"id":"([^"]+)"/g)].map((match) => match[1] ?? ''),
    );

/** One row a reversal and preset; turns that failed are left out and counted by the caller. */
export function tabulate(runs: readonly Run[]): Row[] {
  return REVERSALS.flatMap((reversal) =>
    EVALUATED.map((preset) => {
      const answers = runs.flatMap((run) => (run.preset === preset && run.answer ? [run.answer] : []));
      const honoured = answers.filter(({ reply }) => breachesOf(reply, reversal).length === 0).length;
      const shown = answers.map(shownIds);
      const before = (ids: string[]) => {
        const [stale, current] = [ids.indexOf(reversal.stale), ids.indexOf(reversal.current)];
        return stale !== -1 && (current === -1 || stale < current);
      };
      return {
        reversal: reversal.name,
        preset,
        runs: answers.length,
        honoured,
        ...wilson(honoured, answers.length),
        currentSeen: shown.filter((ids) => ids.includes(reversal.current)).length,
        staleFirst: shown.filter(before).length,
      };
    }),
  );
}

export function describeRows(rows: readonly Row[], runs: readonly Run[], model: string): string {
  const failed = runs.filter(({ answer }) => answer === null);
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const cells = rows.map((row) => [
    row.reversal,
    row.preset,
    `${row.honoured} of ${row.runs}`,
    `${percent(row.low)} to ${percent(row.high)}`,
    `${row.currentSeen}`,
    `${row.staleFirst}`,
  ]);
  const head = ['reversal', 'preset', 'honoured', '95 % interval', 'current seen', 'stale shown first'];
  const table = [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`);
  return [
    `${model}, asked ${runs.length / EVALUATED.length} times under each preset: “${QUESTION}”`,
    '',
    ...table,
    '',
    'Honoured: no sentence of the plan proposes what the newer memory rules out (fixed rules over the words).',
    ...(model === STAND_IN_MODEL
      ? ['This was a scripted stand-in, not a language model: the numbers say nothing about one.']
      : []),
    ...(failed.length > 0 ? [`${failed.length} turns failed and are left out; the last: ${failed.at(-1)?.error}`] : []),
  ].join('\n');
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { runs: { type: 'string', default: '10' }, model: { type: 'string' }, json: { type: 'boolean' } },
  });
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1 || runs > 1000) {
    process.stderr.write('--runs is a whole number from 1 to 1000.\n');
    return 2;
  }
  const config = readConfig();
  const settings = { ...config.openRouter, ...(values.model ? { model: values.model } : {}) };
  if (!isConfigured(settings)) {
    process.stderr.write(
      `This asks a real language model ${runs * 2} times, and none is configured. ${NO_MODEL_HINT}\n`,
    );
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'superseded-evaluate-'));
  let opened = 0;
  const open = async () => {
    const service = openSuperseded({ ...config, elasticsearch: null }, { db: join(folder, `${++opened}.db`) });
    const { store: _, ...actor } = await service.actor('user:demo', 'demo', 'cli');
    await seed(service.store, actor, readMemories(projectFile('seeds/memories.json')));
    return service;
  };
  try {
    const onRun = ({ preset, error }: Run) => process.stderr.write(`${preset}${error ? `: ${error}` : ''}\n`);
    const done = await evaluateAgent({ settings, runs, open, onRun });
    const rows = tabulate(done);
    const text = values.json
      ? JSON.stringify({ model: settings.model, rows })
      : describeRows(rows, done, settings.model);
    process.stdout.write(`${text}\n`);
    return done.some(({ answer }) => answer !== null) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] && resolve(process.argv[1]) === import.meta.filename) process.exitCode = await main();
