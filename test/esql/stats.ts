/** STATS ... BY. */
import type { Field } from './ast.ts';
import { type Column, type Compiled, type Scope, wrongType } from './compiled.ts';
import { compile } from './evaluate.ts';
import {
  greatest,
  isNumeric,
  isString,
  least,
  type Place,
  packed,
  type Row,
  type Scalar,
  type Type,
  unknownToStandIn,
  type Value,
  values,
  verificationError,
} from './values.ts';

interface Aggregate {
  name: string;
  type: Type;
  over(rows: Row[]): Value;
}

export interface Stats {
  columns: Map<string, Column>;
  apply(rows: Row[]): Row[];
}

export function stats(at: Place, aggregates: Field[], by: Field[], scope: Scope): Stats {
  const groups = by.map(({ name, expr }) => ({ name, value: compile(expr, scope) }));
  const sums = aggregates.map((field) =>
    aggregate(
      field,
      groups.map((group) => group.name),
      scope,
    ),
  );
  if (sums.length + groups.length === 0)
    throw verificationError(at, `At least one aggregation or grouping expression required in [${at.text}]`);
  const columns = new Map<string, Column>();
  for (const { name, type } of sums) columns.set(name, { type });
  for (const { name, value } of groups) {
    columns.delete(name);
    columns.set(name, { type: value.type });
  }
  const apply = (rows: Row[]): Row[] => {
    const buckets = new Map<string, { key: Row; rows: Row[] }>();
    if (groups.length === 0) buckets.set('', { key: {}, rows });
    for (const row of groups.length === 0 ? [] : rows)
      for (const key of keys(row, groups)) {
        const id = JSON.stringify(groups.map((group) => [typeof key[group.name], key[group.name]]));
        const bucket = buckets.get(id);
        if (bucket) bucket.rows.push(row);
        else buckets.set(id, { key, rows: [row] });
      }
    return [...buckets.values()].map(({ key, rows: inside }) => {
      const results = sums.map(({ name, over }) => [name, over(inside)] as const);
      return { ...Object.fromEntries(results), ...key };
    });
  };
  return { columns, apply };
}

/** A row belongs to a group for each of its values; null is a group too. */
function keys(row: Row, groups: { name: string; value: Compiled }[]): Row[] {
  let found: Row[] = [{}];
  for (const { name, value } of groups) {
    const list = values(value.run(row));
    const items: Value[] = list.length === 0 ? [null] : [...new Set(list)];
    found = found.flatMap((key) => items.map((item) => ({ ...key, [name]: item })));
  }
  return found;
}

function aggregate({ name, expr }: Field, groups: string[], scope: Scope): Aggregate {
  if (expr.kind === 'column' && !groups.includes(expr.name)) {
    compile(expr, scope);
    throw verificationError(
      expr,
      `column [${expr.name}] must appear in the STATS BY clause or be used in an aggregate function`,
    );
  }
  if (expr.kind !== 'call')
    throw unknownToStandIn(expr, `the aggregation [${expr.text}]: only one aggregate function by itself`);
  const [given] = expr.args;
  if (expr.name === 'COUNT' && (!given || given.kind === 'star'))
    return { name, type: 'long', over: (rows) => rows.length };
  if (expr.args.length !== 1 || !given || expr.options) throw unknownToStandIn(expr, `the aggregation [${expr.text}]`);
  if (!Object.hasOwn(KNOWN, expr.name))
    throw verificationError(
      expr,
      `Unknown function [${expr.name}] in STATS (to Elasticsearch or to the ES|QL stand-in)`,
    );
  const arg = compile(given, scope);
  const { type, compute } = (KNOWN[expr.name] as Known)(expr, arg);
  return { name, type, over: (rows) => compute(rows.flatMap((row) => values(arg.run(row)))) };
}

type Known = (at: Place, arg: Compiled) => { type: Type; compute(list: Scalar[]): Value };
const ORDERED: Type[] = ['boolean', 'integer', 'long', 'double', 'keyword', 'text', 'datetime', 'null'];
const noText = (type: Type): Type => (isString(type) ? 'keyword' : type);
const total = (list: Scalar[]): number => (list as number[]).reduce((sum, item) => sum + item, 0);

const numeric = (at: Place, arg: Compiled): void => {
  if (!isNumeric(arg.type))
    throw wrongType(
      at,
      null,
      arg,
      'aggregate_metric_double, exponential_histogram, tdigest or numeric except unsigned_long or counter types',
    );
};
const extreme =
  (pick: (list: Scalar[]) => Scalar): Known =>
  (at, arg) => {
    if (!ORDERED.includes(arg.type)) throw unknownToStandIn(at, `[${at.text}] over type [${arg.type}]`);
    return { type: noText(arg.type), compute: (list) => (list.length === 0 ? null : pick(list)) };
  };

const KNOWN: Record<string, Known> = {
  SUM: (at, arg) => {
    numeric(at, arg);
    return {
      type: arg.type === 'double' ? 'double' : 'long',
      compute: (list) => (list.length === 0 ? null : total(list)),
    };
  },
  AVG: (at, arg) => {
    numeric(at, arg);
    return { type: 'double', compute: (list) => (list.length === 0 ? null : total(list) / list.length) };
  },
  MAX: extreme(greatest),
  MIN: extreme(least),
  COUNT: () => ({ type: 'long', compute: (list) => list.length }),
  VALUES: (at, arg) => {
    if (!ORDERED.includes(arg.type)) throw unknownToStandIn(at, `[${at.text}] over type [${arg.type}]`);
    return { type: noText(arg.type), compute: (list) => packed([...new Set(list)]) };
  },
};
