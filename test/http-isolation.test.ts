import { describe, expect, it } from 'vitest';
import { type TestApp, temporaryApp } from './http-app.ts';

const SECRET = 'Ann loves the harbour museum';

async function annsMemory(app: TestApp): Promise<string> {
  const { body } = await app.send('POST', '/v1/memories', { content: SECRET, topic: 'preference' });
  return body.memory.id;
}

/** Every route that names a memory, with a valid request; one per registered route, which the last test proves. */
const byId = (id: string): readonly (readonly [string, string, object?])[] => [
  ['GET', `/v1/memories/${id}`],
  ['DELETE', `/v1/memories/${id}`],
  ['GET', `/v1/memories/${id}/history`],
  ['POST', `/v1/memories/${id}/supersede`, { targets: ['other'] }],
  ['POST', `/v1/memories/${id}/close`, {}],
  ['POST', `/v1/memories/${id}/reopen`, {}],
  ['POST', `/v1/memories/${id}/confirm`, {}],
  ['POST', `/v1/memories/${id}/deny`, {}],
  ['POST', `/v1/memories/${id}/feedback`, { outcome: 1 }],
  ['POST', `/v1/review/${id}`, { action: 'keep' }],
];

/** Every other route that needs a token, with a valid request. */
const withoutId: readonly (readonly [string, string, object?])[] = [
  ['POST', '/v1/chat', { message: 'museum' }],
  ['POST', '/v1/recall', { query: 'harbour museum' }],
  ['POST', '/v1/memories', { content: 'Bob hates museums', topic: 'preference' }],
  ['GET', '/v1/memories?status=all'],
  ['DELETE', '/v1/memories?confirm=bob'],
  ['GET', '/v1/audit'],
  ['GET', '/v1/review'],
  ['GET', '/v1/export'],
  ['GET', '/v1/aging'],
  ['POST', '/v1/import'],
];

describe('two users', () => {
  it('a memory of another user is not found on any route, exactly as an unknown one', async () => {
    const app = temporaryApp();
    const id = await annsMemory(app);
    for (const [method, path, body] of byId(id)) {
      const foreign = await app.send(method, path, body, 'token-bob');
      const unknown = await app.send(method, path.replace(id, 'unknown'), body, 'token-bob');
      expect([foreign.status, foreign.body.error.code], `${method} ${path}`).toEqual([404, 'NOT_FOUND']);
      expect(foreign.text.replaceAll(id, 'unknown')).toBe(unknown.text);
    }
    for (const body of [
      { content: 'x', supersedes: [id] },
      { content: 'x', denies: [id] },
      { content: 'x', derivedFrom: [id] },
    ]) {
      expect((await app.send('POST', '/v1/memories', body, 'token-bob')).status).toBe(404);
    }
    expect((await app.send('GET', `/v1/audit?memory=${id}`, undefined, 'token-bob')).status).toBe(404);
    expect((await app.send('GET', `/v1/memories/${id}`)).body).toMatchObject({ content: SECRET, status: 'open' });
  });

  it('no answer to one user holds a word of the other, not even to an admin', async () => {
    const app = temporaryApp();
    const id = await annsMemory(app);
    for (const token of ['token-bob', 'token-root']) {
      for (const [method, path, body] of withoutId) {
        const { status, text } = await app.send(method, path.replace('confirm=bob', 'confirm=x'), body, token);
        expect(status, `${method} ${path} ${text}`).toBeLessThan(500);
        expect(text, `${method} ${path}`).not.toMatch(new RegExp(`${id}|harbour museum$|Ann loves`));
      }
    }
  });

  it('one user erasing everything leaves the other with all of it', async () => {
    const app = temporaryApp();
    const id = await annsMemory(app);
    await app.send('POST', '/v1/memories', { content: SECRET, topic: 'preference', id }, 'token-bob');
    expect((await app.send('DELETE', '/v1/memories?confirm=bob', undefined, 'token-bob')).body.erased).toBe(1);
    expect((await app.send('GET', `/v1/memories/${id}`)).status).toBe(200);
    expect((await app.send('GET', `/v1/memories/${id}`, undefined, 'token-bob')).status).toBe(410);
  });

  it('a user or scope named in a body or a query is an unknown field', async () => {
    const app = temporaryApp();
    const id = await annsMemory(app);
    for (const name of ['user', 'scope', 'userId', 'resource', 'requestContext', '__proto__', 'constructor']) {
      for (const [method, path, body] of [...byId(id), ...withoutId]) {
        const query = await app.send(method, `${path}${path.includes('?') ? '&' : '?'}${name}=ann`, body, 'token-bob');
        expect([query.status, query.body.error.code], `${method} ${path} ${name}`).toEqual([400, 'INVALID_INPUT']);
        if (path === '/v1/import') continue;
        const spoofed = JSON.stringify(body ?? {}).replace(
          /^\{/,
          `{"${name}":"ann"${body && Object.keys(body).length ? ',' : ''}`,
        );
        if (method === 'GET') continue;
        const sent = await app.send(method, path, spoofed, 'token-bob');
        expect([sent.status, sent.body.error.code], `${method} ${path} ${name}`).toEqual([400, 'INVALID_INPUT']);
      }
    }
    expect((await app.send('GET', `/v1/memories/${id}`)).body).toMatchObject({ status: 'open', feedbackCount: 0 });
  });

  it('a user named in a header is ignored', async () => {
    const app = temporaryApp();
    await annsMemory(app);
    const headers = {
      authorization: 'Bearer token-bob',
      'x-user': 'ann',
      'x-superseded-user': 'ann',
      cookie: 'user=ann',
    };
    expect(await (await app.fetch('/v1/memories', { headers })).json()).toMatchObject({ memories: [] });
  });

  it('an exported scope cannot be imported into the shared one', async () => {
    const app = temporaryApp();
    await annsMemory(app);
    const { text } = await app.send('GET', '/v1/export');
    const response = await app.fetch('/v1/import', {
      method: 'POST',
      body: text.replace('"scope":"user"', '"scope":"shared"'),
      headers: { authorization: 'Bearer token-bob', 'content-type': 'application/x-ndjson' },
    });
    expect(response.status).toBe(400);
  });

  it('these tests name every route: a new one is added here too', () => {
    const named = [...byId('ID'), ...withoutId].map(([method, path]) => `${method} ${path.replace(/\?.*/, '')}`);
    const open = ['GET /v1/health', 'GET /v1/openapi.json', 'ALL /v1/*'];
    const served = temporaryApp().routes.map(({ method, path }) => `${method} ${path.replace(':id', 'ID')}`);
    expect([...named, ...open].sort()).toEqual(served.sort());
  });
});
