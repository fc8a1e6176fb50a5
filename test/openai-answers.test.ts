import { describe, expect, test } from 'vitest';
import { echo, embedder, failure, json, service } from './embeddings-service.ts';

describe('an answer that cannot be used', () => {
  const two = (embedding: unknown, other: unknown = [1, 2]) => ({ data: [{ embedding }, { embedding: other }] });
  test.each<[string, string, string]>([
    ['is bad JSON', '{"data": nope', 'not JSON'],
    ['is JSON cut short', '{"data":[{"embedding":[0.1,', 'not JSON, or JSON cut short'],
    ['has no data', '{"object":"list"}', 'another form'],
    ['holds base64 for a vector', JSON.stringify(two('AAAA')), 'another form'],
    ['has too few vectors', '{"data":[{"embedding":[1,2]}]}', '1 vectors came for 2 inputs'],
    ['has vectors of two lengths', JSON.stringify(two([1, 2], [1])), '1 dimensions came where 2 were expected'],
    ['holds null for a number', JSON.stringify(two([1, null])), 'holds object'],
    ['holds an infinite number', '{"data":[{"embedding":[1,1e999]},{"embedding":[1,2]}]}', 'holds Infinity'],
    ['holds a zero vector', JSON.stringify(two([0, 0])), 'no direction'],
    ['holds empty vectors', JSON.stringify(two([], [])), 'no direction'],
    [
      'names an input twice',
      '{"data":[{"index":1,"embedding":[1,2]},{"index":1,"embedding":[1,2]}]}',
      'the indexes 1, 1',
    ],
  ])('%s', async (_, body, message) => {
    const { url, seen } = await service((response) => response.writeHead(200).end(body));
    const error = await failure(embedder(url).embedPassages(['a', 'b']));
    expect(error.code).toBe('EMBEDDER_FAILED');
    expect(error.message).toContain(message);
    expect(seen).toHaveLength(1);
  });

  test('has other dimensions than the first', async () => {
    const { url } = await service((response, _, nth) => json(response, { data: [{ embedding: nth ? [1, 2] : [1] }] }));
    const changing = embedder(url);
    await changing.embedQuery('a');
    expect((await failure(changing.embedQuery('b'))).message).toContain('2 dimensions came where 1 were expected');
  });

  test('has other dimensions than configured', async () => {
    const { url } = await service(echo);
    const error = await failure(embedder(url, { dimensions: 1536 }).embedQuery('a'));
    expect(error.message).toContain('3 dimensions came where 1536 were expected');
  });
});

test('vectors out of order are put in order by their index', async () => {
  const { url } = await service((response) =>
    json(response, {
      data: [
        { index: 1, embedding: [0, 1] },
        { index: 0, embedding: [1, 0] },
      ],
    }),
  );
  expect((await embedder(url).embedPassages(['a', 'b'])).map((vector) => [...vector])).toEqual([
    [1, 0],
    [0, 1],
  ]);
});
