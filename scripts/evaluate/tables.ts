import { OURS } from './baselines.ts';
import type { Interval } from './bootstrap.ts';
import type { Gate } from './gates.ts';
import type { LearnedResult } from './learned.ts';
import { learnedTables } from './learned-tables.ts';
import { table } from './markdown.ts';
import { METRICS } from './metrics.ts';
import type { Timing } from './part.ts';
import type { Run } from './report.ts';
import { ALL, CONTROLS, type Gain, LINKED, OTHERS, type Row, SUPERSESSION } from './summary.ts';

/** The tables of docs/evaluation.md. */

export interface Report {
  run: Run;
  gates: Gate[];
  sets: {
    set: string;
    variant: string;
    mode: string;
    users: number;
    memories: number;
    questions: number;
    timing: { write: Timing; recall: Timing } | null;
  }[];
  parity: { set: string; variant: string; agreement: number }[];
  rows: Row[];
  gains: Gain[];
  learned: LearnedResult | null;
}

export function tablesOf(report: Report): string {
  const { run, gates } = report;
  return [
    `Version ${run.version}, Node ${run.node}, store ${run.store}, dialect ${run.dialect ?? 'none'}, model ${run.model}, seed ${run.seed}.`,
    '### What must hold',
    table(
      ['check', 'at least', 'measured', ''],
      gates.map(({ name, value, least, holds }) => [
        name,
        least.toFixed(least > 0 && least < 0.01 ? 3 : 2),
        value.toFixed(3),
        holds ? 'holds' : '**no**',
      ]),
    ),
    ...methods(report),
    ...tracks(report),
    ...candidates(report),
    ...(report.learned === null ? [] : learnedTables(report.learned)),
    '### Speed of these runs',
    'Vectors at hand; one write is the verb `remember`, one recall ranks and reads all candidates (up to 160).',
    table(
      ['set', 'mode', 'users', 'memories', 'write p50 / p95 ms', 'recall p50 / p95 ms', 'recalls'],
      report.sets.flatMap(({ set, variant, mode, users, memories, timing }) =>
        timing === null
          ? []
          : [
              [
                `${set} ${variant}`,
                mode,
                `${users}`,
                `${memories}`,
                pair(timing.write),
                pair(timing.recall),
                `${timing.recall.n}`,
              ],
            ],
      ),
    ),
  ].join('\n\n');
}

const SLICES = [SUPERSESSION, CONTROLS, OTHERS, LINKED, ALL];

/** What the middle gap, and longer gaps in tracks that no age can sort, add is in the JSON alone. */
function isShown({ set, slice, variant }: Row): boolean {
  if (!SLICES.includes(slice)) return false;
  if (!set.startsWith('statebench')) return true;
  const long = slice === CONTROLS && variant === 'gaps × 720';
  return slice === SUPERSESSION || (slice !== ALL && (variant === 'gaps × 1' || long));
}

/** A table for each slice and variant, a line for each method; Mastra’s recall knows no age, so it stands at every gap. */
function methods({ rows }: Report): string[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const ageless = row.mode === 'mastra' && row.set.startsWith('statebench');
    for (const variant of ageless ? variantsOf(rows, row.set) : [row.variant]) {
      if (!isShown({ ...row, variant })) continue;
      const title = `${row.set}, ${variant}${row.slice === ALL ? '' : `: ${row.slice}`}`;
      groups.set(title, [...(groups.get(title) ?? []), row]);
    }
  }
  return [...groups].flatMap(([title, group]) => {
    const { n = 0, groups: drawn = 0 } = group[0]?.metrics['recall@10'] ?? {};
    return [
      `### ${title}`,
      `${n} questions in ${drawn} resampled groups.`,
      table(
        ['method', ...METRICS],
        group.map((row) => [nameOf(row), ...METRICS.map((metric) => cell(row.metrics[metric]))]),
      ),
    ];
  });
}

const variantsOf = (rows: readonly Row[], set: string): string[] => [
  ...new Set(rows.filter((row) => row.set === set).map(({ variant }) => variant)),
];

function nameOf({ method, mode }: Row): string {
  if (mode === 'linked') return 'Superseded, data’s links';
  if (mode === 'oracle') return 'Superseded, oracle chain';
  return method === OURS ? '**Superseded**, nothing linked' : method;
}

const TRACK_COLUMNS: readonly [name: string, variant: string, mode: string, method: string][] = [
  ['nothing linked × 1', 'gaps × 1', 'ranking', OURS],
  ['nothing linked × 720', 'gaps × 720', 'ranking', OURS],
  ['newest first', 'gaps × 1', 'ranking', 'newest first'],
  ['linked × 1', 'gaps × 1', 'linked', OURS],
  ['oracle × 1', 'gaps × 1', 'oracle', OURS],
];

/** Whether a table tells of the row. */
export const isTold = (row: Row): boolean =>
  SLICES.includes(row.slice)
    ? isShown(row)
    : TRACK_COLUMNS.some(([, ...column]) => column.join() === [row.variant, row.mode, row.method].join());

/** Current above stale by track of StateBench. */
function tracks({ rows }: Report): string[] {
  const mine = rows.filter((row) => row.set.startsWith('statebench') && !SLICES.includes(row.slice));
  if (mine.length === 0) return [];
  const named = [...new Set(mine.map(({ set, slice }) => `${set} ${slice}`))];
  return [
    '### Current above stale by track',
    table(
      ['track', 'n', ...TRACK_COLUMNS.map(([name]) => name)],
      named.map((name) => {
        const own = mine.filter(({ set, slice }) => `${set} ${slice}` === name);
        const of = (variant: string, mode: string, method: string) =>
          own.find((row) => row.variant === variant && row.mode === mode && row.method === method)?.metrics[
            'current above stale'
          ] ?? null;
        const n = own[0]?.metrics['current above stale']?.n ?? 0;
        return [name, `${n}`, ...TRACK_COLUMNS.map(([, variant, mode, method]) => cell(of(variant, mode, method)))];
      }),
    ),
  ];
}

export function isGainShown({ set, variant, slice, metric }: Gain): boolean {
  if (set.startsWith('locomo')) return metric === 'recall@10' || metric === 'MRR';
  if (metric !== 'current above stale') return false;
  return !set.startsWith('statebench') || (slice === SUPERSESSION && variant !== 'gaps × 24');
}

function candidates({ gains, parity }: Report): string[] {
  if (gains.length === 0) return [];
  const shown = gains.filter(isGainShown);
  return [
    '### Candidates for the relevance, against the present form',
    `Gain in points (hundredths), same questions, with intervals. The present form worked out offline scores as the store did on ${parity
      .map(({ set, variant, agreement }) => `${(100 * agreement).toFixed(1)} % of ${set} ${variant}`)
      .join(', ')}.`,
    table(
      ['candidate', 'set', 'measure', 'gain', 'resampled by question', 'n'],
      shown
        .sort((a, b) => (a.candidate < b.candidate ? -1 : a.candidate > b.candidate ? 1 : 0))
        .map(({ candidate, set, variant, metric, gain, byQuestion }) => [
          ...[candidate, `${set} ${variant}`, metric],
          ...[points(gain), points(byQuestion), `${gain.n}`],
        ]),
    ),
  ];
}

const pair = ({ p50, p95 }: Timing): string => `${p50.toFixed(1)} / ${p95.toFixed(1)}`;

const cell = (interval: Interval | null): string =>
  interval === null ? '–' : `${interval.mean.toFixed(3)} [${interval.low.toFixed(2)}, ${interval.high.toFixed(2)}]`;

const signed = (value: number): string => `${value >= 0 ? '+' : '−'}${Math.abs(100 * value).toFixed(1)}`;
const points = ({ mean, low, high }: Interval): string => `${signed(mean)} [${signed(low)}, ${signed(high)}]`;
