import { DEFAULT_AGING } from '../../src/aging.ts';
import { tokenize } from '../../src/analyzer.ts';
import { passageOf } from '../../src/memory.ts';
import {
  ageWeightOf,
  BRANCH_SIZE,
  type Calibration,
  cosineScoreOf,
  LEXICAL_K,
  relevanceOf,
  semanticOf,
  WEIGHTS,
} from '../../src/score.ts';
import { ordered } from './baselines.ts';
import { randomNumbers } from './bootstrap.ts';
import type { Life } from './datasets.ts';
import { percentile } from './metrics.ts';
import type { Answer } from './play.ts';
import { cosineOf, type Vectors } from './vectors.ts';

/** Candidates for a better relevance, worked out from the scores of the two branches. */

/** What a candidate may know beyond the question's own scores. */
export interface Corpus {
  /** The model's constants. */
  model: Calibration;
  /** Constants measured on each user's own memories. */
  own: ReadonlyMap<string, Calibration>;
  /** Summed rarity of a question's words over the whole store. */
  idfSum(question: string): number;
  /** What makes the mean of `factor × idfSum` equal the fixed constant. */
  idfFactor: number;
}

interface Branches {
  /** BM25 of the best of the lexical branch. */
  lexical: Map<string, number>;
  /** Cosine score of the best of the semantic branch. */
  semantic: Map<string, number>;
}

export const REFERENCE = 'calibrated (offline)';

/** Every form with the question's ids in its order; the reference must be what the store itself answers. */
export function candidateOrders(answer: Answer, corpus: Corpus): Record<string, string[]> {
  const { asked, known, user } = answer;
  const branches = branchesOf(answer);
  const orderBy = (relevance: (id: string) => number): string[] =>
    ordered(
      known.filter(({ id }) => relevance(id) > 0),
      ({ id, topic, at }) => relevance(id) * ageWeightOf(DEFAULT_AGING, topic, at, asked.at),
    );
  const calibrated =
    (k: number, calibration: Calibration) =>
    (id: string): number => {
      const [bm25, cosine] = [branches.lexical.get(id) ?? 0, branches.semantic.get(id)];
      return relevanceOf(bm25 / (bm25 + k), cosine === undefined ? 0 : semanticOf(cosine, calibration));
    };
  const plain = calibrated(LEXICAL_K, corpus.model);
  const fused = minmaxFused(branches, corpus.model);
  const share = 0.75 * Math.min(1, Math.max(0, (known.length - 10) / 30));
  const background = known.reduce((sum, { cosine }) => sum + cosine, 0) / Math.max(1, known.length);
  const { lo, hi } = corpus.model;
  const aroundQuestion = known.length < FEW ? corpus.model : { lo: background, hi: background + hi - lo };
  const idfSum = Math.max(1e-6, corpus.idfSum(asked.question));
  return {
    [REFERENCE]: orderBy(plain),
    '1 blend with minmax': orderBy((id) => share * fused(id) + (1 - share) * plain(id)),
    '2a calibrated by own memories': orderBy(calibrated(LEXICAL_K, corpus.own.get(user) ?? corpus.model)),
    '2b calibrated by the question’s background': orderBy(calibrated(LEXICAL_K, aroundQuestion)),
    '3a k by idf, same mean': orderBy(calibrated(corpus.idfFactor * idfSum, corpus.model)),
    '3b k of half a full match': orderBy(calibrated(HALF_A_MATCH * idfSum, corpus.model)),
  };
}

/** A word found once in a text of average length adds about its idf; half of all of them is half a match. */
const HALF_A_MATCH = 0.5;
/** Rows below which a corpus says nothing of its own. */
const FEW = 10;

function branchesOf({ ranked, known }: Answer): Branches {
  const best = [...known].sort((a, b) => b.cosine - a.cosine || b.at - a.at || (a.id < b.id ? -1 : 1));
  return {
    lexical: new Map(
      ranked.flatMap(({ id, lexical }) => (lexical > 0 ? [[id, (LEXICAL_K * lexical) / (1 - lexical)]] : [])),
    ),
    semantic: new Map(best.slice(0, BRANCH_SIZE).map(({ id, cosine }) => [id, cosineScoreOf(cosine)])),
  };
}

/** FUSE LINEAR with the normalizer `minmax`: the worst of a branch gets 0, and so do all where they are equal. */
function minmaxFused({ lexical, semantic }: Branches, calibration: Calibration): (id: string) => number {
  const scaled = (scores: ReadonlyMap<string, number>, form: (score: number) => number) => {
    const values = [...scores.values()].map(form);
    const [min, max] = [Math.min(...values), Math.max(...values)];
    return (id: string): number => {
      const score = scores.get(id);
      return score === undefined || min === max ? 0 : (form(score) - min) / (max - min);
    };
  };
  const words = scaled(lexical, (bm25) => bm25 / (bm25 + LEXICAL_K));
  const meaning = scaled(semantic, (cosine) => semanticOf(cosine, calibration));
  return (id) => WEIGHTS.lexical * words(id) + WEIGHTS.semantic * meaning(id);
}

/** Measures what the candidates need on the memories of one store. */
export function corpusOf(lives: readonly Life[], vectors: Vectors, model: Calibration, seed: number): Corpus {
  const documents = new Map<string, number>();
  const entries = lives.flatMap((life) => life.entries);
  for (const entry of entries) {
    for (const word of new Set(tokenize(entry.content))) documents.set(word, (documents.get(word) ?? 0) + 1);
  }
  const idfSum = (question: string): number =>
    tokenize(question).reduce((sum, word) => {
      const count = documents.get(word) ?? 0;
      return count === 0 ? sum : sum + Math.log(1 + (entries.length - count + 0.5) / (count + 0.5));
    }, 0);
  const sums = lives.flatMap(({ questions }) => questions.map(({ question }) => idfSum(question)));
  const mean = sums.reduce((sum, value) => sum + value, 0) / Math.max(1, sums.length);
  const own = new Map(
    lives.map((life) => [life.user, life.entries.length < FEW ? model : ownCalibration(life, vectors, seed)]),
  );
  return { model, own, idfSum, idfFactor: LEXICAL_K / Math.max(1e-6, mean) };
}

/** Mean cosine of random pairs of memories, and the median of the nearest other text's. */
function ownCalibration({ entries }: Life, vectors: Vectors, seed: number): Calibration {
  const texts = [...new Set(entries.map(passageOf))].map((text) => vectors.passage(text));
  const random = randomNumbers(seed);
  const pick = (): Float32Array => texts[Math.floor(random() * texts.length)] as Float32Array;
  const pairs = Array.from({ length: 2000 }, () => [pick(), pick()] as const).filter(([a, b]) => a !== b);
  const lo = pairs.reduce((sum, [a, b]) => sum + cosineOf(a, b), 0) / Math.max(1, pairs.length);
  const sample = Array.from({ length: Math.min(100, texts.length) }, pick);
  const nearest = sample.map((one) => Math.max(...texts.filter((text) => text !== one).map((t) => cosineOf(one, t))));
  return { lo, hi: Math.max(lo + 0.02, percentile(nearest, 0.5)) };
}
