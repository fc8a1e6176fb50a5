import type { AgingTable, Pace } from './aging.ts';
import { ageWeightOf, MS_PER_HOUR } from './score.ts';

/** Draws how an age weight falls, one character a step. */

const CURVE_DAYS = 365;
const STEPS = 24;
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** The weight of a memory at ages from 0 to a year, from ▁ (up to an eighth) to █ (above seven eighths). */
export function drawCurve(pace: Pace): string {
  const table: AgingTable = { windows: [], otherwise: pace };
  return Array.from({ length: STEPS }, (_, step) => {
    const age = (step / (STEPS - 1)) * CURVE_DAYS * 24 * MS_PER_HOUR;
    const weight = ageWeightOf(table, '', 0, age);
    return BARS[Math.max(0, Math.ceil(weight * BARS.length) - 1)] ?? '█';
  }).join('');
}
