import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFile } from '../../src/project-file.ts';
import { OURS } from './baselines.ts';
import { ROUNDS } from './bootstrap.ts';
import { REFERENCE } from './candidates.ts';
import { gatesOf } from './gates.ts';
import type { LearnedResult } from './learned.ts';
import { learnedGates } from './learned-tables.ts';
import type { Part } from './part.ts';
import { agreement, gainsOf, rowsOf } from './summary.ts';
import { isGainShown, isTold, tablesOf } from './tables.ts';
import { tradeOffs } from './trade-off.ts';

/** Writes what was measured: JSON, tables, plots. */

export interface Run {
  version: string;
  node: string;
  store: string;
  /** The dialect of the query, where the store has one. */
  dialect: string | null;
  model: string;
  seed: number;
}

export const BEGIN = '<!-- evaluation:begin (written by npm run evaluate) -->';
export const END = '<!-- evaluation:end -->';

/**
 * Returns the files it wrote, and what does not hold. Without a folder they go to docs/, the tables into docs/evaluation.md, and the JSON holds
 * what the tables tell; in a folder of its own it holds every row.
 */
export function writeReport(
  parts: readonly Part[],
  learned: LearnedResult | null,
  run: Run,
  out: string | null,
): { files: string[]; broken: string[]; json: string } {
  const folder = out ?? projectFile('docs/evaluation');
  mkdirSync(folder, { recursive: true });
  const rows = parts.flatMap((part) => rowsOf(part, run.seed));
  const gains = parts.flatMap((part) => gainsOf(part, REFERENCE, run.seed));
  const gates = [...gatesOf(rows), ...(learned === null ? [] : learnedGates(learned))];
  const sets = parts.map(({ set, variant, mode, users, memories, questions, timing }) => ({
    ...{ set, variant, mode, users, memories, questions: questions.length, timing },
  }));
  const parity = parts
    .filter(({ candidates }) => REFERENCE in candidates)
    .map((part) => ({ set: part.set, variant: part.variant, agreement: agreement(part, REFERENCE, OURS) }));
  const report = { run: { ...run, bootstrapRounds: ROUNDS }, gates, sets, parity, rows, gains, learned };
  const tables = tablesOf(report);
  const kept = out === null ? { ...report, rows: rows.filter(isTold), gains: gains.filter(isGainShown) } : report;
  const json = `${JSON.stringify(kept, rounded, 2)}\n`;
  const files = [
    { name: 'results.json', text: json },
    ...tradeOffs(parts).map(({ file, svg }) => ({ name: file, text: svg })),
    ...(out === null ? [] : [{ name: 'tables.md', text: tables }]),
  ];
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
  const written = files.map(({ name }) => join(folder, name));
  const page = projectFile('docs/evaluation.md');
  const broken = gates.filter(({ holds }) => !holds).map(({ name, value }) => `${name} is ${value.toFixed(3)}`);
  if (out !== null || !existsSync(page)) return { files: written, broken, json };
  writeFileSync(page, withTables(readFileSync(page, 'utf8'), tables));
  return { files: [...written, page], broken, json };
}

/** The page with the tables between its markers; throws where a marker is missing. */
export function withTables(page: string, tables: string): string {
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`docs/evaluation.md lacks the markers ${BEGIN} and ${END}.`);
  return `${page.slice(0, start)}${BEGIN}\n\n${tables}\n${page.slice(end)}`;
}

const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Math.round(value * 1e4) / 1e4 : value;
