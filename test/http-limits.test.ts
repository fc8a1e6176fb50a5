import { describe, expect, it } from 'vitest';
import { createDrain } from '../src/http/drain.ts';
import { createRateLimit } from '../src/http/rate-limit.ts';
import { BODY_BYTES } from '../src/http/request.ts';
import { fakeChat, read, temporaryApp } from './http-app.ts';

const asAnn = (headers: Record<string, string> = {}) => ({ authorization: 'Bearer token-ann', ...headers });
const asJson = asAnn({ 'content-type': 'application/json' });

/** A body that is sent in pieces and announces no length. */
const chunked = (text: string) => ({ body: new Blob([text]).stream(), duplex: 'half' as const });

describe('bodies', () => {
  it('up to 64 KiB is read, and one byte more is 413', async () => {
    const app = temporaryApp();
    const body = (bytes: number) => JSON.stringify({ query: 'tea', pad: '' }).replace('""', `"${'x'.repeat(bytes)}"`);
    const frame = body(0).length;
    const fits = await app.send('POST', '/v1/recall', body(BODY_BYTES - frame));
    expect([fits.status, fits.body.error.issues[0].path]).toEqual([400, 'pad']);
    const over = await app.send('POST', '/v1/recall', body(BODY_BYTES - frame + 1));
    expect([over.status, over.body.error.code]).toEqual([413, 'TOO_LARGE']);
  });

  it('a body in pieces, without a length, is counted too', async () => {
    const app = temporaryApp();
    const sent = { method: 'POST', headers: asJson };
    const large = await read(await app.fetch('/v1/recall', { ...sent, ...chunked('x'.repeat(BODY_BYTES + 1)) }));
    expect([large.status, large.body.error.code]).toEqual([413, 'TOO_LARGE']);
    const small = await app.fetch('/v1/recall', { ...sent, ...chunked('{"query":"tea"}') });
    expect(small.status).toBe(200);
  });

  it('an import may be larger', async () => {
    const lines = '\n'.repeat(BODY_BYTES + 1);
    const headers = asAnn({ 'content-type': 'application/x-ndjson' });
    const response = await temporaryApp().fetch('/v1/import', { method: 'POST', headers, ...chunked(lines) });
    expect(await response.json()).toMatchObject({ imported: 0 });
  });

  it('another content type is 415, and an empty body needs none', async () => {
    const app = temporaryApp();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/xml']) {
      const init = { method: 'POST', headers: asAnn({ 'content-type': type }), body: '{"query":"tea"}' };
      const { status, body } = await read(await app.fetch('/v1/recall', init));
      expect([status, body.error.code], type).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
    const encoded = { ...asJson, 'content-encoding': 'gzip' };
    expect((await app.fetch('/v1/recall', { method: 'POST', headers: encoded, body: '{}' })).status).toBe(415);
    const utf8 = asAnn({ 'content-type': 'Application/JSON; charset=utf-8' });
    expect((await app.fetch('/v1/recall', { method: 'POST', headers: utf8, body: '{"query":"tea"}' })).status).toBe(
      200,
    );
    const id = (await app.send('POST', '/v1/memories', { content: 'Tea' })).body.memory.id;
    expect((await app.fetch(`/v1/memories/${id}/confirm`, { method: 'POST', headers: asAnn() })).status).toBe(200);
  });

  it('what is no JSON object is 400', async () => {
    const app = temporaryApp();
    for (const text of ['{', '[]', 'null', '"tea"', '1', '{"query":"tea"}x']) {
      const { status, body } = await app.send('POST', '/v1/recall', text);
      expect([status, body.error.code], text).toEqual([400, 'INVALID_INPUT']);
    }
    const init = { method: 'POST', headers: asJson, body: new Uint8Array([0x7b, 0xff, 0x7d]) };
    expect((await app.fetch('/v1/recall', init)).status).toBe(400);
    expect((await app.send('POST', '/v1/recall', '{"query":"\\ud800"}')).status).toBe(400);
  });
});

describe('rate limit', () => {
  it('counts by token, tells what is left, and refuses with Retry-After until the minute is over', async () => {
    const app = temporaryApp({ rateLimit: 2 });
    const first = await app.send('GET', '/v1/memories');
    expect(first.headers.get('ratelimit-limit')).toBe('2');
    expect(first.headers.get('ratelimit-remaining')).toBe('1');
    expect(first.headers.get('ratelimit-policy')).toBe('"minute";q=2;w=60');
    app.service.now += 20_000;
    expect((await app.send('GET', '/v1/nothing')).status).toBe(404);
    expect((await app.send('GET', '/v1/memories?bad=1')).headers.get('ratelimit')).toBe('"minute";r=0;t=40');
    const refused = await app.send('GET', '/v1/memories');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(refused.headers.get('retry-after')).toBe('40');
    expect((await app.send('GET', '/v1/memories', undefined, 'token-bob')).status).toBe(200);
    expect((await app.send('GET', '/v1/health', undefined, null)).status).toBe(200);
    app.service.now += 40_000;
    expect((await app.send('GET', '/v1/memories')).status).toBe(200);
  });

  it('0 is no limit, and no fields', async () => {
    const { headers } = await temporaryApp({ rateLimit: 0 }).send('GET', '/v1/memories');
    expect(headers.get('ratelimit')).toBeNull();
  });

  it('remembers a bounded number of callers, and survives a clock that steps back', () => {
    let now = 1_000_000;
    const limit = createRateLimit({ limit: 1, clock: () => now });
    for (let caller = 0; caller <= 10_000; caller++) limit.take(`caller ${caller}`);
    expect(limit.take('caller 10000')?.allowed).toBe(false);
    expect(limit.take('caller 0')?.allowed).toBe(true);
    now = 0;
    expect(limit.take('caller 10000')?.allowed).toBe(true);
  });
});

describe('every answer', () => {
  it('carries the request id of the caller where it is a plain one, else a new one', async () => {
    const app = temporaryApp();
    const idFor = async (id: string) => {
      const response = await app.fetch('/v1/memories', { headers: asAnn({ 'x-request-id': id }) });
      return response.headers.get('x-request-id');
    };
    expect(await idFor('trace:42')).toBe('trace:42');
    for (const odd of ['', 'a b', '<script>', 'x'.repeat(129)]) expect(await idFor(odd)).toMatch(/^[0-9a-f-]{36}$/);
    expect((await app.send('GET', '/v1/nothing', undefined, null)).headers.get('x-request-id')).toMatch(/-/);
  });

  it('is not to be cached or guessed at', async () => {
    const { headers } = await temporaryApp().send('GET', '/v1/memories');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('to HEAD is that to GET without the body; OPTIONS names the methods', async () => {
    const app = temporaryApp();
    const head = await app.fetch('/v1/memories', { method: 'HEAD', headers: asAnn() });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await app.fetch('/v1/memories', { method: 'HEAD' })).status).toBe(401);
    expect((await app.fetch('/v1/recall', { method: 'HEAD', headers: asAnn() })).status).toBe(405);
    const options = await app.fetch('/v1/recall', { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
  });
});

describe('the demo user', () => {
  it('is who asks where no token is set and the host is loopback', async () => {
    const app = temporaryApp({ tokens: [] });
    expect((await app.send('POST', '/v1/memories', { content: 'Tea' }, null)).status).toBe(201);
    expect((await app.service.for('demo').list()).memories).toHaveLength(1);
  });

  it('is not who asks from a page of another site, or by a rebound name', async () => {
    const app = temporaryApp({ tokens: [] });
    for (const origin of [
      'https://example.com',
      'null',
      'http://127.0.0.1:9999',
      'http://localhost.example.com:4111',
    ]) {
      const { status, body } = await read(await app.fetch('/v1/memories', { headers: { origin } }));
      expect([status, body.error.code], origin).toEqual([403, 'FORBIDDEN']);
    }
    expect((await app.fetch('/v1/memories', { headers: { origin: 'http://localhost:4111' } })).status).toBe(200);
  });

  it('does not exist on a host that others reach: the server refuses to start', () => {
    expect(() => temporaryApp({ tokens: [], host: '0.0.0.0' })).toThrow(/SUPERSEDED_HOST.*SUPERSEDED_TOKENS/);
    expect(() => temporaryApp({ tokens: [], host: '::1' })).not.toThrow();
    expect(() => temporaryApp({ host: '0.0.0.0' })).not.toThrow();
  });
});

describe('another authenticator', () => {
  it('takes the place of the tokens', async () => {
    const authenticate = async (request: Request) => {
      const user = request.headers.get('x-forwarded-user');
      return user === null ? null : { user, admin: false };
    };
    const app = temporaryApp({ host: '0.0.0.0', tokens: [], rateLimit: 1 }, { authenticate });
    const as = (user: string) => app.fetch('/v1/memories', { headers: { 'x-forwarded-user': user } });
    expect((await as('cleo')).status).toBe(200);
    expect((await as('cleo')).status).toBe(429);
    expect((await as('dora')).status).toBe(200);
    expect((await app.send('GET', '/v1/memories', undefined, null)).status).toBe(401);
  });
});

describe('the end of the service', () => {
  it('waits for a stream that runs, tells clients to leave, and closes once', async () => {
    let closed = 0;
    const drain = createDrain(async () => void closed++);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const chat = {
      ...fakeChat,
      async *stream() {
        yield { type: 'text' as const, text: 'One' };
        await held;
        yield { type: 'text' as const, text: 'two' };
      },
    };
    const app = temporaryApp({}, { chat, drain });
    const init = { method: 'POST', headers: { ...asJson, accept: 'text/event-stream' }, body: '{"message":"Hello"}' };
    const streaming = await app.fetch('/v1/chat', init);
    drain.begin();
    expect((await app.send('GET', '/v1/memories')).headers.get('connection')).toBe('close');
    const closing = Promise.all([drain.close(), drain.close()]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(closed).toBe(0);
    release();
    expect(await streaming.text()).toContain('"two"');
    await closing;
    expect(closed).toBe(1);
  });

  it('does not wait for ever', async () => {
    let closed = false;
    const drain = createDrain(async () => {
      closed = true;
    }, 10);
    drain.enter();
    await drain.close();
    expect(closed).toBe(true);
  });
});
