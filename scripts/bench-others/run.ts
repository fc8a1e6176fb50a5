import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/config.ts';
import { openEmbedder } from '../../src/open.ts';
import { optionsOrExit } from '../arguments.ts';
import { createVectors } from '../evaluate/vectors.ts';
import { readMaterial, writeMaterial } from './material.ts';
import { type Measured, type Raw, reportOf, summaryOf, writeTables } from './tables.ts';

/**
 * `npm run bench:others -- --data DIR`: Superseded beside what people would use instead, one tool a process, the same
 * texts and vectors. The Python tools are installed into a temporary folder; they never become dependencies.
 */

const USAGE = `npm run bench:others -- --data DIR [--sizes 1000,10000] [--tools NAMES] [--venv DIR] [--out DIR]

  --data DIR   folder with statebench/dev.jsonl and, for more texts, locomo/tune.json
  --sizes      memories to write before recalling (1000,10000)
  --tools      of ${'superseded, mastra, chroma, chroma-newest, langgraph, mem0'}
  --venv DIR   a Python environment to use or make; else one is made in a temporary folder and removed
  --out DIR    where others.json and others.md go; without it docs/evaluation.md is brought up to date
`;

const HERE = dirname(fileURLToPath(import.meta.url));
const NODE_TOOLS = ['superseded', 'mastra'];
const PYTHON_TOOLS = ['chroma', 'chroma-newest', 'langgraph', 'mem0'];
const REQUIREMENTS = ['chromadb==1.5.9', 'langgraph==1.2.24', 'langchain-core==1.8.3', 'mem0ai==2.2.1', 'numpy'];

const note = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const values = optionsOrExit(USAGE, {
    data: { type: 'string' },
    sizes: { type: 'string', default: '1000,10000' },
    tools: { type: 'string', default: [...NODE_TOOLS, ...PYTHON_TOOLS].join(',') },
    venv: { type: 'string' },
    out: { type: 'string' },
  });
  if (values.data === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const sizes = values.sizes.split(',').map(Number);
  const work = mkdtempSync(join(tmpdir(), 'superseded-others-'));
  try {
    const embedder = openEmbedder(readConfig());
    await writeMaterial(resolve(values.data), work, Math.max(...sizes), createVectors(embedder));
    await embedder.close();
    const tools = values.tools.split(',');
    const python = tools.some((name) => PYTHON_TOOLS.includes(name)) ? environment(values.venv, work) : null;
    const material = readMaterial(work);
    const measured: Measured[] = [];
    for (const tool of tools) {
      const run = (task: string[]): Raw => oneRun(python, tool, task, work);
      const quality = run(['quality']);
      const speeds = tool === 'chroma-newest' ? [] : sizes.map((size) => ({ size, raw: run(['speed', String(size)]) }));
      measured.push(summaryOf(tool, quality, speeds, material));
    }
    const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node ${process.version}`;
    for (const file of writeTables(reportOf(measured, machine), values.out ? resolve(values.out) : null))
      note(`wrote ${file}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The Python of an environment that has the tools. */
function environment(given: string | undefined, work: string): string {
  const folder = given ? resolve(given) : join(work, 'venv');
  const python = join(folder, 'bin/python');
  if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', folder], { stdio: ['ignore', 2, 2] });
  note('Installing the Python tools.');
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...REQUIREMENTS], {
    stdio: ['ignore', 2, 2],
  });
  return python;
}

function oneRun(python: string | null, tool: string, task: readonly string[], work: string): Raw {
  const folder = join(work, `${tool}-${task.join('-')}`);
  mkdirSync(folder);
  const started = performance.now();
  const [command, script] = NODE_TOOLS.includes(tool)
    ? [process.execPath, [...process.execArgv, join(HERE, 'subject.ts')]]
    : [python ?? 'python3', [join(HERE, 'others.py')]];
  const output = execFileSync(command, [...script, work, folder, tool, ...task], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
    maxBuffer: 64 * 1024 * 1024,
  });
  rmSync(folder, { recursive: true, force: true });
  note(`${tool} ${task.join(' ')}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  const last = output.trim().split('\n').at(-1) ?? '';
  return JSON.parse(last) as Raw;
}

main().catch((error: unknown) => {
  note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});
