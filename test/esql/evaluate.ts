/** Expressions compiled against the columns they may use: their type is known, and checked, before any row is read. */
import type { Expr, Operator } from './ast.ts';
import { type Compiled, finite, type Scope, scalar } from './compiled.ts';
import { convert } from './convert.ts';
import { functions } from './functions.ts';
import {
  compare,
  isNumeric,
  isString,
  type Place,
  parseMillis,
  type Type,
  unknownToStandIn,
  values,
  verificationError,
} from './values.ts';

export const FULL_TEXT: readonly string[] = ['MATCH', 'KNN'];
const OTHER_FULL_TEXT = ['QSTR', 'KQL', 'MATCH_PHRASE', 'MULTI_MATCH', 'TERM'];
const AGGREGATES = ['SUM', 'MAX', 'MIN', 'COUNT', 'VALUES', 'AVG'];

export function compile(expr: Expr, scope: Scope): Compiled {
  switch (expr.kind) {
    case 'literal':
      return { ...expr, constant: true, run: () => expr.value };
    case 'column':
      return column(expr, expr.name, scope);
    case 'star':
      throw verificationError(expr, 'Cannot use [*] here');
    case 'cast':
      return convert(expr, expr.to, compile(expr.arg, scope), scope);
    case 'operation':
      return operation(expr, expr.operator, expr.args, scope);
    case 'call': {
      if (FULL_TEXT.includes(expr.name) || OTHER_FULL_TEXT.includes(expr.name))
        throw verificationError(
          expr,
          `[${expr.name}] function is only supported in WHERE and STATS commands or in EVAL within score(.) function`,
        );
      if (AGGREGATES.includes(expr.name))
        throw verificationError(expr, `aggregate function [${expr.text}] not allowed outside STATS command`);
      const known = Object.hasOwn(functions, expr.name) ? functions[expr.name] : undefined;
      if (!known || (expr.name === 'DECAY' && !scope.atLeast('9.3')))
        throw verificationError(expr, `Unknown function [${expr.name}] (to Elasticsearch or to the ES|QL stand-in)`);
      if (expr.options && expr.name !== 'DECAY') throw unknownToStandIn(expr, `options of [${expr.name}]`);
      const args = expr.args.map((arg) => compile(arg, scope));
      return known(expr, args, scope, expr.options ?? new Map());
    }
  }
}

function column(at: Place, name: string, scope: Scope): Compiled {
  const found = scope.columns.get(name);
  if (!found) throw verificationError(at, `Unknown column [${name}]`);
  if (found.type === 'unsupported') throw verificationError(at, `Cannot use field [${name}] with unsupported type`);
  const { constant } = found;
  if (constant !== undefined) return { ...at, type: found.type, constant: true, run: () => constant };
  return { ...at, type: found.type, constant: false, run: (row) => row[name] ?? null };
}

function operation(at: Place, operator: Operator, given: Expr[], scope: Scope): Compiled {
  const args = given.map((arg) => compile(arg, scope));
  const [left, right] = args as [Compiled, Compiled];
  const constant = args.every((arg) => arg.constant);
  switch (operator) {
    case 'AND':
    case 'OR':
      return logic(at, operator === 'OR', left, right, scope);
    case 'NOT':
      needBoolean(at, '', left);
      return scalar(at, 'boolean', [left], scope, (value) => value !== true);
    case 'IS NULL':
      return { ...at, type: 'boolean', constant, run: (row) => values(left.run(row)).length === 0 };
    case 'IS NOT NULL':
      return { ...at, type: 'boolean', constant, run: (row) => values(left.run(row)).length > 0 };
    case 'IN': {
      const equals = args.slice(1).map((item) => comparison(at, '==', left, item, scope));
      const run: Compiled['run'] = (row) => {
        const found = equals.map((test) => test.run(row));
        return found.includes(true) ? true : found.includes(null) ? null : false;
      };
      return { ...at, type: 'boolean', constant, run };
    }
    case 'NEGATE':
      if (!isNumeric(left.type))
        throw verificationError(
          at,
          `argument of [${at.text}] must be [numeric], found value [${left.text}] type [${left.type}]`,
        );
      return scalar(at, left.type, [left], scope, (value) => finite(at, left.type, -(value as number), scope));
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return arithmetic(at, operator, left, right, scope);
    default:
      return comparison(at, operator, left, right, scope);
  }
}

function needBoolean(at: Place, ordinal: string, arg: Compiled): void {
  if (arg.type === 'boolean' || arg.type === 'null') return;
  const message = `${ordinal}argument of [${at.text}] must be [boolean], found value [${arg.text}] type [${arg.type}]`;
  throw verificationError(at, message);
}

/** AND and OR of true, false and unknown. */
function logic(at: Place, or: boolean, left: Compiled, right: Compiled, scope: Scope): Compiled {
  needBoolean(at, 'first ', left);
  needBoolean(at, 'second ', right);
  const one = (arg: Compiled) => scalar(arg, 'boolean', [arg], scope, (value) => value);
  const sides = [one(left), one(right)];
  const run: Compiled['run'] = (row) => {
    const found = sides.map((side) => side.run(row));
    if (found.includes(or)) return or;
    return found.includes(null) ? null : !or;
  };
  return { ...at, type: 'boolean', constant: sides.every((side) => side.constant), run };
}

/** A string constant beside a date becomes a date. */
function asDate(arg: Compiled): Compiled {
  const text = arg.run({});
  const millis = typeof text === 'string' ? parseMillis(text) : null;
  if (millis === null)
    throw verificationError(
      arg,
      `Cannot convert string [${String(text)}] to [DATETIME], error [failed to parse date field [${String(text)}] with format [strict_date_optional_time]]`,
    );
  return { ...arg, type: 'datetime', run: () => millis };
}

const family = (type: Type): string => (isNumeric(type) ? 'numeric' : isString(type) ? 'keyword' : type);
const COMPARABLE = ['numeric', 'keyword', 'datetime', 'boolean'];

function comparison(at: Place, operator: Operator, first: Compiled, second: Compiled, scope: Scope): Compiled {
  let [left, right] = [first, second];
  if (left.type === 'datetime' && right.type === 'keyword' && right.constant) right = asDate(right);
  if (right.type === 'datetime' && left.type === 'keyword' && left.constant) left = asDate(left);
  const kinds = [family(left.type), family(right.type)].filter((kind) => kind !== 'null');
  if (new Set(kinds).size > 1)
    throw verificationError(
      at,
      `first argument of [${at.text}] is [${kinds[0]}] so second argument must also be [${kinds[0]}] but was [${right.type}]`,
    );
  const ordered = operator !== '==' && operator !== '!=';
  for (const kind of kinds)
    if (!COMPARABLE.includes(kind) || (ordered && kind === 'boolean'))
      throw unknownToStandIn(at, `comparison of [${kind}]`);
  return scalar(at, 'boolean', [left, right], scope, (a, b) => {
    const order = compare(a, b);
    if (operator === '==') return order === 0;
    if (operator === '!=') return order !== 0;
    if (operator === '<') return order < 0;
    if (operator === '<=') return order <= 0;
    return operator === '>' ? order > 0 : order >= 0;
  });
}

function widest(types: Type[]): Type {
  return types.includes('double') ? 'double' : types.includes('long') ? 'long' : 'integer';
}

function arithmetic(
  at: Place,
  operator: '+' | '-' | '*' | '/' | '%',
  left: Compiled,
  right: Compiled,
  scope: Scope,
): Compiled {
  if (left.type === 'datetime' && (operator === '+' || operator === '-'))
    return shifted(at, operator, left, right, scope);
  for (const [ordinal, arg] of [
    ['first', left],
    ['second', right],
  ] as const)
    if (!isNumeric(arg.type) && arg.type !== 'null') {
      if (!isString(arg.type) && arg.type !== 'boolean') throw incompatible(at, operator, left, right);
      const wanted = operator === '+' || operator === '-' ? 'date_nanos, datetime, numeric or dense_vector' : 'numeric';
      throw verificationError(
        at,
        `${ordinal} argument of [${at.text}] must be [${wanted}], found value [${arg.text}] type [${arg.type}]`,
      );
    }
  const type = widest([left.type, right.type]);
  return scalar(at, type, [left, right], scope, (a, b) => {
    const [x, y] = [a as number, b as number];
    if ((operator === '/' || operator === '%') && y === 0)
      return scope.warnings.failed(at, 'java.lang.ArithmeticException: / by zero');
    if (operator === '+') return finite(at, type, x + y, scope);
    if (operator === '-') return finite(at, type, x - y, scope);
    if (operator === '*') return finite(at, type, x * y, scope);
    if (operator === '%') return finite(at, type, x % y, scope);
    return finite(at, type, type === 'double' ? x / y : Math.trunc(x / y), scope);
  });
}

const incompatible = (at: Place, operator: string, left: Compiled, right: Compiled) =>
  verificationError(at, `[${operator}] has arguments with incompatible types [${left.type}] and [${right.type}]`);

function shifted(at: Place, operator: '+' | '-', left: Compiled, right: Compiled, scope: Scope): Compiled {
  const unit = right.type === 'time_duration' ? 1 : right.type === 'date_period' ? 86_400_000 : 0;
  if (unit === 0) throw incompatible(at, operator, left, right);
  const sign = operator === '+' ? unit : -unit;
  return scalar(at, 'datetime', [left, right], scope, (date, amount) => (date as number) + sign * (amount as number));
}
