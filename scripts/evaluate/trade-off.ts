import { OURS } from './baselines.ts';
import type { Metric, Scores } from './metrics.ts';
import type { Part } from './part.ts';
import { drawPlot, type Point } from './plots.ts';
import { SUPERSESSION_TRACKS } from './summary.ts';

/** What ageing costs on LoCoMo against what it saves on StateBench, over half-life and floor of one window for all. */

export interface TradeOff {
  file: string;
  svg: string;
}

export function tradeOffs(parts: readonly Part[]): TradeOff[] {
  const reversals = parts.find(({ sweep, variant }) => sweep.length > 0 && variant === 'gaps × 720');
  if (!reversals) return [];
  return parts
    .filter(({ set, sweep }) => set.startsWith('locomo') && sweep.length > 0)
    .map((recall) => ({
      file: `trade-off${recall.variant.replace(/\D+/g, '-').replace(/-$/, '')}-days.svg`,
      svg: drawPlot({
        title: `One window for all topics: LoCoMo asked ${recall.variant.replace('+', '').replace(' days', '')} days later`,
        x: `recall@10 on ${recall.set} (more is better)`,
        y: `stale above current on ${reversals.set}, ${reversals.variant} (less is better)`,
        lines: linesOf(recall, reversals),
        marks: [
          pointOf('default windows', recall.methods[OURS], recall, reversals.methods[OURS], reversals),
          pointOf('no ageing', recall.methods['no ageing'], recall, reversals.methods['no ageing'], reversals),
        ],
      }),
    }));
}

function linesOf(recall: Part, reversals: Part) {
  const floors = [...new Set(recall.sweep.map(({ floor }) => floor))];
  return floors.map((floor) => ({
    name: `floor ${floor}`,
    points: recall.sweep
      .filter((one) => one.floor === floor)
      .map(({ halfLifeHours, scores }) => {
        const other = reversals.sweep.find((one) => one.floor === floor && one.halfLifeHours === halfLifeHours);
        return pointOf(`half-life ${halfLifeHours} h`, scores, recall, other?.scores, reversals);
      }),
  }));
}

const pointOf = (
  label: string,
  recalled: readonly Scores[] = [],
  recall: Part,
  reversed: readonly Scores[] = [],
  reversals: Part,
): Point => ({
  label,
  x: meanOf(recalled, 'recall@10', () => true, recall),
  y: 1 - meanOf(reversed, 'current above stale', (track) => SUPERSESSION_TRACKS.includes(track), reversals),
});

function meanOf(scores: readonly Scores[], metric: Metric, chosen: (track: string) => boolean, part: Part): number {
  const values = scores.flatMap((one, index) => {
    const value = one[metric];
    return value !== null && chosen(part.questions[index]?.track ?? '') ? [value] : [];
  });
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
