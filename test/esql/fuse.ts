/** FUSE LINEAR: normalise per group, multiply by the group's weight, add up the rows of a key. */
import type { FuseCommand, Option, Options } from './ast.ts';
import type { Column } from './compiled.ts';
import {
  isNumeric,
  isString,
  packed,
  type Row,
  type Scalar,
  type Type,
  unknownToStandIn,
  type Value,
  values,
  verificationError,
  type Warnings,
} from './values.ts';

type Normalizer = 'none' | 'minmax' | 'l2_norm';
export interface FuseRules {
  licensed: boolean;
  /** Snapshot builds know l2_norm; release builds do not. */
  snapshot: boolean;
  limited: boolean;
}
export interface Fuse {
  columns: Map<string, Column>;
  apply(rows: Row[], warnings: Warnings): Row[];
}

export function fuse(command: FuseCommand, given: Map<string, Column>, rules: FuseRules): Fuse {
  const { weights, normalizer } = checkOptions(command, rules.snapshot);
  need(command, given, command.score, '_score', 'a score column', ['double'], 'SCORE BY column', 'DOUBLE');
  const strings: Type[] = ['keyword', 'text'];
  need(command, given, command.group, '_fork', 'a column to group by', strings, 'GROUP BY field', 'KEYWORD or TEXT');
  for (const key of command.keys)
    need(command, given, key, key, 'a key column', strings, 'KEY BY field', 'KEYWORD or TEXT');
  if (!rules.limited)
    throw verificationError(
      command,
      'FUSE can only be used on a limited number of rows. Consider adding a LIMIT before FUSE.',
    );
  if (!rules.licensed) throw verificationError(command, `current license is non-compliant for [${command.text}]`);

  const own = [command.score, ...command.keys, command.group];
  const columns = new Map<string, Column>([[command.score, { type: 'double' }]]);
  for (const [name, { type }] of given)
    if (!own.includes(name)) columns.set(name, { type: type === 'text' ? 'keyword' : type });
  for (const name of [...command.keys, command.group]) columns.set(name, { type: 'keyword' });
  const others = [...columns.keys()].filter((name) => !own.includes(name));

  const apply = (rows: Row[], warnings: Warnings): Row[] => {
    const score = scores(command, rows, normalizer, weights, warnings);
    const fused = new Map<string, Row>();
    const groups = new Map<string, Scalar[]>();
    rows.forEach((row, index) => {
      if (command.keys.some((key) => Array.isArray(row[key])))
        throw unknownToStandIn(command, 'FUSE keys of several values');
      const id = JSON.stringify(command.keys.map((key) => row[key]));
      const seen = fused.get(id);
      const merged: Row = seen ?? { ...row, [command.score]: null };
      groups.set(id, [...new Set([...(groups.get(id) ?? []), ...values(row[command.group] ?? null)])]);
      merged[command.group] = packed(groups.get(id) ?? []);
      merged[command.score] = add(merged[command.score] ?? null, score[index] ?? null);
      // The first value that is not null wins, the lowest branch first.
      for (const name of others) merged[name] = merged[name] ?? row[name] ?? null;
      fused.set(id, merged);
    });
    return [...fused.values()];
  };
  return { columns, apply };
}

const add = (sum: Value, score: number | null): Value => (score === null ? sum : ((sum as number | null) ?? 0) + score);

function need(
  command: FuseCommand,
  given: Map<string, Column>,
  name: string,
  usual: string,
  purpose: string,
  types: Type[],
  clause: string,
  wanted: string,
): void {
  const column = given.get(name);
  const standard = ['_score', '_fork', '_id', '_index'].includes(name);
  if (!column && name === usual && standard)
    throw verificationError(command, `FUSE requires ${purpose}, default [${name}] column not found.`);
  if (!column) throw verificationError(command, `Unknown column [${name}]`);
  if (!types.includes(column.type))
    throw verificationError(command, `expected ${clause} [${name}] to be ${wanted}, not ${column.type.toUpperCase()}`);
}

function checkOptions(
  command: FuseCommand,
  snapshot: boolean,
): { weights: Map<string, number>; normalizer: Normalizer } {
  const weights = new Map<string, number>();
  let normalizer: Normalizer = 'none';
  for (const [name, option] of command.options) {
    if (name === 'weights')
      for (const [group, weight] of weightOptions(command, option)) weights.set(group, checkWeight(command, weight));
    else if (name === 'normalizer') normalizer = checkNormalizer(command, option, snapshot);
    else throw verificationError(command, `unknown option [${name}] in [${command.text}]`);
  }
  return { weights, normalizer };
}

function weightOptions(command: FuseCommand, option: Option): Options {
  if (option.value instanceof Map) return option.value;
  throw verificationError(command, `expected weights to be a MapExpression, got [${option.text}]`);
}

function checkWeight(command: FuseCommand, weight: Option): number {
  const { value } = weight;
  if (typeof value !== 'number' || weight.type === 'map' || !isNumeric(weight.type))
    throw verificationError(command, `expected weight to be numeric, got [${weight.text}]`);
  if (value <= 0) throw verificationError(command, `expected weight to be positive, got [${weight.text}]`);
  return value;
}

function checkNormalizer(command: FuseCommand, option: Option, snapshot: boolean): Normalizer {
  const { value } = option;
  const known = ['none', 'minmax', ...(snapshot ? ['l2_norm'] : [])];
  if (option.type === 'map' || !isString(option.type) || !known.includes(String(value)))
    throw verificationError(command, `[${option.text}] is not a valid normalizer`);
  return value as Normalizer;
}

function scores(
  command: FuseCommand,
  rows: Row[],
  normalizer: Normalizer,
  weights: Map<string, number>,
  warnings: Warnings,
): (number | null)[] {
  const failed = (what: string): null =>
    warnings.failed(command, `java.lang.IllegalArgumentException: ${what}; assigning null scores`);
  const usable = rows.map((row): { group: string; score: number } | null => {
    const group = row[command.group] ?? null;
    const score = row[command.score] ?? null;
    if (group === null) return failed('group column has null values');
    if (Array.isArray(group)) return failed('group column contains multivalued entries');
    if (score === null) return failed('score column has null values');
    if (Array.isArray(score)) return failed('score column contains multivalued entries');
    return { group: group as string, score: score as number };
  });
  const byGroup = new Map<string, number[]>();
  for (const item of usable) if (item) byGroup.set(item.group, [...(byGroup.get(item.group) ?? []), item.score]);
  const normal = new Map([...byGroup].map(([group, list]) => [group, normalized(normalizer, list)]));
  return usable.map((item) =>
    item ? (weights.get(item.group) ?? 1) * (normal.get(item.group)?.(item.score) ?? 0) : null,
  );
}

function normalized(normalizer: Normalizer, list: number[]): (score: number) => number {
  if (normalizer === 'none') return (score) => score;
  if (normalizer === 'minmax') {
    const [min, max] = [Math.min(...list), Math.max(...list)];
    return (score) => (min === max ? 0 : (score - min) / (max - min));
  }
  const norm = Math.sqrt(list.reduce((sum, score) => sum + score * score, 0));
  return (score) => (norm === 0 ? 0 : score / norm);
}
