import { countsOf } from '../../src/counts.ts';
import { estimate } from '../../src/hazard.ts';
import { type MemoryRow, newRow, userScope } from '../../src/memory.ts';
import { MS_PER_HOUR } from '../../src/score.ts';
import type { Lifetimes } from '../../src/store.ts';
import { randomNumbers } from './bootstrap.ts';

/** Made-up people whose pace of changing is known: what learned windows are measured on. */

export const DAY_HOURS = 24;
const START = Date.UTC(2024, 0, 1);

/** True half-lives of three topics that the ageing table does not name, in hours. */
export const PACES: Readonly<Record<string, number>> = {
  mood: 20 * DAY_HOURS,
  lodging: 120 * DAY_HOURS,
  employer: 900 * DAY_HOURS,
};
/** Each person's pace differs from the topic's by a factor e^(0.4 z), z standard normal. */
const SPREAD = 0.4;
const SUBJECTS = 3;
/** For so long every change is linked to what it replaced; then nothing is. */
export const LINKED_DAYS = 540;
export const ASKED_DAYS = 180;

/** A value of one subject; the current one is the last. */
export interface Value {
  subject: string;
  row: MemoryRow;
}

export interface Person {
  user: string;
  /** What was told while changes were linked. */
  linked: Value[];
  /** What was told afterwards. */
  unlinked: Value[];
}

export interface Draws {
  uniform: () => number;
  normal: () => number;
  exponential: (mean: number) => number;
}

export function drawsOf(seed: number): Draws {
  const uniform = randomNumbers(seed);
  return {
    uniform,
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
    exponential: (mean) => -mean * Math.log(1 - uniform()),
  };
}

export const splitAt = START + LINKED_DAYS * DAY_HOURS * MS_PER_HOUR;
export const endAt = splitAt + ASKED_DAYS * DAY_HOURS * MS_PER_HOUR;

/** People who tell of every change of every subject, from the first day to the last. */
export function population(people: number, seed: number): Person[] {
  const draws = drawsOf(seed);
  return Array.from({ length: people }, (_, index) => {
    const user = `person-${index + 1}`;
    const values = Object.entries(PACES).flatMap(([topic, halfLife]) =>
      Array.from({ length: SUBJECTS }, (_, nth) => {
        const own = halfLife * Math.exp(SPREAD * draws.normal());
        return subjectOf(user, topic, `${user} ${topic} ${nth + 1}`, own, draws);
      }).flat(),
    );
    const before = ({ row }: Value) => row.createdAt < splitAt;
    return { user, linked: values.filter(before), unlinked: values.filter((value) => !before(value)) };
  });
}

function subjectOf(user: string, topic: string, subject: string, halfLife: number, draws: Draws): Value[] {
  const values: Value[] = [];
  let at = START + draws.uniform() * 30 * DAY_HOURS * MS_PER_HOUR;
  while (at < endAt) {
    const id = `${subject.replaceAll(' ', '-')}-${values.length + 1}`;
    const content = `${subject} ${values.length + 1}`;
    const said = { id, scope: userScope(user), kind: 'semantic' as const, topic, title: null, content, tags: [] };
    values.push({ subject, row: newRow(said, Math.round(at)) });
    at += draws.exponential(halfLife / Math.LN2) * MS_PER_HOUR;
  }
  return values;
}

/** The values told while changes were linked, each closed by the next of its subject. */
export function closedByNext(
  values: readonly Value[],
  close: (row: MemoryRow, next: MemoryRow) => MemoryRow,
): MemoryRow[] {
  return values.map(({ subject, row }, at) => {
    const next = values.slice(at + 1).find((value) => value.subject === subject);
    return next ? close(row, next.row) : row;
  });
}

export interface Recovery {
  /** The half-life of the prior, in days, and how many changes were seen. */
  priorDays: number;
  events: number;
  /** The true half-life. */
  days: number;
  /** Relative errors of the estimated half-life. */
  rms: number;
  median: number;
  within20: number;
  /** How often the 90 % interval held the true half-life. */
  covered: number;
}

interface Trial {
  /** The true half-life. */
  halfLifeHours: number;
  events: number;
  rounds: number;
  seed: number;
  /** The prior's half-life, in hours. */
  prior: number;
}

/** Lives of a known half-life, watched until the wanted number have ended; learned under the prior of the table. */
export function recover({ halfLifeHours, events, rounds, seed, prior }: Trial): Recovery {
  const draws = drawsOf(seed);
  const errors: number[] = [];
  let covered = 0;
  for (let round = 0; round < rounds; round++) {
    const lives = Array.from({ length: 2 * events }, () => {
      const from = draws.uniform() * halfLifeHours;
      return { from, to: from + draws.exponential(halfLifeHours / Math.LN2) };
    });
    const until = lives.map(({ to }) => to).sort((a, b) => a - b)[events - 1] ?? 0;
    const seen = lives.filter(({ from }) => from < until);
    const exposureHours = seen.reduce((sum, { from, to }) => sum + Math.min(to, until) - from, 0);
    const learned = estimate({ events, exposureHours }, prior);
    errors.push(Math.abs(learned.halfLifeHours / halfLifeHours - 1));
    if (learned.lowHours <= halfLifeHours && halfLifeHours <= learned.highHours) covered++;
  }
  errors.sort((a, b) => a - b);
  return {
    priorDays: prior / DAY_HOURS,
    events,
    days: halfLifeHours / DAY_HOURS,
    rms: Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / rounds),
    median: errors[Math.floor(rounds / 2)] ?? 0,
    within20: errors.filter((error) => error < 0.2).length / rounds,
    covered: covered / rounds,
  };
}

/** The half-life a single window for all topics would learn from the same lives. */
export function globalHalfLife(lifetimes: readonly Lifetimes[], prior: number): number {
  const seen = [...countsOf(lifetimes).values()].flatMap((counts) => [...counts.values()]);
  const sum = (of: 'events' | 'exposureHours') => seen.reduce((total, one) => total + one[of], 0);
  return estimate({ events: sum('events'), exposureHours: sum('exposureHours') }, prior).halfLifeHours;
}
