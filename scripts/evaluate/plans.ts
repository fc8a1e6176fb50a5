import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFile } from '../../src/project-file.ts';
import { type Entry, type Life, readCompared, readLocomo, readStateBench } from './datasets.ts';
import { MODES } from './modes.ts';
import type { Options } from './options.ts';
import type { Plan } from './part.ts';

/** Which parts a run consists of, by set; a set that is not there says why. */
export interface SetPlans {
  name: string;
  /** Hash of the files the set is made of. */
  key(): string;
  /** Why it is skipped; null where it is there. */
  missing: string | null;
  plans(): Plan[];
}

/** Times all distances of StateBench are multiplied by: its own minutes, hours, and weeks. */
export const GAPS = [1, 24, 720] as const;
/** Days after the last session of LoCoMo. */
export const LATER = [0, 30, 180] as const;
/** Rows of the stores in which the reversals of the seeds are asked. */
export const SIZES = [2, 10, 650] as const;
const MS_PER_DAY = 86_400_000;
/** The instant the seeds are asked at; their ages count back from it. */
const SEEDS_NOW = Date.UTC(2026, 2, 1, 9);

/** Learned windows on made-up people: measured apart, since no memory is written for it. */
const LEARNED = 'learned';
const KNOWN = ['statebench/dev', 'statebench/train', 'locomo/tune', 'seeds', 'compare', LEARNED];

export const wantsLearned = ({ sets }: Options): boolean => sets === null || sets.includes(LEARNED);

export function plansOf(options: Options): SetPlans[] {
  const wanted = options.sets ?? ['statebench/dev', 'locomo/tune', 'seeds', ...(options.memories ? ['compare'] : [])];
  for (const name of wanted) {
    if (!KNOWN.includes(name)) throw new Error(`--sets ${name} is not known: use ${KNOWN.join(', ')}.`);
  }
  const fileOf = (name: string): string | null => (options.data === null ? null : join(options.data, name));
  const locomo = fileOf('locomo/tune.json');
  return wanted
    .filter((name) => name !== LEARNED)
    .map((name) => {
      if (name === 'seeds') return seeds(locomo);
      if (name === 'compare') return compared(options);
      const file = fileOf(name.startsWith('locomo') ? `${name}.json` : `${name}.jsonl`);
      if (file === null) return absent(name, 'no --data folder was given');
      if (!existsSync(file)) return absent(name, `${file} is not there`);
      const plans = name.startsWith('locomo') ? locomoPlans : stateBenchPlans;
      return { name, missing: null, key: () => hashOf([file]), plans: () => plans(name, file) };
    });
}

const absent = (name: string, missing: string): SetPlans => ({ name, missing, key: () => '', plans: () => [] });

const stateBenchPlans = (set: string, file: string): Plan[] => [
  ...GAPS.flatMap((gap) =>
    MODES.map((mode): Plan => {
      const ranking = mode === 'ranking';
      const stores = [readStateBench(file, gap)];
      return { set, variant: `gaps × ${gap}`, mode, stores, candidates: ranking, sweep: ranking };
    }),
  ),
  { ...bare(set, 'gaps × 1', [readStateBench(file)]), mode: 'mastra' },
];

const locomoPlans = (set: string, file: string): Plan[] => [
  ...LATER.map((days): Plan => {
    const stores = [readLocomo(file, days * MS_PER_DAY)];
    return { ...bare(set, `+${days} days`, stores), candidates: true, sweep: true };
  }),
  { ...bare(set, '+0 days', [readLocomo(file)]), mode: 'mastra' },
  { ...bare(set, '+0 days, with photo captions', [readLocomo(file, 0, 'captioned')]), candidates: true },
  { ...bare(set, '+0 days, without speakers', [readLocomo(file, 0, 'bare')]), candidates: true },
];

const bare = (set: string, variant: string, stores: Life[][]): Plan => ({
  ...{ set, variant, stores },
  ...{ mode: 'ranking', candidates: false, sweep: false },
});

function compared({ memories, questions }: Options): SetPlans {
  if (memories === null || questions === null) return absent('compare', '--memories and --questions are not given');
  const plans = () => {
    const stores = [readCompared(memories, questions, SEEDS_NOW)];
    return [{ ...bare('compare', 'as given', stores), candidates: true }];
  };
  return { name: 'compare', missing: null, key: () => hashOf([memories, questions]), plans };
}

/** The seeds as they are, and each reversal in stores of 2, 10 and 650 rows (the last filled with turns of LoCoMo). */
function seeds(locomo: string | null): SetPlans {
  const files = [projectFile('seeds/memories.json'), projectFile('seeds/questions.json')] as const;
  const filler = locomo !== null && existsSync(locomo) ? locomo : null;
  return {
    name: 'seeds',
    missing: null,
    key: () => hashOf([...files, ...(filler ? [filler] : [])]),
    plans: () => {
      const lives = readCompared(...files, SEEDS_NOW);
      const turns = filler === null ? [] : readLocomo(filler).flatMap(({ entries }) => entries);
      const sizes = SIZES.filter((size) => size <= 10 || turns.length > 0);
      return [
        { ...bare('seeds', 'as they are', [lives]), candidates: true },
        ...sizes.map((size) => ({
          ...bare('seeds', `${size} rows`, reversals(lives, size, turns)),
          candidates: true,
        })),
      ];
    },
  };
}

/**
 * A store for each reversal with both sides and other memories of its kind; one store for all where the seeds fit in,
 * filled up with others, spread over a year.
 */
export function reversals(lives: readonly Life[], size: number, filler: readonly Entry[]): Life[][] {
  return lives.flatMap(({ user, entries, questions }) => {
    const asked = questions.filter(({ stale }) => stale.length > 0);
    if (size > entries.length) {
      const spread = filler.slice(0, size - entries.length).map((entry, index) => ({
        ...entry,
        id: `filler-${index}`,
        at: SEEDS_NOW - ((index % 365) + 1) * MS_PER_DAY,
      }));
      return [[{ user, entries: byInstant([...entries, ...spread]), questions: asked }]];
    }
    return asked.map((one) => {
      const sides = new Set([...one.current, ...one.stale]);
      const own = entries.filter(({ id }) => sides.has(id));
      const others = entries.filter(({ id, kind }) => !sides.has(id) && one.kinds.includes(kind));
      const rows = [...own, ...others].slice(0, Math.max(size, own.length));
      return [{ user, entries: byInstant(rows), questions: [one] }];
    });
  });
}

const byInstant = (entries: Entry[]): Entry[] => [...entries].sort((a, b) => a.at - b.at);

const hashOf = (files: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
};
