/** The functions the stand-in knows. */
import type { Options } from './ast.ts';
import { type Compiled, finite, type Scope, scalar, wrongType } from './compiled.ts';
import { convert } from './convert.ts';
import { decay } from './decay.ts';
import {
  compare,
  greatest,
  isNumeric,
  isString,
  least,
  type Place,
  packed,
  type Scalar,
  type Type,
  type Value,
  values,
  verificationError,
} from './values.ts';

type Maker = (at: Place, args: Compiled[], scope: Scope, options: Options) => Compiled;

/** Refuses a wrong number of arguments. */
function count(at: Place, args: Compiled[], least: number, most = least): void {
  if (args.length >= least && args.length <= most) return;
  const wanted = least === most ? `exactly ${['zero', 'one', 'two', 'three'][least]}` : `from ${least} to ${most}`;
  throw verificationError(at, `error building [${at.text}]: expects ${wanted} argument(s), found ${args.length}`);
}

const numeric = (
  least: number,
  most: number,
  type: (args: Compiled[]) => Type,
  compute: (...given: number[]) => number,
): Maker => {
  return (at, args, scope) => {
    count(at, args, least, most);
    args.forEach((arg, index) => {
      if (!isNumeric(arg.type) && arg.type !== 'null')
        throw wrongType(at, args.length > 1 ? index : null, arg, 'numeric');
    });
    const result = type(args);
    return scalar(at, result, args, scope, (...given) => finite(at, result, compute(...(given as number[])), scope));
  };
};

/** The one type of several arguments: null yields, and a number takes the type of the first number if that is wider. */
function common(at: Place, args: Compiled[], indexes: number[]): Type {
  let type: Type = 'null';
  for (const index of indexes) {
    const arg = args[index] as Compiled;
    if (type === 'null') type = arg.type;
    else if (arg.type !== 'null' && arg.type !== type) {
      const widened = type === 'double' ? isNumeric(arg.type) : type === 'long' && arg.type === 'integer';
      if (isString(arg.type) && isString(type)) type = 'keyword';
      else if (!widened) throw wrongType(at, index, arg, type === 'text' ? 'keyword' : type);
    }
  }
  return type === 'text' ? 'keyword' : type;
}
const all = (args: Compiled[]): number[] => args.map((_, index) => index);

/** GREATEST and LEAST: several values count as their extreme, and one null makes null. */
const extreme = (pick: (list: Scalar[]) => Scalar): Maker => {
  return (at, args) => {
    if (args.length === 0) count(at, args, 1);
    const type = common(at, args, all(args));
    const run: Compiled['run'] = (row) => {
      const found = args.map((arg) => values(arg.run(row)));
      return found.some((list) => list.length === 0) ? null : pick(found.flat());
    };
    return { ...at, type, constant: args.every((arg) => arg.constant), run };
  };
};

const cases: Maker = (at, args, scope) => {
  if (args.length < 2) throw verificationError(at, `error building [${at.text}]: expects at least two arguments`);
  const pairs = Math.floor(args.length / 2);
  const results = all(args).filter((index) => index % 2 === 1 || index === 2 * pairs);
  for (let pair = 0; pair < pairs; pair++) {
    const condition = args[2 * pair] as Compiled;
    if (condition.type !== 'boolean' && condition.type !== 'null') throw wrongType(at, 2 * pair, condition, 'boolean');
  }
  const type = common(at, args, results);
  const tests = all(args).map((index) => scalar(at, 'boolean', [args[index] as Compiled], scope, (value) => value));
  const run: Compiled['run'] = (row) => {
    for (let pair = 0; pair < pairs; pair++)
      if (tests[2 * pair]?.run(row) === true) return (args[2 * pair + 1] as Compiled).run(row);
    return args[2 * pairs]?.run(row) ?? null;
  };
  return { ...at, type, constant: args.every((arg) => arg.constant), run };
};

const coalesce: Maker = (at, args) => {
  const type = common(at, args, all(args));
  const run: Compiled['run'] = (row) => {
    for (const arg of args) {
      const value = arg.run(row);
      if (value !== null) return value;
    }
    return null;
  };
  return { ...at, type, constant: args.every((arg) => arg.constant), run };
};

/** MV_CONTAINS and MV_INTERSECTS: null is the empty set, so the answer is never null. */
const sets = (test: (first: Scalar[], second: Scalar[]) => boolean): Maker => {
  return (at, args) => {
    count(at, args, 2);
    common(at, args, [0, 1]);
    const [first, second] = args as [Compiled, Compiled];
    if (first.type !== second.type && isNumeric(first.type) && isNumeric(second.type))
      throw wrongType(at, 1, second, first.type);
    const run: Compiled['run'] = (row) => test(values(first.run(row)), values(second.run(row)));
    return { ...at, type: 'boolean', constant: first.constant && second.constant, run };
  };
};

const several = (type: (arg: Compiled) => Type, compute: (list: Scalar[]) => Value): Maker => {
  return (at, args) => {
    count(at, args, 1);
    const [arg] = args as [Compiled];
    const run: Compiled['run'] = (row) => {
      const list = values(arg.run(row));
      return list.length === 0 ? null : compute(list);
    };
    return { ...at, type: type(arg), constant: arg.constant, run };
  };
};
const noText = (arg: Compiled): Type => (arg.type === 'text' ? 'keyword' : arg.type);

const mvSort: Maker = (at, args) => {
  count(at, args, 1, 2);
  const [arg, order] = args as [Compiled, Compiled?];
  const direction = order?.run({});
  if (order && direction !== 'asc' && direction !== 'desc')
    throw verificationError(
      at,
      `Invalid order value in [${at.text}], expected one of [ASC, DESC] but got [${String(direction)}]`,
    );
  const sign = direction === 'desc' ? -1 : 1;
  const run: Compiled['run'] = (row) => packed([...values(arg.run(row))].sort((a, b) => sign * compare(a, b)));
  return { ...at, type: noText(arg), constant: arg.constant, run };
};

const to =
  (type: string): Maker =>
  (at, args, scope) => {
    count(at, args, 1);
    return convert(at, type, args[0] as Compiled, scope);
  };

/** Half away from zero, as Elasticsearch rounds. */
function round(value: number, digits = 0): number {
  const scale = 10 ** digits;
  const scaled = Math.round(Math.abs(value) * scale) / scale;
  return value < 0 ? -scaled : scaled;
}

const double = (): Type => 'double';
const same = (args: Compiled[]): Type => (args[0] as Compiled).type;

export const functions: Record<string, Maker> = {
  ABS: numeric(1, 1, same, Math.abs),
  POW: numeric(2, 2, double, (base, exponent) => base ** exponent),
  ROUND: (at, args, scope, options) => {
    const digits = args[1];
    if (digits && digits.type !== 'integer' && digits.type !== 'long' && digits.type !== 'null')
      throw wrongType(at, 1, digits, 'whole number except unsigned_long or counter types');
    return numeric(1, 2, same, round)(at, args, scope, options);
  },
  GREATEST: extreme(greatest),
  LEAST: extreme(least),
  CASE: cases,
  COALESCE: coalesce,
  DECAY: decay,
  NOW: (at, args, scope) => {
    count(at, args, 0);
    return { ...at, type: 'datetime', constant: true, run: () => scope.now };
  },
  MV_CONTAINS: sets((superset, subset) => subset.every((item) => superset.includes(item))),
  MV_INTERSECTS: sets((first, second) => first.some((item) => second.includes(item))),
  MV_COUNT: several(
    () => 'integer',
    (list) => list.length,
  ),
  MV_MAX: several(noText, greatest),
  MV_MIN: several(noText, least),
  MV_SORT: mvSort,
  TO_BOOLEAN: to('boolean'),
  TO_INTEGER: to('integer'),
  TO_LONG: to('long'),
  TO_DOUBLE: to('double'),
  TO_STRING: to('keyword'),
  TO_DATETIME: to('datetime'),
  TO_DATE_NANOS: to('date_nanos'),
  TO_TIMEDURATION: to('time_duration'),
  TO_GEOPOINT: to('geo_point'),
  TO_CARTESIANPOINT: to('cartesian_point'),
};
