import { describe, expect, test } from 'vitest';
import type { OpenAiCompatibleOptions } from '../src/embedders/openai-compatible.ts';
import { embeddingsEndpoint } from '../src/embedders/openai-request.ts';
import { echo, embedder, failure, json, KEY, service } from './embeddings-service.ts';

describe('a request', () => {
  test('goes to /v1/embeddings with model, input, format and the key, and gives unit vectors', async () => {
    const { url, seen } = await service(echo);
    const [vector] = await embedder(url).embedPassages(['abc']);
    expect(seen[0]?.path).toBe('/v1/embeddings');
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(seen[0]?.body).toEqual({ model: 'stub', input: ['abc'], encoding_format: 'float' });
    expect(vector?.[0]).toBeCloseTo(3 / Math.sqrt(10), 6);
    expect(vector?.[1]).toBeCloseTo(1 / Math.sqrt(10), 6);
  });

  test('carries no authorization where there is no key', async () => {
    const { url, seen } = await service(echo);
    await embedder(url, { apiKey: undefined }).embedQuery('abc');
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  test.each([
    ['http://h', 'http://h/v1/embeddings'],
    ['http://h/v1/', 'http://h/v1/embeddings'],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1/embeddings'],
    ['http://h/tei', 'http://h/tei/v1/embeddings'],
    ['http://h/v1/embeddings', 'http://h/v1/embeddings'],
    ['http://h/x/embeddings?api-version=1', 'http://h/x/embeddings?api-version=1'],
  ])('of base %s goes to %s', (base, endpoint) => {
    expect(embeddingsEndpoint(base)).toBe(endpoint);
  });

  test('puts the prefix of its kind before the text, and the prefixes into the identity of the model', async () => {
    const { url, seen } = await service(echo);
    const prefixed = embedder(url, { queryPrefix: 'search_query: ', passagePrefix: 'search_document: ' });
    await prefixed.embedQuery('q');
    await prefixed.embedPassages(['p']);
    expect(seen.map((one) => one.body.input)).toEqual([['search_query: q'], ['search_document: p']]);
    expect((await prefixed.model()).hash).not.toBe((await embedder(url).model()).hash);
  });

  test('holds at most batchSize texts, and progress is told after each', async () => {
    const { url, seen } = await service(echo);
    const progress: number[] = [];
    const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee'];
    const vectors = await embedder(url, { batchSize: 2 }).embedPassages(texts, {
      onProgress: (done) => progress.push(done),
    });
    expect(seen.map((one) => one.body.input.length)).toEqual([2, 2, 1]);
    expect(progress).toEqual([2, 4, 5]);
    expect(vectors.map((vector) => Math.round((vector[0] ?? 0) / (vector[1] ?? 1)))).toEqual([1, 2, 3, 4, 5]);
  });

  test('is not made for no texts', async () => {
    const { url, seen } = await service(echo);
    expect(await embedder(url).embedPassages([])).toEqual([]);
    expect(seen).toHaveLength(0);
  });

  test('for the model alone is made once, also by callers at the same time; given dimensions spare it', async () => {
    const { url, seen } = await service(echo);
    const asked = embedder(url);
    const [model] = await Promise.all([asked.model(), asked.model()]);
    expect(model).toEqual({
      name: 'stub',
      dimensions: 3,
      hash: `${url}/v1/embeddings`,
      lo: 0.2,
      hi: 0.7,
      nearDuplicate: 0.9,
    });
    expect((await embedder(url, { dimensions: 3 }).model()).dimensions).toBe(3);
    expect(seen).toHaveLength(1);
  });

  test('is given up when the caller aborts, with the reason of the caller', async () => {
    const { url } = await service(() => {});
    const reason = new Error('enough');
    const promise = embedder(url).embedPassages(['a'], { signal: AbortSignal.any([abortAfter(20, reason)]) });
    await expect(promise).rejects.toBe(reason);
  });
});

function abortAfter(ms: number, reason: Error): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), ms);
  return controller.signal;
}

describe('a passing failure', () => {
  test.each([429, 500, 502, 503, 504])('of status %i is tried again', async (status) => {
    const { url, seen } = await service((response, one, nth) =>
      nth === 0 ? json(response, {}, status) : echo(response, one, nth),
    );
    await embedder(url).embedPassages(['a']);
    expect(seen).toHaveLength(2);
  });

  test('with Retry-After in seconds is tried again only after them', async () => {
    const { url } = await service((response, one, nth) =>
      nth === 0 ? json(response, {}, 429, { 'retry-after': '1' }) : echo(response, one, nth),
    );
    const start = performance.now();
    await embedder(url).embedPassages(['a']);
    expect(performance.now() - start).toBeGreaterThan(990);
  });

  test('with Retry-After as a date waits from the Date of the answer', async () => {
    const headers = { date: 'Sun, 01 Mar 2026 09:00:00 GMT', 'retry-after': 'Sun, 01 Mar 2026 09:00:01 GMT' };
    const { url } = await service((response, one, nth) =>
      nth === 0 ? json(response, {}, 503, headers) : echo(response, one, nth),
    );
    const start = performance.now();
    await embedder(url).embedPassages(['a']);
    expect(performance.now() - start).toBeGreaterThan(990);
  });

  test('that lasts is an error after the last attempt, with what the service said', async () => {
    const { url, seen } = await service((response) => json(response, { error: 'slow down' }, 429));
    const error = await failure(embedder(url, { retries: 2 }).embedPassages(['a']));
    expect(error.code).toBe('EMBEDDER_FAILED');
    expect(error.message).toContain('status 429');
    expect(error.message).toContain('slow down');
    expect(seen).toHaveLength(3);
  });

  test('of the network is tried again', async () => {
    const { url, seen } = await service((response, one, nth) =>
      nth === 0 ? response.socket?.destroy() : echo(response, one, nth),
    );
    await embedder(url).embedPassages(['a']);
    expect(seen).toHaveLength(2);
  });

  test('of a service that is not there names EMBEDDINGS_URL', async () => {
    const { url, close } = await service(echo);
    close();
    const error = await failure(embedder(url, { retries: 1 }).embedPassages(['a']));
    expect(error.code).toBe('EMBEDDER_FAILED');
    expect(error.hint).toContain('EMBEDDINGS_URL');
  });

  test('ends the wait for another attempt when the caller aborts', async () => {
    const { url } = await service((response) => json(response, {}, 429, { 'retry-after': '20' }));
    const reason = new Error('enough');
    await expect(embedder(url).embedQuery('a', { signal: abortAfter(50, reason) })).rejects.toBe(reason);
  });
});

describe('a lasting failure', () => {
  test('is a request without an answer within timeoutMs, its body included', async () => {
    const { url, seen } = await service((response) => response.writeHead(200).write('{"data": ['));
    const error = await failure(embedder(url, { timeoutMs: 60 }).embedPassages(['a']));
    expect(error.code).toBe('EMBEDDER_FAILED');
    expect(error.message).toContain('60 ms');
    expect(seen).toHaveLength(1);
  });

  test.each([401, 403])('of status %i is a matter of EMBEDDINGS_API_KEY and is not tried again', async (status) => {
    const { url, seen } = await service((response) => json(response, { error: `bad key ${KEY}` }, status));
    const error = await failure(embedder(url).embedPassages(['a']));
    expect(error.code).toBe('CONFIGURATION');
    expect(error.hint).toContain('EMBEDDINGS_API_KEY');
    expect(seen).toHaveLength(1);
  });

  test('of status 404 is a matter of EMBEDDINGS_URL or EMBEDDINGS_MODEL', async () => {
    const { url } = await service((response) => json(response, { error: 'model not found' }, 404));
    const error = await failure(embedder(url).embedPassages(['a']));
    expect(error.code).toBe('CONFIGURATION');
    expect(error.hint).toMatch(/EMBEDDINGS_URL.*EMBEDDINGS_MODEL/);
  });

  test('never shows the key, whatever the service says', async () => {
    const { url } = await service((response) => json(response, { error: `${KEY} cannot do that` }, 400));
    expect((await failure(embedder(url).embedPassages(['a']))).message).toContain('[key] cannot do that');
  });
});

test.each<[string, Partial<OpenAiCompatibleOptions>]>([
  ['an address that is none', { url: 'localhost:11434' }],
  ['an address with a password', { url: `http://me:${KEY}@h/v1` }],
  ['a key with a line break', { apiKey: `${KEY}\n` }],
  ['an empty model', { model: ' ' }],
  ['lo above hi', { lo: 0.8, hi: 0.7 }],
])('%s is refused before anything is sent', async (_, options) => {
  const made = (async () => embedder('http://127.0.0.1:9', options))();
  expect((await failure(made)).code).toBe('CONFIGURATION');
});
