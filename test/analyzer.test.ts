import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenize } from '../src/analyzer.ts';

const golden = JSON.parse(readFileSync(new URL('./golden/standard-analyzer-golden.json', import.meta.url), 'utf8')) as {
  cases: { text: string; tokens: string[] }[];
};

describe('the analyzer', () => {
  it.each(golden.cases)('splits $text as Elasticsearch does', ({ text, tokens }) => {
    expect(tokenize(text)).toEqual(tokens);
  });

  it('keeps accents and typographic marks of Latin text', () => {
    expect(tokenize('“Crème brûlée” — it’s l’été… naïve–coöperate')).toEqual([
      'crème',
      'brûlée',
      'it’s',
      'l’été',
      'naïve',
      'coöperate',
    ]);
  });

  it('cuts a long token so that no surrogate pair is torn', () => {
    const tokens = tokenize('𝒜'.repeat(200));
    expect(tokens.map((token) => token.length)).toEqual([254, 146]);
    expect(tokens.every((token) => token.isWellFormed())).toBe(true);
  });

  it('gives tokens that are their own only token', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        for (const token of tokenize(text)) expect(tokenize(token)).toEqual([token]);
      }),
    );
  });

  it('gives the same tokens for two texts apart or joined by white space', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.string({ unit: 'binary', maxLength: 40 }),
        (a, b) => {
          expect(tokenize(`${a}\n${b}`)).toEqual([...tokenize(a), ...tokenize(b)]);
        },
      ),
    );
  });

  it('takes time in proportion to the length of hostile text', () => {
    for (const unit of ['_', 'a_', "א'", '1,', '\u0301', '😀\u200D', 'a.']) {
      const start = performance.now();
      tokenize(unit.repeat(40_000));
      expect(performance.now() - start, unit).toBeLessThan(2000);
    }
  });
});
