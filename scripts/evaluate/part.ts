import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BASELINES, OURS, oneWindow, underWindows } from './baselines.ts';
import { candidateOrders, corpusOf } from './candidates.ts';
import type { Asked, Life } from './datasets.ts';
import { percentile, type Scores, scoresOf } from './metrics.ts';
import { type Mode, scriptsOf } from './modes.ts';
import { type Answer, openService, play } from './play.ts';
import type { Progress, Vectors } from './vectors.ts';

/** One part of the evaluation: a set at one gap or clock, played in one mode; what a resumed run does not repeat. */
export interface Part {
  set: string;
  variant: string;
  mode: Mode | 'mastra';
  users: number;
  memories: number;
  questions: (Pick<Asked, 'id' | 'group' | 'track'> & { allLinked: boolean })[];
  /** By method, one entry a question. */
  methods: Record<string, Scores[]>;
  /** The relevance candidates, likewise. */
  candidates: Record<string, Scores[]>;
  /** Our candidates under one window for all topics, likewise. */
  sweep: { halfLifeHours: number; floor: number; scores: Scores[] }[];
  timing: { write: Timing; recall: Timing } | null;
}

export interface Timing {
  p50: number;
  p95: number;
  n: number;
}

export interface Plan {
  set: string;
  variant: string;
  mode: Mode | 'mastra';
  /** Lives by store; a store of its own where BM25 must not see other users. */
  stores: Life[][];
  candidates: boolean;
  sweep: boolean;
}

const HALF_LIVES = [168, 336, 720, 1080, 2160, 4380, 8760, 17_520];
const FLOORS = [0, 0.1, 0.25, 0.5, 0.75];

export async function measure(plan: Plan, vectors: Vectors, seed: number, onProgress: Progress): Promise<Part> {
  const { set, variant, mode, stores } = plan;
  const lives = stores.flat();
  const part: Part = {
    ...{ set, variant, mode, users: lives.length },
    memories: lives.reduce((sum, { entries }) => sum + entries.length, 0),
    ...{ questions: [], methods: {}, candidates: {}, sweep: [], timing: null },
  };
  const times = { writes: [] as number[], recalls: [] as number[] };
  for (const store of stores) {
    const folder = mkdtempSync(join(tmpdir(), 'superseded-evaluate-'));
    try {
      if (mode === 'mastra') await playMastra(part, store, vectors, folder, onProgress);
      else {
        const service = openService(join(folder, 'evaluate.db'), vectors);
        const scripts = store.flatMap((life) => scriptsOf(life, mode));
        const { answers, writes } = await play(service, scripts, vectors, stores.length > 1 ? undefined : onProgress);
        await service.close();
        await score(part, plan, store, answers, vectors, seed);
        times.writes.push(...writes);
        times.recalls.push(...answers.map(({ ms }) => ms));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  if (mode !== 'mastra') part.timing = { write: timingOf(times.writes), recall: timingOf(times.recalls) };
  return part;
}

async function playMastra(part: Part, lives: Life[], vectors: Vectors, folder: string, onProgress: Progress) {
  const inOrder = lives.map((life) => ({ ...life, questions: [...life.questions].sort((a, b) => a.at - b.at) }));
  // Loaded here, so that help and parts without it do not wait for the framework.
  const { askMastra } = await import('./mastra-recall.ts');
  part.methods['Mastra semantic recall'] = await askMastra(inOrder, vectors, folder, onProgress);
  part.questions = inOrder.flatMap(({ questions }) =>
    questions.map(({ id, group, track }) => ({ id, group, track, allLinked: false })),
  );
}

async function score(
  part: Part,
  plan: Plan,
  lives: Life[],
  answers: readonly Answer[],
  vectors: Vectors,
  seed: number,
): Promise<void> {
  const corpus = plan.candidates ? corpusOf(lives, vectors, await vectors.embedder.model(), seed) : null;
  const add = (to: Record<string, Scores[]>, method: string, ids: string[], { current, stale }: Asked): void => {
    to[method] = [...(to[method] ?? []), scoresOf(ids, current, stale)];
  };
  for (const answer of answers) {
    const { asked, ranked, allLinked } = answer;
    part.questions.push({ id: asked.id, group: asked.group, track: asked.track, allLinked });
    const ours = ranked.map(({ id }) => id);
    add(part.methods, OURS, ours, asked);
    if (plan.mode === 'ranking') {
      for (const [name, order] of Object.entries(BASELINES)) add(part.methods, name, order(answer), asked);
    }
    if (corpus) {
      for (const [name, ids] of Object.entries(candidateOrders(answer, corpus))) add(part.candidates, name, ids, asked);
    }
  }
  if (!plan.sweep) return;
  part.sweep = HALF_LIVES.flatMap((halfLifeHours) =>
    FLOORS.map((floor) => ({
      halfLifeHours,
      floor,
      scores: answers.map((answer) => {
        const ids = underWindows(answer, oneWindow(halfLifeHours, floor));
        return scoresOf(ids, answer.asked.current, answer.asked.stale);
      }),
    })),
  );
}

const timingOf = (ms: readonly number[]): Timing => ({
  p50: percentile(ms, 0.5),
  p95: percentile(ms, 0.95),
  n: ms.length,
});
