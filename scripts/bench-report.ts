import { readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Measured, MeasuredEmbedding, Report } from './bench.ts';

/** The benchmark's numbers as the README's table; run by itself it writes the table between the README's markers. */

const pair = ({ p50, p95 }: { p50: number; p95: number }): string => `${p50} / ${p95}`;

const storeLine = (row: Measured): string =>
  `| ${row.memories.toLocaleString('en')} of ${row.users === 1 ? '1 user' : `${row.users.toLocaleString('en')} users`} | ${[pair(row.recall), pair(row.asOf), pair(row.remember), pair(row.confirm), pair(row.close), `${row.windows.p50}, of one topic ${row.windowsOfOneTopic.p50}`, `${row.residentMb} MB`, `${row.fileMb} MB`].join(' | ')} |`;

const embeddingLine = ({ runtime, loadMs, question, passage }: MeasuredEmbedding): string =>
  `| ${runtime === 'native' ? 'native ONNX runtime' : 'WebAssembly'} | ${loadMs} ms | ${pair(question)} | ${pair(passage)} |`;

/** The same memories on Elasticsearch and in the embedded store, in one sentence. */
function elasticsearchLine(measured: Report['elasticsearch']): string[] {
  if (!measured) return [];
  const { memories, users, fillSeconds, recall, windows, windowsOfEveryone, mostResidentMb, note } = measured;
  const size = `${memories.toLocaleString('en')} memories of ${users.toLocaleString('en')} users`;
  return [
    '',
    `On Elasticsearch, ${size}: loaded in ${fillSeconds.elasticsearch} s with at most ${mostResidentMb} MB resident here, ` +
      `recall ${pair(recall.elasticsearch)} ms, beside ${pair(recall.embedded)} ms in the embedded store over the same data; learning one user's windows ` +
      `${pair(windows.elasticsearch)} ms, everyone's ${pair(windowsOfEveryone.elasticsearch)} ms. ${note}`,
  ];
}

export function reportTable({ at, machine, stores, embedding, elasticsearch }: Report): string {
  return [
    `Milliseconds, p50 / p95, measured on ${at} (${machine.cores} cores, ${machine.cpu.trim()}, Node ${machine.node}). Search is apart from embedding the question.`,
    '',
    '| embedded store | recall | recall as of the past | remember | confirm | close | learn windows | resident | file |',
    '|---|---|---|---|---|---|---|---|---|',
    ...stores.map(storeLine),
    '',
    '| embedding | load | a question | a memory of 60 words |',
    '|---|---|---|---|',
    ...embedding.map(embeddingLine),
    ...elasticsearchLine(elasticsearch),
  ].join('\n');
}

export const BENCH_FILE = new URL('../docs/bench.json', import.meta.url);

if (argv[1] === fileURLToPath(import.meta.url)) {
  const readme = new URL('../README.md', import.meta.url);
  const table = reportTable(JSON.parse(readFileSync(BENCH_FILE, 'utf8')) as Report);
  const text = readFileSync(readme, 'utf8');
  writeFileSync(readme, text.replace(/(<!-- bench -->)[\s\S]*(<!-- \/bench -->)/, `$1\n${table}\n$2`));
}
