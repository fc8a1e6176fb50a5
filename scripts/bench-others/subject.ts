import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readMaterial } from './material.ts';
import { TOOLS } from './tools.ts';

/**
 * One measurement of one tool in a process of its own: `subject.ts MATERIAL FOLDER TOOL speed N` or `… quality`.
 * Prints one JSON document, as `others.py` does.
 */

const [material = '', folder = '', name = '', task = '', count = '0'] = process.argv.slice(2);
const open = TOOLS[name];
if (!open) throw new Error(`No tool is called ${name}: use ${Object.keys(TOOLS).join(', ')}.`);

const loaded = readMaterial(material);
const resident = (): number => process.memoryUsage.rss() / 1024 / 1024;
const before = resident();
let most = before;
const tool = await open(folder, loaded.embedder);
const START = Date.UTC(2025, 0, 1);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Lets the event loop turn, as it does between the requests of a server; native memory is given back only then. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const EVERY = 20;
/** Notes what the process holds; its peak since the start would count the loading of the material too. */
function sample(index: number): void {
  if (index % EVERY === 0) most = Math.max(most, resident());
}

async function speed(size: number): Promise<object> {
  const writes: number[] = [];
  const recalls: number[] = [];
  for (const [index, text] of loaded.texts.slice(0, size).entries()) {
    writes.push(await timed(() => tool.write('one', `m${index}`, text, START + index * 60_000)));
    await turn();
    sample(index);
  }
  for (const [index, question] of loaded.questions.entries()) {
    recalls.push(await timed(() => tool.recall('one', question, 8, START + size * 60_000)));
    await turn();
    sample(index);
  }
  return { writes, recalls };
}

async function quality(): Promise<object> {
  const answers: { id: string; ranked: string[] }[] = [];
  for (const { user, entries, questions } of loaded.lives) {
    let written = 0;
    for (const asked of [...questions].sort((a, b) => a.at - b.at)) {
      const due = entries.filter(({ at }) => at <= asked.at).slice(written);
      written += due.length;
      for (const { id, text, at } of due) await tool.write(user, id, text, at);
      answers.push({ id: asked.id, ranked: await tool.recall(user, asked.question, 50, asked.at) });
    }
  }
  return { answers };
}

const result = task === 'quality' ? await quality() : await speed(Number(count));
const megabytes = most - before;
await tool.close();
const disk = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((file) => statSync(join(folder, file)))
  .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
const { version, settings } = tool;
process.stdout.write(`${JSON.stringify({ tool: name, version, settings, ...result, megabytes, disk })}\n`);
process.exit(0);
