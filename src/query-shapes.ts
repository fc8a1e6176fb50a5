import { type AgingTable, PRESETS } from './aging.ts';
import type { Esql } from './esql.ts';
import { MOST_LEARNED, MOST_PINNED } from './learned-windows.ts';
import { type Dialect, recallQuery } from './recall-query.ts';
import type { RankQuery } from './store.ts';
import { memoryProperties, passageField } from './stores/elasticsearch-mapping.ts';

/** The forms a recall can take, as a set small enough to check one by one against Elasticsearch's own analyzer. */

export interface QueryShape {
  /** Ends in `.basic` where a Basic licence must do. */
  name: string;
  request: Esql;
}

const NOW = Date.UTC(2026, 2, 1, 9);
const DAY = 86_400_000;

/** Learned, pinned, and those of the default table. */
const MOST_WINDOWS = MOST_LEARNED + MOST_PINNED + PRESETS.default.windows.length;

/** Ageing tables by the number of their windows; `flat` never ages, `most` has as many as there can be. */
const AGING: Readonly<Record<string, AgingTable>> = {
  flat: PRESETS.flat,
  none: PRESETS['single-window'],
  one: {
    windows: [{ topics: ['plan'], halfLifeHours: 720, floor: 0.1 }],
    otherwise: { halfLifeHours: 1440, floor: 0.25 },
  },
  four: PRESETS.default,
  most: {
    windows: Array.from({ length: MOST_WINDOWS }, (_, n) => ({
      topics: [`topic-${n}`],
      halfLifeHours: 100.5 + n,
      floor: n / MOST_WINDOWS,
    })),
    otherwise: { halfLifeHours: null, floor: 1 },
  },
};

const FILTERS: Readonly<Record<string, Pick<RankQuery, 'kinds' | 'topics' | 'tags'>>> = {
  all: { kinds: [], topics: [], tags: [] },
  kinds: { kinds: ['episodic', 'semantic'], topics: [], tags: [] },
  topics: { kinds: [], topics: ['plan', 'lodging'], tags: [] },
  tags: { kinds: [], topics: [], tags: ['travel'] },
  filtered: { kinds: ['procedural'], topics: ['plan'], tags: ['travel', 'food'] },
};

const CLOCKS: Readonly<Record<string, Pick<RankQuery, 'asOf' | 'knownAt'>>> = {
  now: { asOf: NOW, knownAt: NOW },
  past: { asOf: NOW - 90 * DAY, knownAt: NOW },
};

const MODES: Readonly<Record<string, Pick<RankQuery, 'includeHistory' | 'strict'>>> = {
  held: { includeHistory: false, strict: false },
  history: { includeHistory: true, strict: false },
  strict: { includeHistory: false, strict: true },
};

/** Dialect and branch as one choice, so that each of the four meets every other choice. */
const TARGETS: Readonly<Record<string, { dialect: Dialect; inferenceId: string | null }>> = {
  'fuse-semantic-text': { dialect: 'fuse', inferenceId: 'embeddings' },
  'fuse-dense-vector': { dialect: 'fuse', inferenceId: null },
  'portable-semantic-text': { dialect: 'portable', inferenceId: 'embeddings' },
  'portable-dense-vector': { dialect: 'portable', inferenceId: null },
};

/** What a shape chooses, in the order of its name. */
const FACTORS: readonly (readonly string[])[] = [
  Object.keys(TARGETS),
  Object.keys(AGING),
  Object.keys(FILTERS),
  Object.keys(MODES),
  Object.keys(CLOCKS),
];

/** Shapes that together hold every pair of choices, some 30 of the 600 there are; the same ones each time. */
export function queryShapes(): QueryShape[] {
  return pairwise(FACTORS).map(shapeOf);
}

/** The mapping the shapes are checked against: both semantic fields, of which an index has one. */
export const queryMapping = () => ({
  dynamic: 'strict',
  properties: { ...memoryProperties({ dimensions: 384 }), passage: passageField('embeddings') },
});

function shapeOf(choices: readonly string[]): QueryShape {
  const [target = '', aging = '', filter = '', mode = '', clocks = ''] = choices;
  const { dialect, inferenceId } = chosen(TARGETS, target);
  const query: RankQuery = {
    text: 'Which seat should I book?',
    vector: inferenceId === null ? Float32Array.from({ length: 384 }, (_, n) => (n === 0 ? 1 : 0)) : null,
    calibration: { lo: 0.73, hi: 0.88 },
    limit: 8,
    aging: chosen(AGING, aging),
    ...chosen(FILTERS, filter),
    ...chosen(MODES, mode),
    ...chosen(CLOCKS, clocks),
  };
  const { query: text, params } = recallQuery(query, 'user:demo', {
    index: 'superseded-memories',
    dialect,
    inferenceId,
  });
  const basic = dialect === 'portable' && inferenceId === null ? '.basic' : '';
  return { name: `${choices.join('-')}${basic}`, request: { query: text, params } };
}

function chosen<T>(choices: Readonly<Record<string, T>>, name: string): T {
  const choice = choices[name];
  if (choice === undefined) throw new TypeError(`no choice is called ${name}`);
  return choice;
}

/** Greedy: each next combination is one that brings the most pairs not seen yet, the first of them in order. */
function pairwise(factors: readonly (readonly string[])[]): string[][] {
  const every = factors.reduce<string[][]>(
    (rows, choices) => rows.flatMap((row) => choices.map((choice) => [...row, choice])),
    [[]],
  );
  const pairsOf = (row: readonly string[]): string[] =>
    row.flatMap((a, i) => row.slice(i + 1).map((b, j) => `${i} ${a} ${i + 1 + j} ${b}`));
  const missing = new Set(every.flatMap(pairsOf));
  const kept: string[][] = [];
  while (missing.size > 0) {
    let best: { row: string[]; gain: number } = { row: [], gain: 0 };
    for (const row of every) {
      const gain = pairsOf(row).filter((pair) => missing.has(pair)).length;
      if (gain > best.gain) best = { row, gain };
    }
    for (const pair of pairsOf(best.row)) missing.delete(pair);
    kept.push(best.row);
  }
  return kept;
}
