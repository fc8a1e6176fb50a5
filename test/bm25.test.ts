import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenize } from '../src/analyzer.ts';
import {
  countTerms,
  decodeLength,
  encodeLength,
  FIELDS,
  indexRow,
  lengthFactors,
  postingScore,
  termWeight,
} from '../src/bm25.ts';

interface Golden {
  documents: { id: string; title: string | null; content: string; tags: string[] }[];
  queries: { query: string; total: number; scores: Record<string, number> }[];
}
const golden = JSON.parse(readFileSync(new URL('./golden/bm25-golden.json', import.meta.url), 'utf8')) as Golden;

/** Every document's score, straight from the definition. */
function scoresOf(query: string, documents: Golden['documents']): Map<string, number> {
  const indexed = documents.map((document) => ({ id: document.id, ...indexRow(document) }));
  const sums = new Map<string, number>();
  FIELDS.forEach((_, field) => {
    const lengths = indexed.map((document) => document.lengths[field] ?? 0);
    const statistics = {
      documents: lengths.filter((length) => length > 0).length,
      tokens: lengths.reduce((sum, length) => sum + length, 0),
    };
    const factors = lengthFactors(statistics);
    for (const [term, repeats] of countTerms(tokenize(query))) {
      const postings = indexed.flatMap(({ id, postings }) =>
        postings
          .filter((posting) => posting.term === term && posting.field === field)
          .map((posting) => ({ id, posting })),
      );
      const weight = termWeight(repeats, statistics.documents, postings.length);
      for (const { id, posting } of postings) {
        sums.set(id, (sums.get(id) ?? 0) + postingScore(weight, posting.tf, factors[posting.norm] as number));
      }
    }
  });
  return new Map([...sums].map(([id, sum]) => [id, Math.fround(sum)]));
}

describe('BM25', () => {
  it('equals Elasticsearch for all 2,000 pairs of document and query, as 32-bit floats', () => {
    let pairs = 0;
    for (const { query, scores, total } of golden.queries) {
      const ours = scoresOf(query, golden.documents);
      expect(ours.size, query).toBe(total);
      for (const { id } of golden.documents) {
        expect(ours.get(id), `${query}: ${id}`).toBe(scores[id] === undefined ? undefined : Math.fround(scores[id]));
        pairs++;
      }
    }
    expect(pairs).toBe(2000);
  });

  it('keeps lengths exactly to 40 and to four significant bits after that', () => {
    for (let length = 0; length <= 40; length++) expect(decodeLength(encodeLength(length))).toBe(length);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (length) => {
        const kept = decodeLength(encodeLength(length));
        expect(encodeLength(length)).toBeLessThan(256);
        expect(kept).toBeLessThanOrEqual(length);
        expect(kept).toBeGreaterThan(length * 0.875 - 1);
        expect(encodeLength(kept)).toBe(encodeLength(length));
      }),
    );
  });

  it('counts the tags of a row as one text', () => {
    const { lengths, postings } = indexRow({ title: null, content: 'x', tags: ['late show', 'late'] });
    expect(lengths).toEqual([0, 1, 3]);
    expect(postings).toContainEqual({ term: 'late', field: 2, tf: 2, norm: 3 });
  });

  it('rises with the term frequency and falls with the length', () => {
    const weight = termWeight(1, 100, 5);
    const factors = lengthFactors({ documents: 100, tokens: 1000 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 200 }), (tf, norm) => {
        const here = postingScore(weight, tf, factors[norm] as number);
        expect(postingScore(weight, tf + 1, factors[norm] as number)).toBeGreaterThanOrEqual(here);
        expect(postingScore(weight, tf, factors[norm + 1] as number)).toBeLessThanOrEqual(here);
      }),
    );
  });
});
