import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { DEFAULT_AGING } from '../src/aging.ts';
import { SHARED } from '../src/memory.ts';
import {
  ageWeightOf,
  BRANCH_SIZE,
  cosineScoreOf,
  lexicalOf,
  relevanceOf,
  scoreOf,
  semanticOf,
  trustOf,
} from '../src/score.ts';
import type { Specify } from './store-contract.ts';
import { ANA, at, BEN, closed, DAY, modelOf, NOW, put, questionOf, ranked, rowOf, T0 } from './store-fixtures.ts';

interface Golden {
  documents: { id: string; title: string | null; content: string; tags: string[] }[];
  queries: { query: string; scores: Record<string, number> }[];
}
const golden = JSON.parse(readFileSync(new URL('./golden/bm25-golden.json', import.meta.url), 'utf8')) as Golden;
/** Texts a careless store stumbles over, each with a question that finds it. */
const TEXTS = [
  ['"double", \'single\', `back` and \\ slash', 'single'],
  ['title:knee AND (NOT a* OR b?) [1 TO 9] ~2 ^3 + - && || !', 'title:knee NOT ('],
  ["'; DROP TABLE memories; -- %_", "'; DROP TABLE"],
  ['東京タワーで寿司を食べる', '東京'],
  ['한국어 기억 하나', '한국어'],
  ['ภาษาไทย', 'ภาษาไทย'],
  ['שלום עולם, צה"ל', 'שלום'],
  ['مرحبا بالعالم ٣٤', 'مرحبا'],
  ['👩‍👩‍👧 and 🇫🇷 and ★', '👩‍👩‍👧'],
  ['Crème brûlée — l’été…', 'BRÛLÉE'],
  ['tab\tand\nnew line', 'line'],
  ['{"json": [null, true]} $x {{y}} <b>html</b> &amp;', 'html'],
] as const;

export function rankingContract(specify: Specify): void {
  specify('every part follows the score formula, and the parts multiply to the score', async (store) => {
    const rows = [
      rowOf({ id: 'a', content: 'knee injury', confidence: 0.3, feedbackSum: -1, feedbackCount: 1 }),
      rowOf({ id: 'b', content: 'knee', topic: 'plan', freshAt: T0 - 40 * DAY, feedbackSum: 2, feedbackCount: 2 }),
      rowOf({ id: 'c', content: 'museum', topic: 'constraint', freshAt: T0 - 400 * DAY, confidence: 0.1 + 0.2 }),
      rowOf({ id: 'd', content: 'tram', topic: 'lodging', freshAt: NOW + DAY, scope: SHARED }),
    ];
    const cosines = [0.7, 0.5, 0.9, 0.3];
    await put(store, rows, cosines);
    const query = questionOf({ text: 'knee injury', aging: DEFAULT_AGING });
    const { ranked } = await store.for(ANA).rank(query);
    expect(ranked.map(({ row }) => row.id).sort()).toEqual(['a', 'b', 'c', 'd']);
    for (const { row, score, ...parts } of ranked) {
      const cosine = cosines[rows.findIndex(({ id }) => id === row.id)] as number;
      expect(parts.semantic).toBeCloseTo(semanticOf(cosineScoreOf(cosine), query.calibration), 5);
      expect(parts.relevance).toBeCloseTo(relevanceOf(parts.lexical, parts.semantic), 12);
      expect(parts.ageWeight).toBeCloseTo(ageWeightOf(DEFAULT_AGING, row.topic, row.freshAt, NOW), 12);
      expect(parts.trust).toBeCloseTo(trustOf(row), 12);
      expect(score).toBeCloseTo(scoreOf(parts), 12);
      expect(parts.lexical > 0).toBe(row.content.includes('knee'));
    }
    expect(ranked.map(({ score }) => score)).toEqual(ranked.map(({ score }) => score).sort((a, b) => b - a));
  });

  specify('lexical parts equal the scores Elasticsearch gave the golden documents', async (store) => {
    const rows = golden.documents.map((document) => rowOf(document));
    await put(
      store,
      rows,
      rows.map(() => 0),
    );
    for (const { query, scores } of golden.queries) {
      const { ranked } = await store.for(ANA).rank(questionOf({ text: query }));
      expect(new Set(ranked.map(({ row }) => row.id)), query).toEqual(new Set(Object.keys(scores)));
      for (const { row, lexical } of ranked) expect(lexical).toBeCloseTo(lexicalOf(scores[row.id] as number), 6);
    }
  });

  specify('how rare a word is counts over the memories of all users', async (store) => {
    await put(store, [rowOf({ id: 'a', content: 'knee' }), rowOf({ id: 'b', content: 'tram' })]);
    const lexical = async () => (await store.for(ANA).rank(questionOf({ text: 'knee' }))).ranked[0]?.lexical ?? 0;
    const rare = await lexical();
    await put(
      store,
      Array.from({ length: 20 }, (_, n) => rowOf({ id: `n${n}`, content: 'knee', scope: BEN })),
    );
    expect(rare).toBeCloseTo(lexicalOf(Math.fround(Math.log(2))), 6);
    expect(await lexical()).toBeLessThan(rare / 2);
  });

  specify('a cosine at the low end of the calibration counts as 0 and one at the high end as 1', async (store) => {
    const rows = ['low', 'under', 'high', 'over'].map((id) => rowOf({ id, content: 'knee' }));
    await put(store, rows, [0.1, -0.9, 0.81, 1]);
    const { ranked } = await store.for(ANA).rank(questionOf({ text: 'knee' }));
    const semantic = Object.fromEntries(ranked.map(({ row, semantic }) => [row.id, semantic]));
    expect(semantic).toEqual({ low: 0, under: 0, high: 1, over: 1 });
  });

  specify('the words of title, content and tags all count', async (store) => {
    await put(
      store,
      [
        rowOf({ id: 'title', title: 'Knee', content: 'x' }),
        rowOf({ id: 'content', content: 'the KNEE' }),
        rowOf({ id: 'tags', content: 'x', tags: ['bad knee', 'other'] }),
        rowOf({ id: 'none', content: 'kneecap' }),
      ],
      [0, 0, 0, 0],
    );
    expect((await ranked(store, questionOf({ text: 'knee' }))).sort()).toEqual(['content', 'tags', 'title']);
  });

  specify('a memory of relevance 0 is not ranked', async (store) => {
    await put(store, [rowOf({ id: 'near' }), rowOf({ id: 'far' })], [0.5, 0.2 - 1e-3]);
    expect(await ranked(store, questionOf())).toEqual(['near']);
  });

  specify('each branch gives its 80 best, and a memory one branch did not find has 0 for it', async (store) => {
    const near = Array.from({ length: BRANCH_SIZE + 20 }, (_, n) => rowOf({ id: `near-${n}`, content: 'tram' }));
    const worded = rowOf({ id: 'worded', content: 'knee' });
    await put(store, [...near, worded], [...near.map((_, n) => 0.5 + n / 1000), 0.4]);
    const result = (await store.for(ANA).rank(questionOf({ text: 'knee' }))).ranked;
    const expected = near
      .slice(20)
      .map(({ id }) => id)
      .reverse();
    expect(result.filter(({ row }) => row.id !== 'worded').map(({ row }) => row.id)).toEqual(expected);
    expect(result.find(({ row }) => row.id === 'worded')).toMatchObject({
      semantic: 0,
      lexical: expect.closeTo(0.28, 1),
    });
  });

  specify('filters apply before the best of a branch are taken', async (store) => {
    const near = Array.from({ length: BRANCH_SIZE + 5 }, (_, n) => rowOf({ id: `near-${n}`, content: 'knee knee' }));
    const far = rowOf({ id: 'far', content: 'knee and many other words', topic: 'fact' });
    const closedOnes = near.slice(0, 3).map((row) => closed({ ...row, id: `closed-${row.id}` }, T0 + DAY));
    await put(store, [...near, ...closedOnes, far], [...near.map(() => 0.9), 0.9, 0.9, 0.9, 0.3]);
    const { ranked: found } = await store.for(ANA).rank(questionOf({ text: 'knee', topics: ['fact'] }));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ row: { id: 'far' }, semantic: expect.closeTo(1 / 6, 5) });
    expect(found[0]?.lexical).toBeGreaterThan(0);
    const open = await ranked(store, questionOf({ text: 'knee' }));
    expect(open).toHaveLength(BRANCH_SIZE);
    expect(open.some((id) => id.startsWith('closed'))).toBe(false);
  });

  specify('ties are broken by fresh_at descending, then by id and scope in code units', async (store) => {
    const rows = [
      rowOf({ id: 'b', content: 'same' }),
      rowOf({ id: 'a', content: 'same' }),
      rowOf({ id: 'B', content: 'same' }),
      rowOf({ id: 'a', content: 'same', scope: SHARED }),
      rowOf({ id: 'z', content: 'same', freshAt: T0 + 1 }),
    ];
    await put(store, rows);
    const result = (await store.for(ANA).rank(questionOf({ text: 'same' }))).ranked;
    expect(result.map(({ row }) => `${row.id} ${row.scope}`)).toEqual([
      `z ${ANA}`,
      `B ${ANA}`,
      `a ${SHARED}`,
      `a ${ANA}`,
      `b ${ANA}`,
    ]);
  });

  specify('ties at the cut of a branch are broken in the same way', async (store) => {
    const ids = Array.from({ length: 400 }, (_, n) => `m${String(n).padStart(3, '0')}`);
    const shuffled = ids.map((_, n) => ids[(n * 149) % ids.length] as string);
    const rows = shuffled.map((id) => rowOf({ id, content: 'same' }));
    await put(store, [...rows, rowOf({ id: 'z', content: 'same', freshAt: T0 + 1 })]);
    const found = await ranked(store, questionOf({ text: 'same' }));
    expect(found).toEqual(['z', ...ids.slice(0, BRANCH_SIZE - 1)]);
  });

  specify('the limit bounds what is ranked, from the best', async (store) => {
    await put(
      store,
      ['a', 'b', 'c', 'd'].map((id) => rowOf({ id })),
      [0.4, 0.7, 0.6, 0.5],
    );
    expect(await ranked(store, questionOf({ limit: 2 }))).toEqual(['b', 'c']);
    expect(await ranked(store, questionOf({ limit: 1 }))).toEqual(['b']);
  });

  specify('ages count to asOf, and freshness after asOf counts as no age', async (store) => {
    await put(store, [rowOf({ id: 'a', freshAt: T0 }), rowOf({ id: 'b', freshAt: T0 + 40 * DAY })]);
    const query = questionOf({ aging: DEFAULT_AGING, asOf: T0 + 20 * DAY, knownAt: NOW });
    const { ranked } = await store.for(ANA).rank(query);
    const weights = Object.fromEntries(ranked.map(({ row, ageWeight }) => [row.id, ageWeight]));
    expect(weights.a).toBeCloseTo(ageWeightOf(DEFAULT_AGING, 'preference', T0, T0 + 20 * DAY), 12);
    expect(weights.b).toBe(1);
  });

  specify('any text comes back as it was written and is found by its own words', async (store) => {
    const rows = TEXTS.map(([text], n) =>
      rowOf({ id: `t${n}`, title: text.slice(0, 200), content: text, tags: [text.slice(0, 60)] }),
    );
    await put(
      store,
      rows,
      rows.map(() => 0),
    );
    for (const [n, [, question]] of TEXTS.entries()) {
      const found = (await store.for(ANA).rank(questionOf({ text: question }))).ranked;
      expect(found[0]?.row, question).toEqual(rows[n]);
    }
  });

  specify('a question without a word is answered by meaning alone', async (store) => {
    await put(store, [rowOf({ id: 'a' })]);
    for (const text of ['?!', '"', '* OR', `${'( '.repeat(900)}`]) {
      const { ranked } = await store.for(ANA).rank(questionOf({ text }));
      expect(ranked, text).toMatchObject([{ row: { id: 'a' }, lexical: 0, semantic: expect.closeTo(0.5, 5) }]);
    }
  });

  specify('a question of many words is answered', async (store) => {
    await put(store, [rowOf({ id: 'a', content: 'w7 w70' })]);
    const text = Array.from({ length: 400 }, (_, n) => `w${n}`).join(' ');
    expect((await store.for(ANA).rank(questionOf({ text }))).ranked[0]?.lexical).toBeGreaterThan(0);
  });

  specify('an empty store ranks nothing', async (store) => {
    expect(await store.for(ANA).rank(questionOf())).toEqual({ ranked: [], linked: [] });
  });

  specify('a ranking that was called off rejects', async (store) => {
    await put(store, [rowOf({ id: 'a' })]);
    await expect(store.for(ANA).rank(questionOf({ signal: AbortSignal.abort() }))).rejects.toThrow();
  });

  specify('the same question gives the same ranking', async (store) => {
    const rows = Array.from({ length: 60 }, (_, n) => rowOf({ id: `m${n}`, content: `knee ${n % 7} tram` }));
    await put(
      store,
      rows,
      rows.map((_, n) => (n % 9) / 10),
    );
    const query = questionOf({ text: 'knee 3 tram' });
    const first = await store.for(ANA).rank(query);
    expect(await store.for(ANA).rank(query)).toEqual(first);
  });

  specify('the model of the store is the one its vectors came from', async (store) => {
    expect(await store.model()).toEqual(modelOf(8));
    expect(at(0.5)).toHaveLength(8);
  });
}
