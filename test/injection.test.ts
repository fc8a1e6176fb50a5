import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PRESETS } from '../src/aging.ts';
import type { Kind, Scope } from '../src/memory.ts';
import { type RecallRequest, recallQuery, type Target } from '../src/recall-query.ts';
import type { RankQuery } from '../src/store.ts';
import { HOSTILE } from './hostile-texts.ts';

/** What users and their agents write is a value of the query, and never a part of its text. */

const NOW = Date.UTC(2026, 2, 1);
const TARGETS: readonly Target[] = [
  { index: 'memories', dialect: 'fuse', inferenceId: null },
  { index: 'memories', dialect: 'fuse', inferenceId: 'embeddings' },
  { index: 'memories', dialect: 'portable', inferenceId: null },
  { index: 'memories', dialect: 'portable', inferenceId: 'embeddings' },
];

/** A request that holds this text wherever a text can stand. */
function compile(text: string, target: Target, own: string = text): RecallRequest {
  const query: RankQuery = {
    text,
    vector: Float32Array.of(0.6, 0.8),
    calibration: { lo: 0.73, hi: 0.88 },
    aging: {
      windows: [{ topics: [text, `${text}2`], halfLifeHours: 24, floor: 0.2 }],
      otherwise: PRESETS.flat.otherwise,
    },
    limit: 8,
    includeHistory: false,
    strict: true,
    kinds: [text as Kind],
    topics: [text],
    tags: [text],
    asOf: NOW,
    knownAt: NOW,
  };
  return recallQuery(query, own as Scope, { ...target, inferenceId: target.inferenceId && text }, [text]);
}

const boundTo = (request: RecallRequest, name: string) => request.params.find((param) => name in param)?.[name];

describe.each(TARGETS)('a query for $dialect with the endpoint $inferenceId', (target) => {
  const plain = compile('seat', target);

  it.each(Object.entries(HOSTILE))('has the same text for %s', (_, text) => {
    const request = compile(text, target);
    expect(request.query).toBe(plain.query);
    expect(boundTo(request, 'q')).toBe(text);
    expect(boundTo(request, 'topic1')).toBe(text);
    expect(request.params.map((param) => Object.keys(param))).toEqual(plain.params.map((param) => Object.keys(param)));
  });

  it('has the same text for any text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('"', "'", '\\', '|', '?', '/', '*', '\n', '(', ')', ' ', 'q', '`', ':') }),
    );
    fc.assert(
      fc.property(text, (hostile) => {
        fc.pre(hostile.length > 0 && hostile.isWellFormed());
        expect(compile(hostile, target).query).toBe(plain.query);
      }),
      { numRuns: 500 },
    );
  });

  it('reads the own scope and the shared one, whatever the rest says', () => {
    for (const text of Object.values(HOSTILE)) {
      const request = compile(text, target, 'user:ana');
      expect([boundTo(request, 'own'), boundTo(request, 'shared')]).toEqual(['user:ana', 'shared']);
      expect(request.filter).toMatchObject({ bool: { filter: [{ terms: { scope: ['user:ana', 'shared'] } }, {}] } });
      expect(request.query.match(/scope/g)).toHaveLength(plain.query.match(/scope/g)?.length ?? 0);
    }
  });
});

describe('a name in the text', () => {
  it.each(Object.entries(HOSTILE))('is refused for an index called after %s', (_, text) => {
    expect(() => compile('seat', { index: text, dialect: 'fuse', inferenceId: null })).toThrow(TypeError);
  });
});
