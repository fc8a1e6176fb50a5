/** The values and types of ES|QL as the stand-in keeps them: dates are epoch milliseconds, longs are JavaScript numbers. */
export type Type =
  | 'null'
  | 'boolean'
  | 'integer'
  | 'long'
  | 'double'
  | 'keyword'
  | 'text'
  | 'datetime'
  | 'date_nanos'
  | 'date_period'
  | 'time_duration'
  | 'dense_vector'
  | 'geo_point'
  | 'cartesian_point'
  | 'unsupported';

export interface Point {
  x: number;
  y: number;
}
export type Scalar = string | number | boolean | bigint | Point;
export type Value = Scalar | Scalar[] | null;
export type Row = Record<string, Value>;

/** An answer other than 200, in Elasticsearch's words and shape. */
export class EsqlError extends Error {
  readonly type: string;
  readonly status: number;
  constructor(type: string, reason: string, status = 400) {
    super(reason);
    this.type = type;
    this.status = status;
  }
  body(): unknown {
    const cause = { type: this.type, reason: this.message };
    return { error: { root_cause: [cause], ...cause }, status: this.status };
  }
}

/** Where something stands in the query, as `line:column`, and its source text. */
export interface Place {
  pos: string;
  text: string;
}

export const parsingError = (pos: string, message: string): EsqlError =>
  new EsqlError('parsing_exception', `line ${pos}: ${message}`);
export const verificationError = (at: Place, message: string): EsqlError =>
  new EsqlError('verification_exception', `Found 1 problem\nline ${at.pos}: ${message}`);
/** What Elasticsearch may well accept but the stand-in was not taught. */
export const unknownToStandIn = (at: Place, what: string): EsqlError =>
  verificationError(at, `the ES|QL stand-in does not know ${what}`);

export class Warnings {
  readonly list: string[] = [];
  failed(at: Place, exception: string): null {
    this.add(
      `Line ${at.pos}: evaluation of [${at.text}] failed, treating result as null. Only first 20 failures recorded.`,
    );
    this.add(`Line ${at.pos}: ${exception}`);
    return null;
  }
  add(text: string): void {
    if (!this.list.includes(text) && this.list.length < 40) this.list.push(text);
  }
}

export const isNumeric = (type: Type): boolean => type === 'integer' || type === 'long' || type === 'double';
export const isString = (type: Type): boolean => type === 'keyword' || type === 'text';
export const values = (value: Value): Scalar[] => (value === null ? [] : Array.isArray(value) ? value : [value]);
export const packed = (list: Scalar[]): Value =>
  list.length === 0 ? null : list.length === 1 ? (list[0] as Scalar) : list;

/** ES|QL's order: strings by their UTF-8 bytes, false before true, numbers and dates by size. */
export function compare(a: Scalar, b: Scalar): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
export const least = (list: Scalar[]): Scalar => list.reduce((a, b) => (compare(b, a) < 0 ? b : a));
export const greatest = (list: Scalar[]): Scalar => list.reduce((a, b) => (compare(b, a) > 0 ? b : a));

const ISO =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/;

/** A strict_date_optional_time instant in nanoseconds, or null where the text is none. */
export function parseNanos(text: string): bigint | null {
  const found = ISO.exec(text);
  if (!found) return null;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part) => (part === undefined ? undefined : Number(part)));
  const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, second));
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59)
    return null;
  const zone = /^([+-])(\d\d):?(\d\d)?$/.exec(found[8] ?? '');
  const shift = zone ? Number(`${zone[1]}1`) * (Number(zone[2]) * 60 + Number(zone[3] ?? 0)) * 60_000 : 0;
  return BigInt(date.getTime() - shift) * 1_000_000n + BigInt((found[7] ?? '').padEnd(9, '0'));
}

export function parseMillis(text: string): number | null {
  const nanos = parseNanos(text);
  if (nanos === null) return null;
  const millis = nanos / 1_000_000n;
  return Number(nanos < 0n && nanos % 1_000_000n !== 0n ? millis - 1n : millis);
}

const MILLIS: Record<string, number> = {};
for (const [names, millis] of [
  ['millisecond milliseconds ms', 1],
  ['second seconds sec s', 1000],
  ['minute minutes min m', 60_000],
  ['hour hours h', 3_600_000],
] as const)
  for (const name of names.split(' ')) MILLIS[name] = millis;
const DAYS: Record<string, number> = { day: 1, days: 1, d: 1, week: 7, weeks: 7, w: 7 };

/** `1080 hours` as milliseconds, `45 days` as days (Elasticsearch keeps the two apart). */
export function interval(
  amount: number,
  unit: string,
): { type: 'time_duration' | 'date_period'; value: number } | null {
  const name = unit.toLowerCase();
  if (Object.hasOwn(MILLIS, name)) return { type: 'time_duration', value: amount * (MILLIS[name] as number) };
  if (Object.hasOwn(DAYS, name)) return { type: 'date_period', value: amount * (DAYS[name] as number) };
  return null;
}

export function parsePoint(text: string): Point | null {
  const found = /^POINT\s*\(\s*(-?[\d.]+(?:e[+-]?\d+)?)\s+(-?[\d.]+(?:e[+-]?\d+)?)\s*\)$/i.exec(text.trim());
  return found ? { x: Number(found[1]), y: Number(found[2]) } : null;
}

/** A value as `_query` prints it. */
export function printed(value: Value, type: Type): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((item) => printed(item, type));
  if (type === 'datetime') return new Date(value as number).toISOString();
  if (typeof value === 'bigint') {
    const millis = new Date(Number(value / 1_000_000n)).toISOString();
    return `${millis.slice(0, -1)}${String(value % 1_000_000n).padStart(6, '0')}Z`;
  }
  if (typeof value === 'object') return `POINT (${javaDouble(value.x)} ${javaDouble(value.y)})`;
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
const javaDouble = (n: number): string => (Number.isInteger(n) ? n.toFixed(1) : String(n));

/** The name of a type in the `columns` of an answer. */
export const printedType = (type: Type): string => (type === 'datetime' ? 'date' : type);
