import { OURS } from './baselines.ts';
import { LINKED, type Row, SUPERSESSION } from './summary.ts';

/** What must hold, as numbers, checked on every run. */
export interface Gate {
  name: string;
  value: number;
  least: number;
  holds: boolean;
}

export function gatesOf(rows: readonly Row[]): Gate[] {
  const gates: Gate[] = [];
  const add = (name: string, value: number | undefined, least: number): void => {
    if (value !== undefined) gates.push({ name, value, least, holds: value >= least - 1e-9 });
  };
  const find = (set: string, variant: string, mode: string, slice: string, method = OURS) =>
    rows.find(
      (row) =>
        row.set === set && row.variant === variant && row.mode === mode && row.slice === slice && row.method === method,
    )?.metrics;
  const distinct = (prefix: string): [string, string][] => [
    ...new Map(
      rows
        .filter(({ set }) => set.startsWith(prefix))
        .map(({ set, variant }): [string, [string, string]] => [`${set} ${variant}`, [set, variant]]),
    ).values(),
  ];
  for (const [set, variant] of distinct('statebench')) {
    const above = (mode: string, slice: string) => find(set, variant, mode, slice)?.['current above stale']?.mean;
    add(`${set}, ${variant}, oracle: current above stale`, above('oracle', SUPERSESSION), 0.99);
    add(`${set}, ${variant}, linked, all stale linked: current above stale`, above('linked', LINKED), 1);
    if (variant === 'gaps × 720') add(`${set}, ${variant}, ranking`, above('ranking', SUPERSESSION), 0.6);
  }
  for (const [set, variant] of distinct('locomo').filter(([, variant]) => variant === '+0 days')) {
    const recall = (method: string) => find(set, variant, 'ranking', 'all', method)?.['recall@10']?.mean;
    const [aged, flat] = [recall(OURS), recall('no ageing')];
    add(`${set}, ${variant}: recall@10`, aged, 0.64);
    if (aged !== undefined && flat !== undefined)
      add(`${set}, ${variant}: recall@10 less that without ageing`, aged - flat, -0.02);
  }
  return gates;
}
