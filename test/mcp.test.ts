import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { createMcpServer } from '../src/mastra/mcp.ts';
import { afterThisTest, temporaryFolder, temporaryService } from './temporary.ts';

const ROOT = resolve(import.meta.dirname, '..');

interface Client {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer
  ask(method: string, params?: unknown): Promise<any>;
  /** Lines on standard output that are no JSON-RPC. */
  noise: string[];
  child: ChildProcess;
}

/** A client of the 2025 protocol over a child's standard input and output. */
async function connect(user: string, db: string): Promise<Client> {
  const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
  const args = [tsx, 'src/cli.ts', 'mcp', '--user', user, '--db', db];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'ignore'] });
  afterThisTest(() => void child.kill());
  const waiting = new Map<number, (answer: unknown) => void>();
  const noise: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    try {
      const { id, result, error } = JSON.parse(line);
      waiting.get(id)?.(result ?? { error });
    } catch {
      if (line !== '') noise.push(line);
    }
  });
  let last = 0;
  const ask: Client['ask'] = (method, params = {}) => {
    const id = ++last;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  const clientInfo = { name: 'test', version: '1' };
  const hello = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  expect(hello).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: { name: 'superseded' } });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return { ask, noise, child };
}

const call = (name: string, input: unknown) => ({ name, arguments: input });

describe('the memory over MCP', () => {
  it('lists its tools with annotations: recall only reads, remember may be repeated', async () => {
    const server = createMcpServer({ service: temporaryService(), version: '1.2.3' });
    const { tools } = await server.getToolListInfo();
    expect(tools.map(({ name }) => name)).toEqual(['recall', 'remember', 'supersede', 'confirm']);
    expect(JSON.stringify(tools)).not.toMatch(/"(user|scope|resourceId)"/);
  });

  it('serves a client on standard input and output: remember, recall, reverse, and leave', async () => {
    const db = join(temporaryFolder(), 'mcp.db');
    const { ask, noise, child } = await connect('ann', db);
    const { tools } = await ask('tools/list');
    const annotations = Object.fromEntries(
      tools.map((tool: { name: string; annotations: unknown }) => [tool.name, tool.annotations]),
    );
    expect(annotations.recall).toMatchObject({ readOnlyHint: true });
    expect(annotations.remember).toMatchObject({ readOnlyHint: false, destructiveHint: false, idempotentHint: true });

    const stored = await ask(
      'tools/call',
      call('remember', { id: 'knee', content: 'My knee is injured.', topic: 'constraint' }),
    );
    expect(stored.structuredContent).toMatchObject({ stored: true, memory: { id: 'knee' } });
    const again = await ask(
      'tools/call',
      call('remember', { id: 'knee', content: 'My knee is injured.', topic: 'constraint' }),
    );
    expect(again.structuredContent).toMatchObject({ stored: false, reason: 'unchanged' });

    const healed = await ask('tools/call', call('remember', { content: 'My knee has healed.', supersedes: ['knee'] }));
    expect(healed.structuredContent.superseded).toEqual(['knee']);
    expect(healed.content[0].text).toContain('Closed, kept as history: knee.');

    const found = await ask('tools/call', call('recall', { query: 'How is my knee?' }));
    expect(found.structuredContent.hits).toHaveLength(1);
    expect(found.content[0].text).toMatch(/<memory id="[^"]+" age="today" .*replaced="knee"/);

    const refused = await ask('tools/call', call('recall', { query: 'knee', user: 'bob' }));
    expect(refused.isError).toBe(true);
    const failed = await ask('tools/call', call('confirm', { id: 'nowhere' }));
    expect(failed).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('No memory has the id nowhere') }],
    });

    child.stdin?.end();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(noise).toEqual([]);
  }, 120_000);

  it('keeps users apart', async () => {
    const db = join(temporaryFolder(), 'mcp.db');
    const ann = await connect('ann', db);
    await ann.ask('tools/call', call('remember', { content: 'My door code is on the fridge.' }));
    const bob = await connect('bob', db);
    const found = await bob.ask('tools/call', call('recall', { query: 'Where is the door code?' }));
    expect(found.structuredContent.hits).toEqual([]);
  }, 120_000);
});
