/** Percentile bootstrap over groups: prompts that were asked often, or conversations, are drawn whole. */

export interface Sample {
  group: string;
  value: number;
}

export interface Interval {
  mean: number;
  low: number;
  high: number;
  /** Questions, and the groups that were resampled. */
  n: number;
  groups: number;
}

export const ROUNDS = 2000;

/** Mean with its 95 % interval; the same seed gives the same interval. null of no samples. */
export function intervalOf(samples: readonly Sample[], seed: number, rounds = ROUNDS): Interval | null {
  if (samples.length === 0) return null;
  const groups = new Map<string, { sum: number; count: number }>();
  for (const { group, value } of samples) {
    const own = groups.get(group) ?? { sum: 0, count: 0 };
    groups.set(group, { sum: own.sum + value, count: own.count + 1 });
  }
  const sums = [...groups.values()];
  const random = randomNumbers(seed);
  const means = Array.from({ length: rounds }, () => {
    let [sum, count] = [0, 0];
    for (let draw = 0; draw < sums.length; draw++) {
      const drawn = sums[Math.floor(random() * sums.length)];
      sum += drawn?.sum ?? 0;
      count += drawn?.count ?? 0;
    }
    return sum / count;
  }).sort((a, b) => a - b);
  const mean = samples.reduce((sum, { value }) => sum + value, 0) / samples.length;
  const at = (p: number): number => means[Math.min(rounds - 1, Math.round(p * (rounds - 1)))] ?? mean;
  return { mean, low: at(0.025), high: at(0.975), n: samples.length, groups: sums.length };
}

/** Numbers in [0, 1) from a seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
