import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { SupersededError } from '../src/errors.ts';
import { routeTable } from '../src/http/routes.ts';
import { SHARED } from '../src/memory.ts';
import { remember } from '../src/remember.ts';
import { fakeChat, type TestApp, temporaryApp } from './http-app.ts';

const table = (app: TestApp) =>
  routeTable({
    service: () => app.service,
    config: { host: '', tokens: [], rateLimit: 0, replay: false },
    chat: fakeChat,
    version: '1.2.3',
  });

/** Sends, and holds the answer against the shape that the OpenAPI document promises. */
function documented(app: TestApp) {
  return async (method: string, path: string, body?: unknown, token?: string) => {
    const answered = await app.send(method, path, body, token);
    const pathname = path.split('?')[0] ?? '';
    const route = table(app).find(
      (candidate) =>
        candidate.method === method && new RegExp(`^${candidate.path.replace(':id', '[^/]+')}$`).test(pathname),
    );
    const shape = route?.answers[answered.status];
    expect(shape, `${method} ${path} answers ${answered.status}: ${answered.text}`).toBeDefined();
    if (shape instanceof z.ZodType) shape.parse(answered.body);
    return answered;
  };
}

async function told(app: TestApp, content: string, fields: object = {}, token?: string): Promise<string> {
  const { body, text } = await app.send('POST', '/v1/memories', { content, ...fields }, token);
  expect(body.memory?.id, text).toEqual(expect.any(String));
  return body.memory.id;
}

/** A memory that all users read. */
async function shared(app: TestApp, id: string): Promise<void> {
  await remember(await app.service.actor(SHARED, 'root', 'test'), { content: 'The old bridge is closed.', id });
}

describe('every route answers as documented', () => {
  it('remembers with 201, and with 200 where nothing new was stored', async () => {
    const app = temporaryApp();
    const send = documented(app);
    const first = await send('POST', '/v1/memories', { content: ' I love museums ', topic: 'preference' });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({ stored: true, superseded: [], memory: { content: 'I love museums' } });
    const again = await send('POST', '/v1/memories', { content: 'I love MUSEUMS', topic: 'preference' });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ stored: false, reason: 'confirmed', memory: { id: first.body.memory.id } });
  });

  it('recalls with the parts of a score when asked to explain', async () => {
    const app = temporaryApp();
    await told(app, 'I love museums');
    const { body } = await documented(app)('POST', '/v1/recall', { query: 'museums', explain: true, strict: true });
    expect(body.hits[0]).toMatchObject({ memory: { content: 'I love museums' }, parts: { ageWeight: 1 } });
    expect(body.hits[0].note).toMatch(/^Holds since/);
    expect(body.asOf).toBe('2026-03-01T09:00:00.000Z');
  });

  it('lists in pages, and reads one memory and its history', async () => {
    const app = temporaryApp();
    const send = documented(app);
    const old = await told(app, 'I love museums');
    app.service.now += 1000;
    const next = await told(app, 'No more museums', { supersedes: [old] });
    const first = await send('GET', '/v1/memories?limit=1&status=all');
    expect(first.body.memories.map((memory: { id: string }) => memory.id)).toEqual([next]);
    const second = await send('GET', `/v1/memories?limit=1&status=all&cursor=${first.body.nextCursor}`);
    expect(second.body).toMatchObject({ memories: [{ id: old, status: 'superseded' }], nextCursor: null });
    expect((await send('GET', `/v1/memories/${old}`)).body).toMatchObject({ supersededBy: next });
    const { body } = await send('GET', `/v1/memories/${next}/history`);
    expect(body.memories.map((memory: { id: string }) => memory.id)).toEqual([old, next]);
  });

  it('supersedes, closes, reopens, confirms, denies and takes feedback', async () => {
    const app = temporaryApp();
    const send = documented(app);
    const [a, b] = [await told(app, 'Tea, please'), await told(app, 'Coffee, please')];
    const path = (id: string, verb: string) => `/v1/memories/${id}/${verb}`;
    expect((await send('POST', path(b, 'supersede'), { targets: [a] })).body).toMatchObject({ superseded: [a] });
    expect((await send('POST', path(b, 'confirm'))).body.memory.confirmedAt).toEqual(expect.any(String));
    const rated = await send('POST', path(b, 'feedback'), { outcome: 1, note: 'worked' });
    expect(rated.body.memory).toMatchObject({ feedback: 0.5, feedbackCount: 1 });
    expect((await send('POST', path(b, 'deny'), { reason: 'never said' })).body.memory.confidence).toBe(0.3);
    const closed = await send('POST', path(b, 'close'), { reason: 'moved on' });
    expect(closed.body.memory).toMatchObject({ status: 'retired', closedReason: 'moved on' });
    const reopened = await send('POST', path(a, 'reopen'), {});
    expect(reopened.status).toBe(201);
    expect(reopened.body).toMatchObject({ memory: { reopens: a }, openSuccessor: null });
  });

  it('erases with the same receipt when repeated, and everything when confirmed', async () => {
    const app = temporaryApp();
    const send = documented(app);
    const id = await told(app, 'Tea, please');
    await told(app, 'Coffee, please');
    const receipt = (await send('DELETE', `/v1/memories/${id}?force=false`)).body;
    expect(receipt).toEqual({ erased: id, at: expect.any(String) });
    expect((await send('DELETE', `/v1/memories/${id}`)).body).toEqual(receipt);
    expect((await app.send('DELETE', '/v1/memories?confirm=bob')).status).toBe(400);
    expect((await send('DELETE', '/v1/memories?confirm=ann')).body.erased).toBe(1);
  });

  it('shows the audit with the surface it came through', async () => {
    const app = temporaryApp();
    const id = await told(app, 'Tea, please');
    const { body } = await documented(app)('GET', `/v1/audit?memory=${id}&limit=5`);
    expect(body.entries).toMatchObject([{ actor: 'ann', verb: 'remember', source: 'http', after: { id } }]);
  });

  it('exports lines that another store imports', async () => {
    const app = temporaryApp();
    const old = await told(app, 'Tea, please');
    await told(app, 'Coffee, please', { supersedes: [old] });
    const exported = await documented(app)('GET', '/v1/export');
    expect(exported.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
    expect(exported.text.trim().split('\n')).toHaveLength(2);
    const other = temporaryApp();
    const init = {
      method: 'POST',
      body: exported.text,
      headers: { authorization: 'Bearer token-bob', 'content-type': 'application/x-ndjson' },
    };
    const imported = await (await other.fetch('/v1/import', init)).json();
    expect(imported).toEqual({ imported: 2, unchanged: 0, collisions: [], erased: [] });
    expect(await (await other.fetch('/v1/import', init)).json()).toMatchObject({ imported: 0, unchanged: 2 });
    const broken = await other.fetch('/v1/import', { ...init, body: '{"id":"x"}\nnonsense' });
    expect(broken.status).toBe(400);
    expect(JSON.stringify(await broken.json())).toMatch(/line 2/);
  });

  it('shows the review list and takes a decision on it', async () => {
    const app = temporaryApp();
    const send = documented(app);
    const id = await told(app, 'Tea, please', { confidence: 0.1 });
    expect((await send('GET', '/v1/review')).body.items).toEqual(expect.any(Array));
    expect((await app.send('POST', `/v1/review/${id}`, { action: 'explode' })).status).toBe(400);
    expect((await app.send('POST', '/v1/review/unknown', { action: 'keep' })).status).toBe(404);
  });

  it('shows the ageing windows in force', async () => {
    const app = temporaryApp();
    const send = documented(app);
    let fields = {};
    for (let day = 0; day < 32; day++) {
      const validFrom = new Date(Date.UTC(2020, 0, 1 + 5 * day)).toISOString();
      const id = await told(app, `Mood ${day}`, { topic: 'mood', validFrom, ...fields });
      fields = { supersedes: [id] };
    }
    const { status, body } = await send('GET', '/v1/aging');
    expect(status).toBe(200);
    const windows = body.windows as { topic: string; source: string; own: { events: number } }[];
    expect(windows.find(({ topic }) => topic === 'mood')).toMatchObject({ source: 'own', own: { events: 31 } });
  });

  it('is healthy without a token, and says which store and version it is', async () => {
    const app = temporaryApp();
    const { body } = await app.send('GET', '/v1/health', undefined, null);
    expect(body).toEqual({ status: 'ok', store: 'embedded', version: '1.2.3' });
  });

  it('chats in one answer', async () => {
    const { body } = await documented(temporaryApp())('POST', '/v1/chat', { message: 'Hello', thread: 't-1' });
    expect(body).toMatchObject({ reply: 'ann said: Hello', thread: 't-1', steps: [{ tool: 'recall' }] });
  });

  it('chats in events where the client accepts them', async () => {
    const response = await temporaryApp().fetch('/v1/chat', {
      method: 'POST',
      body: JSON.stringify({ message: 'Hello' }),
      headers: {
        authorization: 'Bearer token-bob',
        'content-type': 'application/json',
        accept: 'text/event-stream, application/json;q=0.5',
      },
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = (await response.text()).trim().split('\n\n');
    expect(events.map((event) => event.split('\n')[0])).toEqual(['event: text', 'event: text', 'event: done']);
    expect(events[0]).toBe('event: text\ndata: {"text":"One "}');
    expect(JSON.parse(events[2]?.split('data: ')[1] ?? '')).toMatchObject({ reply: 'bob said: Hello' });
  });

  it('has a test for each: a new route is added here too', () => {
    const app = temporaryApp();
    const served = app.routes.map(({ method, path }) => `${method} ${path}`).sort();
    expect(served).toEqual([
      'ALL /v1/*',
      'DELETE /v1/memories',
      'DELETE /v1/memories/:id',
      'GET /v1/aging',
      'GET /v1/audit',
      'GET /v1/export',
      'GET /v1/health',
      'GET /v1/memories',
      'GET /v1/memories/:id',
      'GET /v1/memories/:id/history',
      'GET /v1/openapi.json',
      'GET /v1/review',
      'POST /v1/chat',
      'POST /v1/import',
      'POST /v1/memories',
      'POST /v1/memories/:id/close',
      'POST /v1/memories/:id/confirm',
      'POST /v1/memories/:id/deny',
      'POST /v1/memories/:id/feedback',
      'POST /v1/memories/:id/reopen',
      'POST /v1/memories/:id/supersede',
      'POST /v1/recall',
      'POST /v1/review/:id',
    ]);
  });
});

describe('every failure has its status and one shape', () => {
  afterEach(() => vi.restoreAllMocks());

  it('400 names every field at fault, unknown ones too', async () => {
    const { status, body } = await temporaryApp().send('POST', '/v1/recall', { query: '', asof: '2026', limit: 101 });
    expect(status).toBe(400);
    expect(body.error.code).toBe('INVALID_INPUT');
    expect(body.error.issues.map(({ path }: { path: string }) => path).sort()).toEqual(['asof', 'limit', 'query']);
  });

  it('400 for an unknown, repeated or mistyped query parameter', async () => {
    const app = temporaryApp();
    for (const [method, path] of [
      ['GET', '/v1/memories?asof=2026-03-01T09:00:00Z'],
      ['GET', '/v1/memories?limit=1&limit=2'],
      ['GET', '/v1/memories?limit=ten'],
      ['GET', '/v1/memories?limit='],
      ['GET', '/v1/memories?limit=0'],
      ['GET', '/v1/memories?cursor=nonsense'],
      ['DELETE', '/v1/memories/x?force=maybe'],
      ['DELETE', '/v1/memories'],
      ['POST', '/v1/recall?query=museums'],
      ['GET', '/v1/health?verbose=1'],
    ] as const) {
      const { status, body } = await app.send(method, path, method === 'POST' ? { query: 'museums' } : undefined);
      expect([status, body.error.code], path).toEqual([400, 'INVALID_INPUT']);
      expect(body.error.issues, path).toHaveLength(1);
    }
  });

  it('400 comes before the look-up: an invalid request about an unknown memory is invalid', async () => {
    const app = temporaryApp();
    expect((await app.send('POST', '/v1/memories/unknown/feedback', { outcome: 2 })).status).toBe(400);
    expect((await app.send('GET', '/v1/memories/not%20an%20id')).status).toBe(400);
    expect((await app.send('GET', '/v1/memories/%E0%A4%A')).status).toBe(400);
  });

  it('400 for what sets the clock, unless the service replays', async () => {
    const at = '2026-01-01T00:00:00Z';
    const app = temporaryApp();
    for (const answered of [
      await app.send('POST', '/v1/recall', { query: 'tea', now: at }),
      await app.send('GET', `/v1/memories?now=${at}`),
      await app.send('POST', '/v1/memories', { content: 'Tea', recordedAt: at }),
      await app.send('POST', '/v1/memories/x/close', { recordedAt: at }),
      await app.send('DELETE', `/v1/memories/x?recordedAt=${at}`),
    ]) {
      expect(answered.status).toBe(400);
      expect(answered.body.error.issues[0].path).toMatch(/^(now|recordedAt)$/);
      expect(answered.body.error.message).toMatch(/SUPERSEDED_REPLAY/);
    }
    const replaying = temporaryApp({ replay: true });
    const { body } = await replaying.send('POST', '/v1/memories', { content: 'Tea', recordedAt: at });
    expect(body.memory.createdAt).toBe('2026-01-01T00:00:00.000Z');
    expect((await replaying.send('POST', '/v1/recall', { query: 'tea', now: at })).body.now).toBe(
      '2026-01-01T00:00:00.000Z',
    );
    expect((await replaying.send('GET', `/v1/memories?now=${at}`)).body.memories).toHaveLength(1);
    expect((await replaying.send('GET', `/v1/audit?now=${at}`)).status).toBe(400);
  });

  it('401 without a token, with a wrong one, and with one that is no bearer token', async () => {
    const app = temporaryApp();
    for (const authorization of [null, 'Bearer wrong', 'token-ann', 'Basic dG9rZW4tYW5u', 'Bearer ']) {
      const headers: Record<string, string> = authorization === null ? {} : { authorization };
      const response = await app.fetch('/v1/memories', { headers });
      expect(response.status, String(authorization)).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await response.json()).toMatchObject({ error: { code: 'UNAUTHORIZED', hint: expect.any(String) } });
    }
    expect((await app.fetch('/v1/memories', { headers: { authorization: 'bearer token-ann' } })).status).toBe(200);
    expect((await app.fetch('/v1/memories?apiKey=token-ann')).status).toBe(401);
  });

  it('403 for changing a shared memory, which everyone may read', async () => {
    const app = temporaryApp();
    await shared(app, 'bridge');
    expect((await app.send('GET', '/v1/memories/bridge')).body.scope).toBe('shared');
    for (const [method, path, body] of [
      ['POST', '/v1/memories/bridge/close', {}],
      ['GET', '/v1/memories/bridge/history', undefined],
      ['DELETE', '/v1/memories/bridge', undefined],
      ['POST', '/v1/memories', { content: 'It is open again.', supersedes: ['bridge'] }],
    ] as const) {
      const { status, body: answer } = await app.send(method, path, body);
      expect([status, answer.error.code], `${method} ${path}`).toEqual([403, 'FORBIDDEN']);
    }
  });

  it('404 in JSON for an unknown memory and an unknown path', async () => {
    const app = temporaryApp();
    for (const path of ['/v1/memories/unknown', '/v1', '/v1/', '/v1/nothing', '/v1/memories/a/b/c', '/v1/memories/']) {
      const { status, body } = await app.send('GET', path);
      expect([status, body?.error.code], path).toEqual([404, 'NOT_FOUND']);
    }
  });

  it('405 with Allow for a wrong method on a known path', async () => {
    const app = temporaryApp();
    const answered = await app.send('PUT', '/v1/memories', {});
    expect([answered.status, answered.body.error.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(answered.headers.get('allow')).toBe('POST, GET, DELETE, HEAD, OPTIONS');
    expect((await app.send('GET', '/v1/recall')).status).toBe(405);
    expect((await app.send('PATCH', '/v1/memories/x')).headers.get('allow')).toBe('GET, DELETE, HEAD, OPTIONS');
  });

  it('409 on a closed memory names the open head of its chain, or null', async () => {
    const app = temporaryApp();
    const old = await told(app, 'Tea, please');
    const next = await told(app, 'Coffee, please', { supersedes: [old] });
    const conflict = await app.send('POST', `/v1/memories/${old}/close`, {});
    expect([conflict.status, conflict.body.error.code, conflict.body.error.head]).toEqual([409, 'CONFLICT', next]);
    await app.send('POST', `/v1/memories/${next}/close`, {});
    const without = await app.send('POST', `/v1/memories/${old}/confirm`, {});
    expect(without.body.error).toHaveProperty('head', null);
    const taken = await app.send('POST', '/v1/memories', { content: 'Other words', id: old });
    expect(taken.status).toBe(409);
    expect(taken.body.error).not.toHaveProperty('head');
  });

  it('410 for an erased own memory in the path, for every verb but DELETE, and 404 in a body', async () => {
    const app = temporaryApp();
    const id = await told(app, 'Tea, please');
    await app.send('DELETE', `/v1/memories/${id}`);
    for (const [method, verb, body] of [
      ['GET', '', undefined],
      ['GET', '/history', undefined],
      ['POST', '/close', {}],
      ['POST', '/reopen', {}],
      ['POST', '/confirm', {}],
      ['POST', '/deny', {}],
      ['POST', '/feedback', { outcome: 1 }],
      ['POST', '/supersede', { targets: ['other'] }],
    ] as const) {
      const { status, body: answer } = await app.send(method, `/v1/memories/${id}${verb}`, body);
      expect([status, answer.error.code], verb).toEqual([410, 'ERASED']);
    }
    expect((await app.send('POST', '/v1/memories', { content: 'Cocoa', supersedes: [id] })).status).toBe(404);
    expect((await app.send('GET', `/v1/memories/${id}`, undefined, 'token-bob')).status).toBe(404);
  });

  it('422 for what looks like a secret, without repeating it', async () => {
    const secret = `sk-${'a1'.repeat(16)}`;
    const { status, body, text } = await temporaryApp().send('POST', '/v1/memories', { content: `Key: ${secret}` });
    expect([status, body.error.code]).toEqual([422, 'LOOKS_SECRET']);
    expect(text).not.toContain(secret);
  });

  it('500 for what nobody foresaw: a request id, no reason, and a line in the log', async () => {
    const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const app = temporaryApp();
    app.service.for = () => {
      throw new TypeError('secret-detail at /srv/app/store.ts');
    };
    const { status, body, text, headers } = await app.send('GET', '/v1/memories');
    expect(status).toBe(500);
    expect(body.error).toMatchObject({ code: 'UNEXPECTED', requestId: headers.get('x-request-id') });
    expect(text).not.toMatch(/secret-detail|srv/);
    expect(String(log.mock.calls[0]?.[0])).toMatch(/GET \/v1\/memories .*secret-detail/);
  });

  it('503 where the store cannot be reached, without its address, also in health', async () => {
    const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const app = temporaryApp();
    const down = new SupersededError('STORE_UNAVAILABLE', 'http://10.0.0.7:9200 does not answer.');
    app.service.actor = async () => {
      throw down;
    };
    app.service.for = () => {
      throw down;
    };
    const { status, body, text } = await app.send('GET', '/v1/memories');
    expect([status, body.error.code]).toEqual([503, 'STORE_UNAVAILABLE']);
    expect(text).not.toContain('10.0.0.7');
    const health = await app.send('GET', '/v1/health', undefined, null);
    expect(health.status).toBe(503);
    expect(health.body).toMatchObject({ status: 'unavailable', store: 'embedded', version: '1.2.3' });
    expect(log).toHaveBeenCalled();
  });

  it('503 where no model is configured, naming what to set, and the same for events', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const missing = new SupersededError('CONFIGURATION', 'No model is configured.', {
      hint: 'Set OPENROUTER_API_KEY.',
      tellCaller: true,
    });
    const chat = {
      generate: async () => {
        throw missing;
      },
      // biome-ignore lint/correctness/useYield: it fails before the first event
      async *stream() {
        throw missing;
      },
    };
    const app = temporaryApp({}, { chat });
    const { status, body } = await app.send('POST', '/v1/chat', { message: 'Hello' });
    expect([status, body.error.hint]).toEqual([503, 'Set OPENROUTER_API_KEY.']);
    const headers = {
      authorization: 'Bearer token-ann',
      'content-type': 'application/json',
      accept: 'text/event-stream',
    };
    const events = await app.fetch('/v1/chat', { method: 'POST', headers, body: '{"message":"Hello"}' });
    expect(events.status).toBe(503);
  });

  it('a failure after the first event is an event', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const chat = {
      ...fakeChat,
      async *stream() {
        yield { type: 'text' as const, text: 'One' };
        throw new Error('secret-detail');
      },
    };
    const headers = {
      authorization: 'Bearer token-ann',
      'content-type': 'application/json',
      accept: 'text/event-stream',
    };
    const response = await temporaryApp({}, { chat }).fetch('/v1/chat', {
      method: 'POST',
      headers,
      body: '{"message":"Hello"}',
    });
    const text = await response.text();
    expect(text).toMatch(/event: error\ndata: {"error":{"code":"UNEXPECTED"/);
    expect(text).not.toContain('secret-detail');
  });
});
