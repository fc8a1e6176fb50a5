/** What is measured of one ranked list of memories, against what is current and what is stale. */

export const METRICS = ['current@1', 'current above stale', 'stale@8', 'recall@8', 'recall@10', 'MRR'] as const;
export type Metric = (typeof METRICS)[number];

/** null where a question has no stale memory, so that the measure says nothing. */
export type Scores = Record<Metric, number | null>;

/** Best first; a memory that is missing was not found. */
export function scoresOf(ranked: readonly string[], current: readonly string[], stale: readonly string[]): Scores {
  const bestOf = (ids: readonly string[]): number => {
    const wanted = new Set(ids);
    const index = ranked.findIndex((id) => wanted.has(id));
    return index < 0 ? Number.POSITIVE_INFINITY : index + 1;
  };
  const recallAt = (k: number): number => {
    const first = new Set(ranked.slice(0, k));
    return current.filter((id) => first.has(id)).length / current.length;
  };
  const [right, wrong] = [bestOf(current), bestOf(stale)];
  return {
    'current@1': right === 1 ? 1 : 0,
    'current above stale': stale.length === 0 ? null : right < wrong ? 1 : 0,
    'stale@8': stale.length === 0 ? null : wrong <= 8 ? 1 : 0,
    'recall@8': recallAt(8),
    'recall@10': recallAt(10),
    MRR: 1 / right,
  };
}

/** The value that a share `p` of the numbers does not exceed; NaN of none. */
export function percentile(numbers: readonly number[], p: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN;
}
