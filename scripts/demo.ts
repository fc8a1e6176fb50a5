import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/config.ts';
import { openSuperseded } from '../src/open.ts';
import { projectFile } from '../src/project-file.ts';
import { readMemories, seed } from '../src/seeds.ts';
import { optionsOrExit } from './arguments.ts';
import { mastraCli, runQuietly } from './mastra.ts';
import { STAND_IN_MODEL, startStub } from './openrouter-stub.ts';
import { SCRIPTED } from './stand-in.ts';

/** The whole beat without a key: a scripted stand-in for the model, a seeded throw-away store, and Studio. */

const USAGE = `npm run demo [-- --json]

Fills a throw-away store with the seeds and opens Studio over it, with a script in place of the language model. Needs no
key. --json prints where it is, as one JSON document, once it is up; all else goes to standard error.`;

const options = optionsOrExit(USAGE, { json: { type: 'boolean', default: false } });

const config = readConfig();
const folder = mkdtempSync(join(tmpdir(), 'superseded-demo-'));
const db = join(folder, 'memories.db');

async function fill(): Promise<void> {
  const service = openSuperseded({ ...config, elasticsearch: null, embeddings: null }, { db });
  const { store: _, ...actor } = await service.actor('user:demo', 'demo', 'cli');
  const memories = readMemories(projectFile('seeds/memories.json'));
  await seed(service.store, actor, memories);
  await service.close();
  say(`Stored ${memories.length} memories in ${db}; they go when the demo ends.`);
}

/** The wanted port, or a free one where that is taken. */
async function freePort(wanted: number): Promise<number> {
  for (const port of [wanted, 0]) {
    const server = createServer();
    const free = await new Promise<number | null>((resolve) => {
      server.once('error', () => resolve(null));
      server.listen(port, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address ? address.port : null);
      });
    });
    await new Promise((resolve) => server.close(resolve));
    if (free !== null) return free;
  }
  return wanted;
}

/** Every setting the demo must not take from the user's own environment or .env. */
const settings = (port: number, stub: string): Record<string, string> => ({
  SUPERSEDED_DB: db,
  SUPERSEDED_HOST: '127.0.0.1',
  PORT: String(port),
  SUPERSEDED_TOKENS: '',
  SUPERSEDED_ADMIN_TOKENS: '',
  SUPERSEDED_REPLAY: '0',
  ELASTICSEARCH_URL: '',
  ELASTICSEARCH_CLOUD_ID: '',
  ELASTICSEARCH_USERNAME: '',
  ELASTICSEARCH_PASSWORD: '',
  EMBEDDINGS_URL: '',
  EMBEDDINGS_MODEL: '',
  OPENROUTER_API_KEY: 'none-needed',
  OPENROUTER_MODEL: STAND_IN_MODEL,
  OPENROUTER_BASE_URL: stub,
});

const say = (line: string): void => {
  (options.json ? process.stderr : process.stdout).write(`${line}\n`);
};

async function announce(port: number): Promise<void> {
  const base = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 600; attempt++) {
    const up = await fetch(`${base}/v1/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (up) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  if (options.json) {
    const where = { studio: `${base}/agents/travel-agent`, http: `${base}/v1`, model: SCRIPTED };
    process.stdout.write(`${JSON.stringify(where, null, 2)}\n`);
  }
  say(
    [
      '',
      `Studio is open at ${base}/agents/travel-agent`,
      `It is answered by a script: “${SCRIPTED}”`,
      '',
      'Try, in this order:',
      '  1. Plan a free day in San Francisco for me.',
      '  2. My knee has healed, long walks are welcome again.',
      '  3. Plan a free day in San Francisco for me.',
      '',
      `The same over HTTP: curl ${base}/v1/chat -H 'content-type: application/json' -d '{"message":"Plan a free day in San Francisco for me."}'`,
      'Ctrl-C ends it.',
      '',
    ].join('\n'),
  );
}

const stub = await startStub();
try {
  await fill();
  const port = await freePort(config.port);
  const env = settings(port, stub.url);
  const envFile = join(folder, 'demo.env');
  writeFileSync(
    envFile,
    Object.entries(env)
      .map(([name, value]) => `${name}="${value}"`)
      .join('\n'),
  );
  say('Starting Studio; the first time takes about half a minute.');
  void announce(port);
  process.exitCode = await runQuietly([mastraCli(), 'dev', '--env', envFile], env, options.json ? 'stderr' : 'stdout');
} finally {
  await stub.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
