import { tokenize } from './analyzer.ts';
import { type MemoryRow, passageOf } from './memory.ts';
import type { Actor } from './verb.ts';

/** Open memories that a new one may repeat, correct or contradict: named, never acted on. */

export interface Similar {
  id: string;
  /** Cosine, from the model's near-duplicate point to 1. */
  similarity: number;
  content: string;
  /** The words that only one of the two has. */
  difference: string;
}

const MOST_SIMILAR = 5;
const MOST_WORDS = 6;

/** At most five, nearest first; `replaced` are closing in the same step and do not count. */
export async function similarTo(
  actor: Actor,
  row: MemoryRow,
  vector: Float32Array | null,
  replaced: readonly string[],
): Promise<Similar[]> {
  const near = await actor.store.nearest({
    asOf: row.createdAt,
    knownAt: row.createdAt,
    text: passageOf(row),
    vector,
    minCosine: actor.model.nearDuplicate,
    limit: MOST_SIMILAR + replaced.length,
  });
  return near
    .filter((other) => other.row.id !== row.id && !replaced.includes(other.row.id))
    .slice(0, MOST_SIMILAR)
    .map(({ row: other, cosine }) => ({
      id: other.id,
      similarity: cosine,
      content: other.content,
      difference: differenceOf(row.content, other.content),
    }));
}

/** A word on the difference, such as `here: not, more; there: always`. */
export function differenceOf(here: string, there: string): string {
  const [ours, theirs] = [new Set(tokenize(here)), new Set(tokenize(there))];
  const only = (from: Set<string>, other: Set<string>): string => {
    const words = [...from].filter((word) => !other.has(word));
    const shown = words.slice(0, MOST_WORDS).join(', ');
    return words.length > MOST_WORDS ? `${shown}, …` : shown;
  };
  const parts = [`here: ${only(ours, theirs)}`, `there: ${only(theirs, ours)}`].filter((part) => !part.endsWith(': '));
  return parts.length === 0 ? 'the same words' : parts.join('; ');
}
