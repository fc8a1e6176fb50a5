import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'superseded-package-'));
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** What somebody writes who puts the memory on an agent of their own. */
const AGENT = `import { Agent } from '@mastra/core/agent';
import { MASTRA_RESOURCE_ID_KEY, RequestContext } from '@mastra/core/request-context';
import { openSuperseded, readConfig } from 'superseded';
import { MEMORY_INSTRUCTIONS, makeTools, preRecall } from 'superseded/mastra';
import { model, seen } from './model.ts';

const service = openSuperseded(readConfig({ SUPERSEDED_DB: 'memories.db', SUPERSEDED_CACHE: 'cache' }));
await service.for('ada').remember({ id: 'tea', content: 'I drink green tea.', topic: 'preference' });
const agent = new Agent({ id: 'mine', name: 'Mine', instructions: MEMORY_INSTRUCTIONS, model,
  tools: makeTools({ service }), inputProcessors: [preRecall({ service })] });
const requestContext = new RequestContext();
requestContext.set(MASTRA_RESOURCE_ID_KEY, 'ada');
const { text } = await agent.generate('What do I drink?', { requestContext });
console.log(JSON.stringify({ text, seen }));
await service.close();
`;

/** A language model by hand: it calls recall once, then answers. */
const MODEL = `import type { MastraModelConfig } from '@mastra/core/llm';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
export const seen: string[] = [];
const call = { type: 'tool-call', toolCallId: '1', toolName: 'recall', input: '{"query":"drink"}' };
const whole = async ({ prompt }: { prompt: unknown }) => {
  seen.push(JSON.stringify(prompt));
  const first = seen.length === 1;
  const content = first ? [call] : [{ type: 'text', text: 'Green tea.' }];
  return { content, finishReason: first ? 'tool-calls' : 'stop', usage, warnings: [], stream: new ReadableStream() };
};
export const model: MastraModelConfig = {
  specificationVersion: 'v2', provider: 'hand', modelId: 'made', supportedUrls: {}, doGenerate: whole, doStream: whole,
};
`;

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2023',
    module: 'ES2022',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: [],
  },
  include: ['*.ts'],
};

let packed: string[] = [];

beforeAll(async () => {
  const { stdout } = await run(npm, ['pack', '--json', '--pack-destination', folder], {
    cwd: ROOT,
    maxBuffer: 2 ** 26,
  });
  const [{ filename, files }]: [{ filename: string; files: { path: string }[] }] = JSON.parse(
    stdout.slice(stdout.indexOf('[\n')),
  );
  packed = files.map(({ path }) => path);
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const core = dependencies['@mastra/core'];
  const manifest = {
    name: 'mine',
    private: true,
    type: 'module',
    dependencies: { superseded: `file:${filename}`, '@mastra/core': core },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  writeFileSync(join(folder, 'agent.ts'), AGENT);
  writeFileSync(join(folder, 'model.ts'), MODEL);
  await run(npm, ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('holds what it needs and nothing of the workshop', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'bin/superseded.js',
        'dist/library.js',
        'dist/library.d.ts',
        'dist/mastra/library.js',
        'models/e5-small-v2/model.onnx',
        'seeds/memories.json',
        'src/embedders/wasm-worker.js',
      ]),
    );
    expect(packed.filter((path) => /^(test|scripts|\.ci|\.mastra|docs)\//.test(path) || /\.env/.test(path))).toEqual(
      [],
    );
  });

  it('type-checks in a project of its own', async () => {
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });

  it('gives an agent of somebody else its memory, in 15 lines', async () => {
    const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
    const { stdout } = await run(process.execPath, [tsx, 'agent.ts'], { cwd: folder });
    const { text, seen } = JSON.parse(stdout.slice(stdout.lastIndexOf('{"text"')));
    expect(text).toBe('Green tea.');
    expect(seen[0]).toContain('recalled-before-the-message');
    expect(seen[1]).toContain('I drink green tea.');
    expect(AGENT.trim().split('\n').length).toBeLessThanOrEqual(18);
  });

  it('has a command line', async () => {
    const bin = join(folder, 'node_modules', '.bin', 'superseded');
    const env = { ...process.env, SUPERSEDED_CACHE: join(folder, 'cache') };
    const { stdout } = await run(
      bin,
      ['recall', 'What do I drink?', '--user', 'ada', '--db', 'memories.db', '--json'],
      {
        cwd: folder,
        env,
      },
    );
    expect(JSON.parse(stdout).hits[0].memory.id).toBe('tea');
  });
});
