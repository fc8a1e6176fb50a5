import { Agent } from '@mastra/core/agent';
import { Mastra, type Config as MastraConfig } from '@mastra/core/mastra';
import { MASTRA_RESOURCE_ID_KEY } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import { createHonoServer } from '@mastra/deployer/server';
import { MCPServer } from '@mastra/mcp';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { closeWith } from '../src/http/drain.ts';
import type { HttpDeps } from '../src/http/routes.ts';
import { httpServer } from '../src/http/server.ts';
import { fakeChat, read, TOKENS } from './http-app.ts';
import { temporaryService } from './temporary.ts';

/** The routes in the framework's own server, as it runs, without a port. */

const whoami = createTool({
  id: 'whoami',
  description: 'Names the user.',
  inputSchema: z.object({}),
  execute: async (_input, context) => {
    const overHttp = context.requestContext?.getRaw(MASTRA_RESOURCE_ID_KEY);
    return { user: overHttp ?? context.mcp?.extra.authInfo?.extra?.user ?? 'nobody' };
  },
});

async function running(changes: Partial<HttpDeps['config']> = {}) {
  const service = temporaryService();
  const { server, drain } = httpServer({
    service: () => service,
    config: { host: '127.0.0.1', port: 4111, tokens: TOKENS, rateLimit: 0, replay: false, ...changes },
    chat: fakeChat,
    version: '1.2.3',
    clock: () => service.now,
  });
  const agent = new Agent({ id: 'guide', name: 'Guide', instructions: 'secret-prompt', model: 'openai/gpt-5-mini' });
  const memory = new MCPServer({ id: 'memory', name: 'memory', version: '1.0.0', tools: { whoami } });
  const tools = { whoami } as MastraConfig['tools'] & object;
  const mcpServers = { memory } as MastraConfig['mcpServers'] & object;
  const mastra = new Mastra({ server, agents: { agent }, tools, mcpServers, logger: false });
  const app = await createHonoServer(mastra, { tools: {}, browserStream: false });
  const call = async (
    method: string,
    path: string,
    options: { token?: string; body?: string; headers?: object } = {},
  ) => {
    const headers = {
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    };
    const init = { method, headers, ...(options.body === undefined ? {} : { body: options.body }) };
    return read(await app.fetch(new Request(`http://127.0.0.1:4111${path}`, init)));
  };
  return { service, mastra, drain, call, app };
}

const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const mcp = { accept: 'application/json, text/event-stream', host: '127.0.0.1:4111' };
const spoof = '"requestContext":{"user":{"id":"ann"},"mastra__resourceId":"ann"}';

describe('in the running server', () => {
  afterEach(() => vi.restoreAllMocks());

  it('every route under /v1 is one that the OpenAPI document describes', async () => {
    const { app, call } = await running();
    const { body } = await call('GET', '/v1/openapi.json');
    const served = new Set(
      app.routes
        .filter(({ path, method }) => path.startsWith('/v1/') && method !== 'ALL')
        .map((r) => `${r.method} ${r.path}`),
    );
    expect(served.size).toBeGreaterThan(20);
    for (const route of served) {
      const [method = '', path = ''] = route.split(' ');
      expect(body.paths[path.replace(':id', '{id}')]?.[method.toLowerCase()], route).toBeDefined();
    }
  });

  it('the verbs answer with their statuses and errors', async () => {
    const { call } = await running();
    const token = 'token-ann';
    expect((await call('GET', '/v1/health')).body.status).toBe('ok');
    const stored = await call('POST', '/v1/memories', { token, body: '{"content":"Tea, please"}' });
    expect([stored.status, stored.headers.get('x-request-id')]).toEqual([201, expect.any(String)]);
    expect((await call('GET', `/v1/memories/${stored.body.memory.id}`, { token })).status).toBe(200);
    expect((await call('GET', '/v1/memories')).body.error.code).toBe('UNAUTHORIZED');
    expect((await call('PUT', '/v1/memories', { token, body: '{}' })).headers.get('allow')).toMatch(/POST/);
    expect((await call('GET', '/v1/nothing', { token })).body.error.code).toBe('NOT_FOUND');
    expect((await call('POST', '/v1/recall', { token, body: 'x'.repeat(65_537) })).status).toBe(413);
    expect((await call('POST', '/v1/recall', { token, body: `{"query":"tea",${spoof}}` })).status).toBe(400);
    expect((await call('GET', '/v1/memories?requestContext=%7B%7D', { token })).status).toBe(400);
    expect((await call('HEAD', '/v1/memories', { token })).status).toBe(200);
  });

  it('a token without admin rights reaches nothing of the framework but MCP', async () => {
    const { app, call } = await running();
    const framework = app.routes.filter(({ path }) => path.startsWith('/api/') && !path.includes('*'));
    const public_ = /^\/api\/(auth\/|mcp\/|agents\/:agentId\/browser\/session$)/;
    const seen = new Set<string>();
    for (const { method, path } of framework) {
      if (public_.test(path) || seen.has(`${method} ${path}`)) continue;
      seen.add(`${method} ${path}`);
      const verb = method === 'ALL' ? 'GET' : method;
      const at = path.replace(/:\w+\??/g, 'x');
      expect((await call(verb, at)).status, `${verb} ${at}`).toBe(401);
      expect((await call(verb, at, { token: 'token-ann' })).status, `${verb} ${at}`).toBe(403);
    }
    expect(seen.size).toBeGreaterThan(300);
  });

  it('no trick in the path widens that', async () => {
    const { call } = await running();
    for (const path of [
      '/api/mcp/../agents',
      '/api/mcp/%2e%2e/agents',
      '/api/mcp%2f..%2fagents',
      '/api/%61gents',
      '/api/agents?x=/api/mcp/memory/mcp',
      '/api//agents',
    ]) {
      const { status, text } = await call('GET', path, { token: 'token-ann' });
      expect(text, path).not.toContain('secret-prompt');
      expect([200], path).not.toContain(status);
    }
    for (const headers of [{ 'x-mastra-dev-playground': 'true' }, { 'x-mastra-client-type': 'studio' }]) {
      expect((await call('GET', '/api/agents', { headers })).status).toBe(401);
    }
  });

  it('an admin token reaches the framework', async () => {
    const { call } = await running();
    const { status, text } = await call('GET', '/api/agents', { token: 'token-root' });
    expect(status).toBe(200);
    expect(text).toContain('secret-prompt');
  });

  it('a tool run over the framework is the own user, whatever the request says', async () => {
    const { call } = await running();
    const run = { token: 'token-root', body: `{"data":{},${spoof}}` };
    const { body } = await call('POST', '/api/tools/whoami/execute?requestContext=%7B%22user%22%3A%22ann%22%7D', run);
    expect(body).toEqual({ user: 'root' });
  });

  it('an MCP tool is run as the user whose token it is, and counted', async () => {
    const { call } = await running({ rateLimit: 2 });
    const body = rpc('tools/call', { name: 'whoami', arguments: {} });
    expect((await call('POST', '/api/mcp/memory/mcp', { body, headers: mcp })).status).toBe(401);
    const { text } = await call('POST', '/api/mcp/memory/mcp', { token: 'token-bob', body, headers: mcp });
    expect(text).toMatch(/bob/);
    expect((await call('POST', '/api/mcp/memory/mcp', { token: 'token-bob', body, headers: mcp })).status).toBe(200);
    const refused = await call('POST', '/api/mcp/memory/mcp', { token: 'token-bob', body, headers: mcp });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  });

  it('without tokens everyone on this machine is the demo user, by every way in', async () => {
    const { call } = await running({ tokens: [] });
    const run = { body: `{"data":{},${spoof}}` };
    expect((await call('POST', '/api/tools/whoami/execute', run)).body).toEqual({ user: 'demo' });
    const body = rpc('tools/call', { name: 'whoami', arguments: {} });
    expect((await call('POST', '/api/mcp/memory/mcp', { body, headers: mcp })).text).toMatch(/demo/);
    expect((await call('GET', '/api/agents')).status).toBe(200);
    const foreign = { headers: { origin: 'https://example.com' } };
    expect((await call('GET', '/api/agents', foreign)).status).toBe(403);
  });

  it('lets pages of this machine read, and of no other', async () => {
    const { call } = await running();
    const from = async (origin: string) =>
      (await call('GET', '/v1/health', { headers: { origin } })).headers.get('access-control-allow-origin');
    expect(await from('http://localhost:4111')).toBe('http://localhost:4111');
    for (const origin of ['https://example.com', 'null', 'http://localhost:3000'])
      expect(await from(origin)).toBeNull();
    const { call: elsewhere } = await running({ host: '0.0.0.0' });
    const { headers } = await elsewhere('GET', '/v1/health', { headers: { origin: 'http://127.0.0.1:4111' } });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('closes the store after the framework has shut down', async () => {
    const { mastra, drain, service } = await running();
    const order: string[] = [];
    vi.spyOn(mastra, 'shutdown').mockImplementation(async () => void order.push('framework'));
    vi.spyOn(service, 'close').mockImplementation(async () => void order.push('store'));
    closeWith(mastra, drain);
    await mastra.shutdown();
    expect(order).toEqual(['framework', 'store']);
  });
});
