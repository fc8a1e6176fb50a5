import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { SupersededError } from '../src/errors.ts';
import { createElasticsearchStore, type ElasticsearchStore } from '../src/stores/elasticsearch.ts';
import { type Fault, type FaultProxy, type Seen, startFaultProxy } from './elasticsearch/fault-proxy.ts';
import { ANA, at, modelOf, NOW, questionOf, rowOf } from './store-fixtures.ts';

/** What Elasticsearch and the network can answer, without either: a stub answers every request. */

const NOWHERE = 'http://127.0.0.1:9';
const SECRETS = [
  's3cret-api-key',
  's3cret-password',
  'elastic-user',
  Buffer.from('elastic-user:s3cret-password').toString('base64'),
];

const question = questionOf({ text: 'What was said?', limit: 8 });

const opened: { stub: FaultProxy; store: ElasticsearchStore }[] = [];
afterEach(async () => {
  for (const { stub, store } of opened.splice(0)) {
    await stub.stop();
    await store.close();
  }
});

async function stubbed(
  answer: (request: Seen) => Fault,
  login: 'key' | 'password' = 'key',
): Promise<ElasticsearchStore> {
  const stub = await startFaultProxy(NOWHERE);
  stub.fault = answer;
  const auth =
    login === 'key' ? { apiKey: SECRETS[0] ?? '' } : { username: SECRETS[2] ?? '', password: SECRETS[1] ?? '' };
  const store = createElasticsearchStore({
    connection: { url: stub.url, ...auth },
    index: 'memories',
    inferenceId: null,
    model: async () => modelOf(8),
    requestTimeoutMs: 300,
    clock: () => NOW,
  });
  opened.push({ stub, store });
  return store;
}

async function failureOf(work: Promise<unknown>): Promise<SupersededError> {
  const error: unknown = await work.then(
    () => null,
    (thrown) => thrown,
  );
  if (!(error instanceof SupersededError)) throw new Error(`expected a coded error, got ${inspect(error)}`);
  return error;
}

const refusal = (status: number, type: string, reason: string): Fault => ({
  status,
  body: { error: { type, reason }, status },
});

const INFO = { version: { number: '9.5.3', build_flavor: 'default' }, tagline: 'You Know, for Search' };
const column = (name: string, type: string) => ({ name, type });

/** A cluster that can do all, with this answer to the recall query. */
const answering =
  (recall: Fault) =>
  ({ path, body }: Seen): Fault => {
    if (path === '/') return { status: 200, body: INFO };
    if (path.startsWith('/_license')) return { status: 200, body: { license: { status: 'active', type: 'trial' } } };
    if (body.includes('FORK')) return recall;
    if (body.includes('FUSE'))
      return { status: 200, body: { columns: [column('relevance', 'double')], values: [[0.325]] } };
    if (body.includes('DECAY')) {
      const values = [1, 0.984714752934, 0.5, 0.25, 0.006200785359].map((value) => [value]);
      return { status: 200, body: { columns: [column('weight', 'double')], values } };
    }
    return { status: 200, body: { columns: [], values: [] } };
  };

describe('what Elasticsearch answers', () => {
  const cases: [string, Fault, string, RegExp][] = [
    [
      '401',
      refusal(401, 'security_exception', 'unable to authenticate'),
      'CONFIGURATION',
      /ELASTICSEARCH_API_KEY.*ELASTICSEARCH_USERNAME/,
    ],
    [
      '403',
      refusal(
        403,
        'security_exception',
        'action [x] is unauthorized, this action is granted by the index privileges [read,all]',
      ),
      'CONFIGURATION',
      /index privilege read,all/,
    ],
    [
      '404 for the index',
      refusal(404, 'index_not_found_exception', 'no such index [memories]'),
      'CONFIGURATION',
      /superseded setup/,
    ],
    ['429', refusal(429, 'es_rejected_execution_exception', 'rejected'), 'STORE_UNAVAILABLE', /try again/],
    ['503', refusal(503, 'unavailable_shards_exception', 'no shard'), 'STORE_UNAVAILABLE', /try again/],
    [
      'a refused licence',
      refusal(403, 'security_exception', 'current license is non-compliant for [inference]'),
      'UNSUPPORTED',
      /Basic/,
    ],
    [
      'another refusal',
      refusal(400, 'illegal_argument_exception', 'the content was: Ana is ill'),
      'STORE_FAILED',
      /doctor/,
    ],
    ['half an answer', 'drop', 'STORE_UNAVAILABLE', /ELASTICSEARCH_URL/],
    ['nothing in time', 'hold', 'STORE_UNAVAILABLE', /try again/],
  ];
  it.each(cases)('becomes a coded error with advice: %s', { timeout: 60_000 }, async (_, fault, code, advice) => {
    for (const login of ['key', 'password'] as const) {
      const store = await stubbed(() => fault, login);
      const ana = store.for(ANA);
      const row = rowOf({ id: 'a' });
      const failures = await Promise.all([
        failureOf(ana.get(['a'])),
        failureOf(ana.find({ limit: 9 })),
        failureOf(ana.rank(question)),
        failureOf(ana.nearest({ ...question, minCosine: 0.9 })),
        failureOf(ana.audit({ limit: 9 })),
        ...(login === 'key' ? [failureOf(ana.commit({ insert: [{ row, vector: at(1) }] }))] : []),
      ]);
      for (const failure of failures) {
        expect(failure.code).toBe(code);
        expect(`${failure.message} ${failure.hint}`).toMatch(advice);
        const all = inspect(failure, { depth: 20, showHidden: true, getters: true });
        for (const secret of SECRETS) expect(all).not.toContain(secret);
        expect(all).not.toContain('Ana is ill');
        expect(all).not.toMatch(/authorization|ApiKey/i);
      }
    }
  });

  it('a connection refused is told with its setting', { timeout: 60_000 }, async () => {
    const model = async () => modelOf(8);
    const connection = { url: 'http://elastic-user:s3cret-password@127.0.0.1:9' };
    const store = createElasticsearchStore({
      connection,
      index: 'memories',
      inferenceId: null,
      model,
      clock: () => NOW,
    });
    const failure = await failureOf(store.setup());
    expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE', hint: expect.stringContaining('ELASTICSEARCH_URL') });
    for (const secret of SECRETS) expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain(secret);
  });

  it('a part of a ranking is never passed off for the whole', async () => {
    const columns = [column('_id', 'keyword')];
    const partial = await stubbed(answering({ status: 200, body: { columns, values: [], is_partial: true } }));
    expect(await failureOf(partial.for(ANA).rank(question))).toMatchObject({ code: 'STORE_FAILED' });
  });

  it('a warning is never passed over, but for those that say nothing of the answer', async () => {
    const warned = (warning: string): Fault => ({
      status: 200,
      body: { columns: [], values: [] },
      headers: { warning: `299 Elasticsearch-9.5.3 "${warning}"` },
    });
    const failing = await stubbed(answering(warned('Line 8:3: evaluation of [x] failed, treating result as null.')));
    expect(await failureOf(failing.for(ANA).rank(question))).toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('treating result as null'),
    });
    const harmless = await stubbed(answering(warned('Elasticsearch built-in security features are not enabled.')));
    expect(await harmless.for(ANA).rank(question)).toEqual({ ranked: [], linked: [] });
  });

  it('a ranking that holds another scope is thrown away', async () => {
    const columns = ['_id', 'scope'].map((name) => column(name, 'keyword'));
    const values = [['user:ben|a', 'user:ben']];
    const store = await stubbed(answering({ status: 200, body: { columns, values } }));
    expect(await failureOf(store.for(ANA).rank(question))).toMatchObject({ code: 'STORE_FAILED' });
  });
});

describe('what the cluster can do', () => {
  it('decides the dialect, and says why', async () => {
    const full = await stubbed(answering('pass'));
    expect(await full.capabilities()).toMatchObject({ version: '9.5.3', licence: 'trial', dialect: 'fuse' });
    const basic = await stubbed((request) => {
      const licence = refusal(400, 'verification_exception', 'current license is non-compliant for [FUSE LINEAR]');
      return request.body.includes('FUSE') ? licence : answering('pass')(request);
    });
    const found = await basic.capabilities();
    expect(found).toMatchObject({ dialect: 'portable', fuse: { ok: false }, decay: { ok: true } });
    expect(found.why).toContain('non-compliant');
  });

  it('is portable where DECAY reckons otherwise than the score needs', async () => {
    const store = await stubbed((request) => {
      if (!request.body.includes('DECAY')) return answering('pass')(request);
      return { status: 200, body: { columns: [column('weight', 'double')], values: [[1], [0.99], [0.5], [0], [0]] } };
    });
    expect(await store.capabilities()).toMatchObject({
      dialect: 'portable',
      decay: { ok: false, problem: expect.stringContaining('0.99') },
    });
  });

  it('is refused below 9.3 and without ES|QL, naming what is missing', async () => {
    const old = await stubbed(() => ({ status: 200, body: { version: { number: '9.2.8', build_flavor: 'default' } } }));
    expect(await failureOf(old.capabilities())).toMatchObject({
      code: 'UNSUPPORTED',
      hint: expect.stringContaining('9.3'),
    });
    const bare = await stubbed((request) => {
      const body = { error: 'no handler found for uri [/_query] and method [POST]' };
      return request.path === '/' ? { status: 200, body: INFO } : { status: 400, body };
    });
    expect(await failureOf(bare.capabilities())).toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('ES|QL'),
    });
  });

  it('Serverless has no version and no licence to ask for', async () => {
    const store = await stubbed((request) => {
      if (request.path.startsWith('/_license')) return refusal(410, 'api_not_available_exception', 'not available');
      if (request.path !== '/') return answering('pass')(request);
      return { status: 200, body: { version: { number: '8.11.0', build_flavor: 'serverless' } } };
    });
    expect(await store.capabilities()).toMatchObject({
      version: 'serverless',
      serverless: true,
      licence: null,
      dialect: 'fuse',
    });
  });
});
