import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFile } from '../../src/project-file.ts';
import { type Interval, intervalOf } from '../evaluate/bootstrap.ts';
import { table } from '../evaluate/markdown.ts';
import { percentile, scoresOf } from '../evaluate/metrics.ts';
import { SUPERSESSION_TRACKS } from '../evaluate/summary.ts';
import type { Material } from './material.ts';

/** From the measurements of single processes to a table of ratios. */

/** What a measuring process prints. */
export interface Raw {
  version: string;
  settings: string;
  writes?: number[];
  recalls?: number[];
  answers?: { id: string; ranked: string[] }[];
  /** Growth of the process at its peak, and bytes on disk. */
  megabytes: number;
  disk: number;
}

export interface Measured {
  tool: string;
  version: string;
  settings: string;
  currentAboveStale: Interval | null;
  currentFirst: Interval | null;
  speeds: { size: number; write: Pair; recall: Pair; megabytes: number; diskMegabytes: number }[];
}

interface Pair {
  p50: number;
  p95: number;
}

export function summaryOf(
  tool: string,
  quality: Raw,
  speeds: readonly { size: number; raw: Raw }[],
  { lives }: Material,
): Measured {
  const ranked = new Map((quality.answers ?? []).map((answer) => [answer.id, answer.ranked]));
  const asked = lives.flatMap(({ questions }) => questions).filter(({ track }) => SUPERSESSION_TRACKS.includes(track));
  const interval = (metric: 'current above stale' | 'current@1') =>
    intervalOf(
      asked.flatMap((one) => {
        const value = scoresOf(ranked.get(one.id) ?? [], one.current, one.stale)[metric];
        return value === null ? [] : [{ group: one.group, value }];
      }),
      1,
    );
  return {
    ...{ tool, version: quality.version, settings: quality.settings },
    currentAboveStale: interval('current above stale'),
    currentFirst: interval('current@1'),
    speeds: speeds.map(({ size, raw }) => ({
      ...{ size, write: pair(raw.writes), recall: pair(raw.recalls) },
      ...{ megabytes: raw.megabytes, diskMegabytes: raw.disk / 1024 / 1024 },
    })),
  };
}

const pair = (ms: readonly number[] = []): Pair => ({ p50: percentile(ms, 0.5), p95: percentile(ms, 0.95) });

export const reportOf = (tools: readonly Measured[], machine: string) => ({ machine, tools });
type Report = ReturnType<typeof reportOf>;

const BEGIN = '<!-- others:begin (written by npm run bench:others) -->';
const END = '<!-- others:end -->';

export function writeTables(report: Report, out: string | null): string[] {
  const folder = out ?? projectFile('docs/evaluation');
  mkdirSync(folder, { recursive: true });
  const json = join(folder, 'others.json');
  writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  const page = out === null ? projectFile('docs/evaluation.md') : join(folder, 'others.md');
  if (out !== null) {
    writeFileSync(page, `${textOf(report)}\n`);
    return [json, page];
  }
  const text = existsSync(page) ? readFileSync(page, 'utf8') : '';
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (start < 0 || end < start) return [json];
  writeFileSync(page, `${text.slice(0, start)}${BEGIN}\n\n${textOf(report)}\n\n${text.slice(end)}`);
  return [json, page];
}

function textOf({ machine, tools }: Report): string {
  const base = tools[0];
  const sizes = base?.speeds.map(({ size }) => size) ?? [];
  const share = (interval: Interval | null): string =>
    interval ? `${interval.mean.toFixed(3)} [${interval.low.toFixed(2)}, ${interval.high.toFixed(2)}]` : '–';
  const quality = tools.map((one) => [
    ...[one.tool, one.version, one.settings, share(one.currentAboveStale), share(one.currentFirst)],
  ]);
  const speed = sizes.flatMap((size) =>
    tools.flatMap((one): string[][] => {
      const own = one.speeds.find((speeds) => speeds.size === size);
      const ours = base?.speeds.find((speeds) => speeds.size === size);
      if (!own || !ours) return [];
      const times = (value: number, reference: number): string => (value / reference).toFixed(2);
      return [
        [
          ...[`${size}`, one.tool, times(own.write.p50, ours.write.p50), times(own.write.p95, ours.write.p95)],
          ...[times(own.recall.p50, ours.recall.p50), times(own.recall.p95, ours.recall.p95)],
          ...[times(own.megabytes, ours.megabytes), times(own.diskMegabytes, ours.diskMegabytes)],
        ],
      ];
    }),
  );
  const head = 'write p50,write p95,recall p50,recall p95,memory,disk'.split(',');
  return [
    `Machine: ${machine}.`,
    table(['tool', 'version', 'settings', 'current above stale', 'current@1'], quality),
    `Ratios to ${base?.tool ?? 'the first tool'} (1.00; below it is faster or smaller). Vectors are given, so embedding costs nobody anything.`,
    table(['memories', 'tool', ...head], speed),
  ].join('\n\n');
}
