import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryApp } from './http-app.ts';

interface Document {
  paths: Record<string, Record<string, { operationId: string; parameters?: { name: string }[]; security?: unknown[] }>>;
}

async function documentOf(app = temporaryApp()): Promise<Document> {
  return (await app.send('GET', '/v1/openapi.json', undefined, null)).body;
}

describe('the OpenAPI document', () => {
  it('describes every route that is served, and no other', async () => {
    const app = temporaryApp();
    const { paths } = await documentOf(app);
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace('{id}', ':id')}`),
    );
    const served = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
    expect(described.sort()).toEqual(served.sort());
  });

  it('resolves every reference, and names every operation once', async () => {
    const document = await documentOf();
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      expect(document).toHaveProperty(`components.schemas.${name}`);
    }
    expect(text).not.toMatch(/"\$ref":"(?!#\/components)/);
    const names = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((o) => o.operationId));
    expect(new Set(names).size).toBe(names.length);
  });

  it('shows what sets the clock only where the service replays', async () => {
    expect(JSON.stringify(await documentOf())).not.toMatch(/"recordedAt"/);
    const replaying = await documentOf(temporaryApp({ replay: true }));
    expect(JSON.stringify(replaying)).toMatch(/"recordedAt":{"type":"string","format":"date-time"}/);
  });

  it('says that health and itself need no token', async () => {
    const { paths } = await documentOf();
    expect(paths['/v1/health']?.get?.security).toEqual([]);
    expect(paths['/v1/openapi.json']?.get?.security).toEqual([]);
    expect(paths['/v1/memories']?.get?.security).toBeUndefined();
  });
});

const names = fc.constantFrom(
  ...[
    'query',
    'content',
    'limit',
    'asOf',
    'knownAt',
    'now',
    'recordedAt',
    'targets',
    'supersedes',
    'denies',
    'validTo',
  ],
  ...['validFrom', 'kind', 'kinds', 'topic', 'tags', 'outcome', 'reason', 'id', 'cursor', 'status', 'force', 'confirm'],
  ...['message', 'thread', 'action', 'into', 'strict', 'includeHistory', 'preset', 'confidence', 'derivedFrom'],
);
const hostile = fc.constantFrom(
  ...['', ' ', '\u0000', '\ud800', '0', '-1', '1e999', 'NaN', '9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00+23:59'],
  ...[
    '2026-02-30T00:00:00Z',
    'ann',
    'keep',
    'default',
    'all',
    '"; DROP TABLE memories; --',
    '*',
    '%',
    '١٢',
    '👩‍👩‍👧‍👦',
  ],
);
const value = fc.oneof(hostile, fc.string({ unit: 'binary' }), fc.double(), fc.jsonValue(), fc.array(hostile));

describe('whatever is sent', () => {
  it('is never a fault of the service', { timeout: 30_000 }, async () => {
    const app = temporaryApp({ replay: true });
    const routes = app.routes.flatMap(({ method, path }) =>
      method === 'ALL' ? [['PUT', '/v1/memories']] : [[method, path]],
    );
    const known = (await app.send('POST', '/v1/memories', { content: 'Tea', id: 'tea' })).body.memory.id;
    const id = fc.oneof(fc.constant(known), hostile, fc.string({ unit: 'binary' }));
    const request = fc.record({
      route: fc.constantFrom(...routes),
      id,
      query: fc.array(fc.tuple(fc.oneof(names, fc.string()), fc.oneof(hostile, fc.string())), { maxLength: 3 }),
      body: fc.oneof(
        fc.dictionary(fc.oneof({ weight: 8, arbitrary: names }, { weight: 1, arbitrary: fc.string() }), value),
        fc.jsonValue(),
        fc.string({ unit: 'binary' }),
      ),
      type: fc.constantFrom('application/json', 'application/x-ndjson', 'text/plain', ''),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ route: [method = '', path = ''], id: named, query, body, type }) => {
        const wellFormed = (text: string) => encodeURIComponent(text.toWellFormed());
        const search = query.map(([name, given]) => `${wellFormed(name)}=${wellFormed(given)}`).join('&');
        const url = path.replace(':id', wellFormed(named) || 'x') + (search ? `?${search}` : '');
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        const response = await app.fetch(url, {
          method,
          headers: { authorization: 'Bearer token-ann', 'content-type': type },
          ...(method === 'GET' ? {} : { body: text }),
        });
        const answer = await response.text();
        expect(response.status, `${method} ${url} ${text} -> ${answer}`).toBeLessThan(500);
        if (response.status >= 400) expect(JSON.parse(answer).error).toMatchObject({ message: expect.any(String) });
      }),
      { numRuns: 1000 },
    );
  });
});
