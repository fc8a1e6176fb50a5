import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readModelCard, readTokenizer } from '../src/embedders/local-model.ts';
import { toMicroBatches } from '../src/embedders/micro-batches.ts';
import { splitIntoRuns } from '../src/embedders/passages.ts';

const MODEL = fileURLToPath(new URL('../models/e5-small-v2', import.meta.url));
const SHORT = 'Since my knee injury I walk three miles a day at most.';

describe('splitting', async () => {
  const tokenize = await readTokenizer(MODEL);
  const { maxTokens } = await readModelCard(MODEL);
  const budget = maxTokens - 4;

  test.each([
    ['sentences', 'The cable car leaves from Powell and Market. It costs eight dollars! Worth it? '.repeat(100)],
    ['one endless sentence', 'and then we walked on past incomprehensibilities '.repeat(160)],
    ['Chinese', '我不吃花生。我喜欢博物馆。'.repeat(600)],
    ['one word', 'a'.repeat(8000)],
    ['emoji', '🌉 '.repeat(4000)],
  ])('keeps every token of 8,000 characters of %s, in order, in runs within the budget', (_, text) => {
    const runs = splitIntoRuns(text, { budget, tokenize });
    expect(runs.length).toBeGreaterThan(1);
    expect(Math.max(...runs.map((run) => run.length))).toBeLessThanOrEqual(budget);
    expect(Math.min(...runs.map((run) => run.length))).toBeGreaterThan(budget / 4);
    expect(runs.flat()).toEqual(tokenize(text).ids);
  });

  test('leaves a text within the budget whole', () => {
    expect(splitIntoRuns(SHORT, { budget, tokenize })).toEqual([tokenize(SHORT).ids]);
  });

  test('tells words of more than 100 characters apart', () => {
    expect(tokenize('a'.repeat(150)).ids).not.toEqual(tokenize('b'.repeat(150)).ids);
  });
});

test('micro-batches hold each run once, sorted by length, within the limit', () => {
  const runs = Array.from({ length: 60 }, (_, i) => Array.from({ length: 1 + ((i * 37) % 90) }, () => i + 1));
  const batches = toMicroBatches(runs, 256);
  for (const { rows, columns, ids, mask, positions } of batches) {
    expect(rows * columns).toBeLessThanOrEqual(256);
    positions.forEach((position, row) => {
      const length = runs[position]?.length ?? 0;
      expect([...ids.slice(row * columns, row * columns + length)].map(Number)).toEqual(runs[position]);
      expect(mask.slice(row * columns, (row + 1) * columns).reduce((sum, bit) => sum + bit, 0n)).toBe(BigInt(length));
    });
  }
  expect(batches.flatMap((batch) => batch.positions).toSorted((a, b) => a - b)).toEqual([...runs.keys()]);
});
