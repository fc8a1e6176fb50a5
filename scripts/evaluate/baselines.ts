import { type AgingTable, PRESETS } from '../../src/aging.ts';
import { ageWeightOf } from '../../src/score.ts';
import type { Answer } from './play.ts';

/** What else one could order the same memories by, from the same texts and vectors. */

export const OURS = 'superseded';

export interface Ordered {
  id: string;
  at: number;
}

/** By value, then newest, then id: the store's own order. */
export function ordered<T extends Ordered>(items: readonly T[], worth: (item: T) => number): string[] {
  return items
    .map((item) => ({ ...item, value: worth(item) }))
    .sort((a, b) => b.value - a.value || b.at - a.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
    .map(({ id }) => id);
}

/** Our candidates under other windows; a question's candidates do not depend on age, so this is exact. */
export const underWindows = ({ ranked, asked }: Answer, table: AgingTable): string[] =>
  ordered(ranked, ({ relevance, trust, topic, at }) => relevance * ageWeightOf(table, topic, at, asked.at) * trust);

export const oneWindow = (halfLifeHours: number | null, floor: number): AgingTable => ({
  windows: [],
  otherwise: { halfLifeHours, floor },
});

const bare = oneWindow(1080, 0);

export const BASELINES: Readonly<Record<string, (answer: Answer) => string[]>> = {
  'no ageing': (answer) => underWindows(answer, PRESETS.flat),
  'one 1080 h window': (answer) => underWindows(answer, PRESETS['single-window']),
  'newest first': ({ known }) => ordered(known, ({ at }) => at),
  'BM25 only': ({ ranked }) =>
    ordered(
      ranked.filter(({ lexical }) => lexical > 0),
      ({ lexical }) => lexical,
    ),
  'vectors only': ({ known }) => ordered(known, ({ cosine }) => cosine),
  '(1 + cos) / 2 × 1080 h': ({ known, asked }) =>
    ordered(known, ({ cosine, topic, at }) => ((1 + cosine) / 2) * ageWeightOf(bare, topic, at, asked.at)),
};
