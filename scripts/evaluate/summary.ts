import { type Interval, intervalOf, type Sample } from './bootstrap.ts';
import { METRICS, type Metric, type Scores } from './metrics.ts';
import type { Part } from './part.ts';

/** From the scores of single questions to means with intervals, by slice of a set. */

/** Tracks in which what is newest is always current. */
export const SUPERSESSION_TRACKS = [
  'supersession',
  'supersession_detection',
  'environmental_freshness',
  'brutal_realistic',
];
/** Tracks in which the newest must often not win. */
export const CONTROL_TRACKS = ['scope_leak', 'scope_permission', 'authority_hierarchy', 'interruption_resumption'];

export interface Row {
  set: string;
  variant: string;
  mode: string;
  slice: string;
  method: string;
  metrics: Record<Metric, Interval | null>;
}

/** A candidate's gain over the present form on the same questions. */
export interface Gain {
  set: string;
  variant: string;
  slice: string;
  candidate: string;
  metric: Metric;
  /** Resampled by prompt or conversation. */
  gain: Interval;
  /** Resampled by question: narrower, and blind to what the questions of one conversation share. */
  byQuestion: Interval;
}

type Chosen = (question: Part['questions'][number]) => boolean;

export const ALL = 'all';
export const SUPERSESSION = 'supersession tracks';
export const CONTROLS = 'control tracks';
export const OTHERS = 'other tracks';
export const LINKED = 'all stale linked';

function slicesOf(part: Part): [string, Chosen][] {
  if (!part.set.startsWith('statebench')) return [[ALL, () => true]];
  const tracks = [...new Set(part.questions.map(({ track }) => track))].sort();
  const named = [...SUPERSESSION_TRACKS, ...CONTROL_TRACKS];
  const linked: [string, Chosen][] = part.mode === 'linked' ? [[LINKED, ({ allLinked }) => allLinked]] : [];
  const slices: [string, Chosen][] = [
    [ALL, () => true],
    [SUPERSESSION, ({ track }) => SUPERSESSION_TRACKS.includes(track)],
    [CONTROLS, ({ track }) => CONTROL_TRACKS.includes(track)],
    [OTHERS, ({ track }) => !named.includes(track)],
    ...linked,
    ...tracks.map((name): [string, Chosen] => [name, ({ track }) => track === name]),
  ];
  return slices.filter(([, chosen]) => part.questions.some(chosen));
}

export function rowsOf(part: Part, seed: number): Row[] {
  const { set, variant, mode } = part;
  return slicesOf(part).flatMap(([slice, chosen]) =>
    Object.entries(part.methods).map(([method, scores]): Row => {
      const metrics = Object.fromEntries(
        METRICS.map((metric) => [metric, intervalOf(samplesOf(part, scores, chosen, metric), seed)]),
      ) as Row['metrics'];
      return { set, variant, mode, slice, method, metrics };
    }),
  );
}

function samplesOf(part: Part, scores: readonly Scores[], chosen: Chosen, metric: Metric): Sample[] {
  return part.questions.flatMap((question, index) => {
    const value = scores[index]?.[metric] ?? null;
    return value === null || !chosen(question) ? [] : [{ group: question.group, value }];
  });
}

const WATCHED: readonly Metric[] = ['recall@10', 'current@1', 'current above stale', 'MRR'];

export function gainsOf(part: Part, reference: string, seed: number): Gain[] {
  const before = part.candidates[reference];
  if (!before) return [];
  const { set, variant } = part;
  const slices = slicesOf(part).filter(([slice]) => [ALL, SUPERSESSION].includes(slice));
  return slices.flatMap(([slice, chosen]) =>
    Object.entries(part.candidates).flatMap(([candidate, after]) =>
      WATCHED.flatMap((metric): Gain[] => {
        const samples = part.questions.flatMap((question, index) => {
          const [old, now] = [before[index]?.[metric] ?? null, after[index]?.[metric] ?? null];
          if (old === null || now === null || !chosen(question)) return [];
          return [{ group: question.group, id: question.id, value: now - old }];
        });
        const gain = intervalOf(samples, seed);
        const byQuestion = intervalOf(
          samples.map(({ id, value }) => ({ group: id, value })),
          seed,
        );
        if (candidate === reference || !gain || !byQuestion) return [];
        return [{ set, variant, slice, candidate, metric, gain, byQuestion }];
      }),
    ),
  );
}

/** Whether the form worked out here ranks as the store did: the share of questions with the same scores in every measure. */
export function agreement(part: Part, reference: string, ours: string): number {
  const [there, here] = [part.methods[ours] ?? [], part.candidates[reference] ?? []];
  const same = there.filter((scores, index) => METRICS.every((metric) => scores[metric] === here[index]?.[metric]));
  return same.length / Math.max(1, there.length);
}
