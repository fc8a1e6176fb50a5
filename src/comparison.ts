import { PRESETS, type Preset } from './aging.ts';
import { statusOf } from './memory.ts';
import { rank } from './recall.ts';
import { MOST_CANDIDATES, type Parts } from './score.ts';
import type { Question } from './seeds.ts';
import type { Ranked } from './store.ts';
import type { Superseded } from './superseded.ts';

/** Asks every question under every preset and says where the current and the stale answer came out. */

export interface ComparedHit extends Parts {
  id: string;
  /** 1 is best; counted over all candidates of the question. */
  rank: number;
  score: number;
  ageDays: number;
}

/** A memory's place; null where the question did not find it. */
export interface Place {
  id: string;
  rank: number | null;
  score: number | null;
}

export interface ComparedQuestion {
  id: string;
  question: string;
  hits: ComparedHit[];
  current: Place | Place[];
  stale: Place | null;
}

export interface ComparedPreset {
  name: Preset;
  questions: ComparedQuestion[];
  currentFirst: number;
  currentAboveStale: number;
  /** Questions with a stale memory. */
  total: number;
}

/** All candidates of every question, before they are cut to `limit` hits. */
export interface Comparison {
  presets: ComparedPreset[];
  candidates: Map<string, ComparedHit[]>;
}

const MS_PER_DAY = 86_400_000;

export const candidatesKey = (preset: Preset, question: string): string => `${preset} ${question}`;

export async function compare(
  service: Superseded,
  questions: readonly Question[],
  options: {
    presets: readonly Preset[];
    limit: number;
    now: number;
    onProgress?: (done: number, total: number) => void;
  },
): Promise<Comparison> {
  const { presets: names, limit, now } = options;
  const clocks = { asOf: now, knownAt: now };
  const candidates = new Map<string, ComparedHit[]>();
  const presets: ComparedPreset[] = [];
  for (const [index, name] of names.entries()) {
    const compared: ComparedQuestion[] = [];
    for (const asked of questions) {
      const actor = await service.actor(asked.scope, asked.scope.replace(/^user:/, ''), 'cli');
      const everything = {
        limit: MOST_CANDIDATES,
        includeHistory: false,
        strict: false,
        tags: [],
        aging: PRESETS[name],
      };
      const { kinds, topics } = asked;
      const { ranked } = await rank(actor, { query: asked.question, kinds, topics, ...everything, ...clocks });
      const hits = ranked
        .filter(({ row }) => statusOf(row, clocks) === 'open')
        .map((hit, at) => toHit(hit, at + 1, now));
      candidates.set(candidatesKey(name, asked.id), hits);
      compared.push(toQuestion(asked, hits, limit));
      options.onProgress?.(index * questions.length + compared.length, names.length * questions.length);
    }
    presets.push({ name, questions: compared, ...tally(compared) });
  }
  return { presets, candidates };
}

function toHit({ row, ...parts }: Ranked, rank: number, now: number): ComparedHit {
  const { score, relevance, lexical, semantic, ageWeight, trust } = parts;
  const ageDays = (now - row.createdAt) / MS_PER_DAY;
  return { id: row.id, rank, score, relevance, lexical, semantic, ageWeight, trust, ageDays };
}

function toQuestion(asked: Question, hits: readonly ComparedHit[], limit: number): ComparedQuestion {
  const place = (id: string): Place => {
    const hit = hits.find((candidate) => candidate.id === id);
    return { id, rank: hit?.rank ?? null, score: hit?.score ?? null };
  };
  return {
    id: asked.id,
    question: asked.question,
    hits: hits.slice(0, limit),
    current: Array.isArray(asked.current) ? asked.current.map(place) : place(asked.current),
    stale: asked.stale === null ? null : place(asked.stale),
  };
}

/** The best rank among the current answers; Infinity where none was found. */
export const bestRank = ({ current }: ComparedQuestion): number =>
  Math.min(...[current].flat().map(({ rank }) => rank ?? Number.POSITIVE_INFINITY));

export const isCurrentAboveStale = (question: ComparedQuestion): boolean =>
  bestRank(question) < (question.stale?.rank ?? Number.POSITIVE_INFINITY);

function tally(questions: readonly ComparedQuestion[]) {
  const reversals = questions.filter(({ stale }) => stale !== null);
  return {
    currentFirst: reversals.filter((question) => bestRank(question) === 1).length,
    currentAboveStale: reversals.filter(isCurrentAboveStale).length,
    total: reversals.length,
  };
}
