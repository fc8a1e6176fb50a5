/** Whether a planned day honours what the traveller changed their mind about: fixed rules over the reply's words. Pure. */

export interface Reversal {
  name: string;
  /** The memory in force, and the one it reversed. */
  current: string;
  stale: string;
  /** Words that break it, unless their sentence denies them. */
  breaks: RegExp;
}

export const REVERSALS: readonly Reversal[] = [
  {
    name: 'walking',
    current: 'knee-injury',
    stale: 'walk-everything',
    breaks:
      /\b(?:[4-9]|1\d|2\d)(?:\.\d+)?[\s-]*miles?\b|\b(?:10|15|20),?000 steps|on foot all day|entire city|lands end|filbert|coit tower|across the (?:golden gate )?bridge/i,
  },
  {
    name: 'museums',
    current: 'no-museums',
    stale: 'museums-first',
    breaks: /\bmuseums?\b|sfmoma|de young|exploratorium|academy of sciences|legion of honor|\bgaller(?:y|ies)\b/i,
  },
  {
    name: 'tickets',
    current: 'skip-ticketed',
    stale: 'prebook-tickets',
    breaks:
      /alcatraz|\bzoo\b|exploratorium|academy of sciences|pre-?book|book(?:ed|ing)? (?:ahead|in advance)|timed entry/i,
  },
  {
    name: 'evenings',
    current: 'early-nights',
    stale: 'late-shows',
    breaks:
      /late show|midnight|\b(?:9:[0-5]\d|1[01](?::\d\d)?) ?p\.?m|opening act|headliner|nightlife|(?:show|concert|gig) at the (?:fillmore|independent)/i,
  },
];

/** A sentence that says what is left out is no breach. */
const DENIES =
  /\b(?:no|not|nothing|never|without|skip(?:s|ped|ping)?|avoid(?:s|ed|ing)?|instead of|rather than|leave[s]? out|left out|free of|don['’]t|won['’]t|isn['’]t|rule[sd]? out|limit(?:s|ed)?|under|at most|less than)\b/i;

/** The sentences of a reply that break a reversal. */
export const breachesOf = (reply: string, { breaks }: Reversal): string[] =>
  reply
    .split(/(?<=[.!?])\s+|\n+|;\s+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => breaks.test(sentence) && !DENIES.test(sentence));

export interface Interval {
  low: number;
  high: number;
}

/** Wilson's interval for a share, 95 %: honest also at 0, at 1 and for few runs. */
export function wilson(successes: number, runs: number): Interval {
  if (runs === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const share = successes / runs;
  const spread = z * Math.sqrt((share * (1 - share)) / runs + (z * z) / (4 * runs * runs));
  const centre = share + (z * z) / (2 * runs);
  const scale = 1 + (z * z) / runs;
  return { low: Math.max(0, (centre - spread) / scale), high: Math.min(1, (centre + spread) / scale) };
}
