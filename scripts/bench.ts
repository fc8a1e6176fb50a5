import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silenceTelemetry } from '../src/config.ts';
import { createLocalEmbedder } from '../src/embedders/local.ts';
import { createEmbeddedStore } from '../src/stores/embedded.ts';
import { createSuperseded } from '../src/superseded.ts';
import { optionsOrExit } from './arguments.ts';
import { embedder, megabytes, NOW, questionOf, rowOf, sentence, timesOf, unitVector } from './bench-data.ts';
import { measureElasticsearch } from './bench-elasticsearch.ts';

/** Speed, memory and file size of the embedded store on synthetic memories, and of embedding apart from it. */

const USAGE = `npm run bench -- [--sizes 1000,10000,100000] [--users 1000] [--queries 200] [--out FILE]

Prints a table (with --json the numbers), and writes the numbers as JSON to FILE (docs/bench.json). Each size runs in a
process of its own.

npm run bench -- --elasticsearch URL|test-node [--size 100000] [--users 1000] [--queries 200] [--out FILE]

Loads the memories into an index of its own, removed afterwards, and into an embedded store, asks both the same
questions, and writes the numbers beside the others in FILE. \`test-node\` starts the node of the tests, whose ES|QL
is answered by a stand-in.`;

const options = optionsOrExit(USAGE, {
  sizes: { type: 'string', default: '1000,10000,100000' },
  users: { type: 'string', default: '1000' },
  queries: { type: 'string', default: '200' },
  out: { type: 'string', default: fileURLToPath(new URL('../docs/bench.json', import.meta.url)) },
  elasticsearch: { type: 'string' },
  size: { type: 'string', default: '100000' },
  only: { type: 'string' },
  json: { type: 'boolean', default: false },
});

silenceTelemetry();

/** Whole numbers from 1, or the script ends as for any wrong use. */
function wholeOrExit(name: string, text: string): number[] {
  const numbers = text.split(',').map(Number);
  if (numbers.every((number) => Number.isSafeInteger(number) && number >= 1)) return numbers;
  process.stderr.write(`--${name} ${text} is not made of whole numbers from 1.\n\n${USAGE}\n`);
  process.exit(2);
}

async function measure(size: number, users: number, queries: number) {
  const folder = mkdtempSync(join(tmpdir(), 'superseded-bench-'));
  const file = join(folder, 'bench.db');
  try {
    const base = process.memoryUsage().rss;
    const filling = createEmbeddedStore({ file, model: embedder.model });
    await filling.setup();
    const start = performance.now();
    for (let from = 0; from < size; from += 1000) {
      const count = Math.min(1000, size - from);
      await filling.load({
        insert: Array.from({ length: count }, (_, at) => ({ row: rowOf(from + at, users), vector: unitVector() })),
      });
      process.stderr.write(`\r${from + count} of ${size} written `);
    }
    process.stderr.write('\r');
    const fillSeconds = (performance.now() - start) / 1000;
    await filling.close();
    const store = createEmbeddedStore({ file, model: embedder.model });
    const service = createSuperseded({ store, embedder, clock: () => NOW });
    const handle = (index: number) => store.for(`user:u${index % users}`);
    const first = await timesOf(1, () => handle(0).rank(questionOf()));
    if (users > 1) await timesOf(Math.min(users, 300), (index) => handle(index).rank(questionOf()));
    else await timesOf(20, () => handle(0).rank(questionOf()));
    const recall = await timesOf(queries, (index) => handle(index).rank(questionOf()));
    const past = NOW - 200 * 86_400_000;
    const asOf = await timesOf(queries, (index) => handle(index).rank(questionOf({ asOf: past, knownAt: NOW })));
    const rss = process.memoryUsage().rss;
    const windows = await timesOf(20, () => handle(0).lifetimes(NOW));
    const windowsOfOneTopic = await timesOf(20, () => handle(0).lifetimes(NOW, ['plan']));
    const mine = service.for('u0');
    const remember = await timesOf(100, (index) => mine.remember({ content: sentence(35), id: `new-${index}` }));
    const confirm = await timesOf(100, (index) => mine.confirm(`new-${index}`));
    const feedback = await timesOf(100, (index) => mine.feedback(`new-${index}`, { outcome: 1 }));
    const close = await timesOf(100, (index) => mine.close(`new-${index}`));
    await service.close();
    return {
      memories: size,
      users,
      fillSeconds: Math.round(fillSeconds * 10) / 10,
      firstRecallMs: first.p50,
      recall,
      asOf,
      remember,
      confirm,
      feedback,
      close,
      windows,
      windowsOfOneTopic,
      residentMb: megabytes(rss - base),
      fileMb: megabytes(statSync(file).size),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
export type Measured = Awaited<ReturnType<typeof measure>>;

async function measureEmbedding(runtime: 'native' | 'wasm') {
  const local = createLocalEmbedder({ runtime });
  const start = performance.now();
  await local.embedQuery('warm');
  const loadMs = Math.round(performance.now() - start);
  const question = await timesOf(20, (index) => local.embedQuery(`How far can I walk on day ${index}?`));
  const passage = await timesOf(10, (index) =>
    local.embedPassages([`${index} ${'A plain memory of some sixty words. '.repeat(9)}`]),
  );
  await local.close();
  return { runtime, loadMs, question, passage };
}
export type MeasuredEmbedding = Awaited<ReturnType<typeof measureEmbedding>>;

/** One measurement in a process of its own, so that memory is its own too. */
function apart<T>(only: string): T {
  const args = [
    '--expose-gc',
    '--import',
    'tsx',
    fileURLToPath(import.meta.url),
    '--only',
    only,
    '--queries',
    options.queries,
  ];
  const { status, stdout } = spawnSync(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The measurement ${only} failed.`);
  return JSON.parse(stdout) as T;
}

async function main(): Promise<void> {
  if (options.only) {
    const [what = '', size, users] = options.only.split(':');
    const result =
      what === 'store'
        ? await measure(Number(size), Number(users), Number(options.queries))
        : await measureEmbedding(what === 'wasm' ? 'wasm' : 'native');
    process.stdout.write(JSON.stringify(result));
    return;
  }
  for (const name of ['size', 'users', 'queries'] as const) wholeOrExit(name, options[name]);
  if (options.elasticsearch) {
    const [size, users, queries] = [options.size, options.users, options.queries].map(Number) as [
      number,
      number,
      number,
    ];
    const elasticsearch = await measureElasticsearch(options.elasticsearch, { size, users, queries });
    writeFileSync(options.out, `${JSON.stringify({ ...written(), elasticsearch }, null, 2)}\n`);
    console.log(JSON.stringify(elasticsearch, null, 2));
    return;
  }
  const sizes = wholeOrExit('sizes', options.sizes);
  const stores = sizes.map((size) => apart<Measured>(`store:${size}:1`));
  const many = Number(options.users) > 1 ? [apart<Measured>(`store:${Math.max(...sizes)}:${options.users}`)] : [];
  const embedding = (['native', 'wasm'] as const).map((runtime) => apart<MeasuredEmbedding>(runtime));
  const machine = {
    node: process.version,
    cpu: cpus()[0]?.model ?? '',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
  };
  const report = {
    ...written(),
    at: new Date().toISOString().slice(0, 10),
    machine,
    stores: [...stores, ...many],
    embedding,
  };
  writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
  const { reportTable } = await import('./bench-report.ts');
  console.log(options.json ? JSON.stringify(report, null, 2) : reportTable(report));
}

/** The report as it is, of which each run replaces its own part. */
const written = (): object =>
  existsSync(options.out) ? (JSON.parse(readFileSync(options.out, 'utf8')) as object) : {};

export interface Report {
  at: string;
  machine: { node: string; cpu: string; cores: number; memoryGb: number };
  stores: Measured[];
  embedding: MeasuredEmbedding[];
  elasticsearch?: Awaited<ReturnType<typeof measureElasticsearch>>;
}

await main();
