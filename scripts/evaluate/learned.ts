import { type AgingTable, DEFAULT_AGING, PRESETS } from '../../src/aging.ts';
import { countsOf, type Pool, poolOf } from '../../src/counts.ts';
import { type LearnedWindow, type LearnFrom, learnWindows, tableWith } from '../../src/learned-windows.ts';
import { supersededRow } from '../../src/lifecycle.ts';
import type { MemoryRow } from '../../src/memory.ts';
import { ageWeightOf } from '../../src/score.ts';
import type { Lifetimes } from '../../src/store.ts';
import { type Interval, intervalOf, type Sample } from './bootstrap.ts';
import { lifetimesOf } from './lifetimes.ts';
import {
  closedByNext,
  type Draws,
  drawsOf,
  endAt,
  globalHalfLife,
  PACES,
  type Person,
  population,
  type Recovery,
  recover,
  splitAt,
  type Value,
} from './population.ts';

/** Learned windows against fixed and global ones, on people whose pace is known. */

const OTHERWISE = DEFAULT_AGING.otherwise;
/** Single half-lives tried for the strongest global window, in days. */
const GRID_DAYS = [5, 10, 20, 30, 45, 60, 90, 120, 180, 270, 365, 540, 900, 1500, 3000];
const QUESTIONS = 30;
/** True half-lives that are to be recovered, in days, under every prior the table has. */
const RECOVERED_DAYS = [3, 7, 20, 60, 180, 900];
/**
 * Relevance of memories that answer the question, current or not, and of the person's others: mean and standard
 * deviation as `compare` finds them for the questions of the seeds.
 */
const ANSWERS = { mean: 0.61, deviation: 0.18 };
const OTHERS = { mean: 0.26, deviation: 0.15 };

export const METHODS = [
  'learned, by topic',
  'learned from own changes alone',
  'the default table',
  'one window, learned',
  'one window, best of 15 on these questions',
  'no ageing',
] as const;
export type Method = (typeof METHODS)[number];

export interface LearnedResult {
  people: number;
  seed: number;
  recoveries: Recovery[];
  /** Questions over all memories of the person, and the same over those of the question's topic. */
  asked: Comparison;
  askedWithTopic: Comparison;
  globalHalfLifeDays: number;
  /** Windows used, by topic and source. */
  sources: Record<string, Record<LearnedWindow['source'], number>>;
}

export interface Comparison {
  questions: number;
  /** Share of questions whose first memory is the current value. */
  currentFirst: Record<Method, Interval>;
  byTopic: Record<string, Record<Method, Interval>>;
  /** Learned by topic minus the method, question by question. */
  gains: Record<Method, Interval>;
  /** Of the best single window. */
  bestHalfLifeDays: number;
}

interface Asked {
  user: string;
  topic: string;
  at: number;
  candidates: { row: MemoryRow; relevance: number; current: boolean }[];
}

type TableOf = (user: string) => AgingTable;

export function measureLearned(people: number, seed: number): LearnedResult {
  const persons = population(people, seed);
  const lifetimes = new Map(persons.map((person) => [person.user, lifetimesOf(closedRows(person), splitAt)]));
  const all = [...lifetimes.values()].flat();
  const pool = poolOf(countsOf(all));
  const windowsOf = (learnFrom: LearnFrom) =>
    new Map([...lifetimes].map(([user, own]) => [user, learnedWindows(own, pool, learnFrom)]));
  const windows = windowsOf('everyone');
  const tableOf =
    (learned: ReadonlyMap<string, LearnedWindow[]>): TableOf =>
    (user) =>
      tableWith(learned.get(user) ?? [], DEFAULT_AGING);
  const tables = { learned: tableOf(windows), own: tableOf(windowsOf('own')), once: single(globalHours(all)) };
  const draws = drawsOf(seed + 1);
  const asked = persons.flatMap((person) => questionsOf(person, draws));
  const compare = (questions: readonly Asked[]) => compareTables(questions, tables, seed);
  return {
    people,
    seed,
    recoveries: [50, 23].flatMap((events) =>
      RECOVERED_DAYS.flatMap((days) =>
        tableHours().map((prior) => recover({ halfLifeHours: days * 24, events, rounds: 1000, seed, prior })),
      ),
    ),
    asked: compare(asked),
    askedWithTopic: compare(asked.map(withTopic)),
    globalHalfLifeDays: globalHours(all) / 24,
    sources: sourcesOf([...windows.values()].flat(), Object.keys(PACES)),
  };
}

const globalHours = (lifetimes: readonly Lifetimes[]): number =>
  globalHalfLife(lifetimes, OTHERWISE.halfLifeHours ?? 0);

/** Every half-life of the table, the shortest first. */
function tableHours(): number[] {
  const all = [...DEFAULT_AGING.windows, OTHERWISE].map(({ halfLifeHours }) => halfLifeHours);
  return [...new Set(all.filter((hours) => hours !== null))].sort((a, b) => a - b);
}

const single = (halfLifeHours: number): AgingTable => ({ windows: [], otherwise: { ...OTHERWISE, halfLifeHours } });

const withTopic = ({ candidates, ...question }: Asked): Asked => ({
  ...question,
  candidates: candidates.filter(({ row }) => row.topic === question.topic),
});

interface Tables {
  learned: TableOf;
  own: TableOf;
  once: AgingTable;
}

function compareTables(asked: readonly Asked[], { learned, own, once }: Tables, seed: number): Comparison {
  const answers = (tableOf: TableOf): Sample[] => asked.map((question) => answer(question, tableOf(question.user)));
  const right = (samples: readonly Sample[]): number => samples.reduce((sum, { value }) => sum + value, 0);
  const grid = GRID_DAYS.map((days) => ({ days, samples: answers(() => single(days * 24)) }));
  const best = grid.reduce((a, b) => (right(b.samples) > right(a.samples) ? b : a));
  const samples: Record<Method, Sample[]> = {
    'learned, by topic': answers(learned),
    'learned from own changes alone': answers(own),
    'the default table': answers(() => DEFAULT_AGING),
    'one window, learned': answers(() => once),
    'one window, best of 15 on these questions': best.samples,
    'no ageing': answers(() => PRESETS.flat),
  };
  const each = (pick: (method: Method) => readonly Sample[]) =>
    Object.fromEntries(METHODS.map((method) => [method, intervalOf(pick(method), seed) ?? nothing()])) as Record<
      Method,
      Interval
    >;
  const ours = samples['learned, by topic'];
  return {
    questions: asked.length,
    currentFirst: each((method) => samples[method]),
    byTopic: Object.fromEntries(
      Object.keys(PACES).map((topic) => [
        topic,
        each((method) => samples[method].filter((_, at) => asked[at]?.topic === topic)),
      ]),
    ),
    gains: each((method) =>
      ours.map(({ group, value }, at) => ({ group, value: value - (samples[method][at]?.value ?? 0) })),
    ),
    bestHalfLifeDays: best.days,
  };
}

function nothing(): never {
  throw new Error('There is nothing to measure: ask for more people.');
}

const closedRows = ({ linked }: Person): MemoryRow[] =>
  closedByNext(linked, (row, next) => supersededRow(row, next, next.createdAt, true));

function learnedWindows(lifetimes: readonly Lifetimes[], pool: Pool, learnFrom: LearnFrom): LearnedWindow[] {
  const [[scope, own] = ['', new Map()]] = countsOf(lifetimes);
  const seen = { scope, own, pool: learnFrom === 'everyone' ? pool : null };
  return learnWindows(seen, DEFAULT_AGING, { learnFrom, pinned: new Map() });
}

/** Subjects and instants after the split at random; candidates are what the person had told and not closed by then. */
function questionsOf(person: Person, draws: Draws): Asked[] {
  const closed = new Set(closedRows(person).flatMap(({ id, validTo }) => (validTo === null ? [] : [id])));
  const values = [...person.linked, ...person.unlinked].filter(({ row }) => !closed.has(row.id));
  const subjects = [...new Set(values.map(({ subject }) => subject))];
  return Array.from({ length: QUESTIONS }, () => {
    const at = splitAt + draws.uniform() * (endAt - splitAt);
    const told = values.filter(({ row }) => row.createdAt <= at);
    const subject = subjects[Math.floor(draws.uniform() * subjects.length)] ?? '';
    const own = told.filter((value) => value.subject === subject);
    const current = own.at(-1);
    const candidates = told.map((value) => ({
      row: value.row,
      relevance: relevanceOf(value, subject, draws),
      current: value === current,
    }));
    return { user: person.user, topic: current?.row.topic ?? '', at, candidates };
  }).filter(({ topic }) => topic !== '');
}

function relevanceOf(value: Value, subject: string, draws: Draws): number {
  const { mean, deviation } = value.subject === subject ? ANSWERS : OTHERS;
  return Math.min(1, Math.max(0, mean + deviation * draws.normal()));
}

function answer({ user, at, candidates }: Asked, table: AgingTable): Sample {
  const scored = candidates.map(({ row, relevance, current }) => ({
    current,
    score: relevance * ageWeightOf(table, row.topic, row.freshAt, at),
  }));
  const top = scored.reduce((a, b) => (b.score > a.score ? b : a));
  return { group: user, value: top.current ? 1 : 0 };
}

function sourcesOf(windows: readonly LearnedWindow[], topics: readonly string[]) {
  const none = { table: 0, pinned: 0, own: 0, everyone: 0 };
  const counts = new Map(topics.map((topic) => [topic, { ...none }]));
  for (const { topic, source } of windows) {
    const count = counts.get(topic);
    if (count) count[source]++;
  }
  return Object.fromEntries(counts);
}
