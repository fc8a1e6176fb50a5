/** `::type` and the TO_ functions. */
import { type Compiled, type Scope, scalar } from './compiled.ts';
import {
  interval,
  isNumeric,
  isString,
  type Place,
  parseMillis,
  parseNanos,
  parsePoint,
  printed,
  type Scalar,
  type Type,
  unknownToStandIn,
  type Value,
  verificationError,
} from './values.ts';

const TYPES: Record<string, Type> = {
  boolean: 'boolean',
  int: 'integer',
  integer: 'integer',
  long: 'long',
  double: 'double',
  keyword: 'keyword',
  string: 'keyword',
  date: 'datetime',
  datetime: 'datetime',
  date_nanos: 'date_nanos',
  time_duration: 'time_duration',
  geo_point: 'geo_point',
  cartesian_point: 'cartesian_point',
};

export function convert(at: Place, name: string, arg: Compiled, scope: Scope): Compiled {
  const to = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (!to) throw unknownToStandIn(at, `the conversion to [${name}]`);
  if (to === 'time_duration') return duration(at, arg);
  const compute = conversion(at, arg.type, to, scope);
  if (!compute) throw unknownToStandIn(at, `the conversion of [${arg.type}] to [${to}]`);
  const single = scalar(at, to, [arg], scope, (value) => compute(value));
  // Conversions keep several values several.
  const run: Compiled['run'] = (row) => {
    const value = arg.run(row);
    if (!Array.isArray(value)) return single.run(row);
    const list = value
      .map((item) => compute(item))
      .filter((item): item is Scalar => item !== null && !Array.isArray(item));
    return list.length > 1 ? list : (list[0] ?? null);
  };
  return { ...single, run };
}

/** A duration exists in constants only; its text is a whole number and a unit no longer than hours. */
function duration(at: Place, arg: Compiled): Compiled {
  if (arg.type === 'time_duration') return { ...arg, ...at };
  const text = arg.constant ? arg.run({}) : null;
  if (typeof text !== 'string')
    throw verificationError(at, `argument of [${at.text}] must be a constant, received [${arg.text}]`);
  const found = /^(\d+)\s+([a-z]+)$/i.exec(text.trim());
  const made = found ? interval(Number(found[1]), found[2] as string) : null;
  if (made?.type !== 'time_duration')
    throw verificationError(
      at,
      `Invalid interval value in [${at.text}], expected integer followed by one of [MILLISECOND, MILLISECONDS, MS, SECOND, SECONDS, SEC, S, MINUTE, MINUTES, MIN, M, HOUR, HOURS, H] but got [${text}]`,
    );
  return { ...at, type: 'time_duration', constant: true, run: () => made.value };
}

function conversion(at: Place, from: Type, to: Type, scope: Scope): ((value: Scalar) => Value) | null {
  const failed = (text: Scalar) =>
    scope.warnings.failed(at, `java.lang.IllegalArgumentException: cannot parse [${String(text)}] as [${to}]`);
  if (from === 'null' || from === to) return (value) => value;
  if (to === 'keyword') return from === 'text' ? (value) => value : (value) => stringOf(value, from);
  if (to === 'integer' || to === 'long') {
    if (isNumeric(from) || isString(from) || (from === 'datetime' && to === 'long'))
      return (value) => {
        const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Math.round(Number(value));
        const fits = to === 'long' ? Number.isSafeInteger(number) : Math.abs(number) < 2 ** 31;
        return fits ? number : failed(value);
      };
    return null;
  }
  if (to === 'double')
    return isNumeric(from) || isString(from) || from === 'datetime'
      ? (value) => (Number.isFinite(Number(value)) && value !== '' ? Number(value) : failed(value))
      : null;
  if (to === 'datetime') {
    if (isString(from)) return (value) => parseMillis(value as string) ?? failed(value);
    return isNumeric(from) ? (value) => Math.trunc(value as number) : null;
  }
  if (to === 'boolean') return isString(from) ? (value) => (value as string).toLowerCase() === 'true' : null;
  if (to === 'date_nanos') return isString(from) ? (value) => parseNanos(value as string) ?? failed(value) : null;
  return isString(from) ? (value) => parsePoint(value as string) ?? failed(value) : null;
}

function stringOf(value: Scalar, from: Type): string {
  if (from === 'double' && Number.isInteger(value) && Math.abs(value as number) < 1e7)
    return (value as number).toFixed(1);
  return String(printed(value, from));
}
