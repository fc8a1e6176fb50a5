/**
 * A tagged template for ES|QL: `esql\`…\`` gives the text with named params in the place of every value.
 * A value never becomes text, so no text of a user can change a query.
 */

/** What a param can be in the request body. */
export type EsqlValue = string | number | boolean | readonly number[];

/** A query or a part of one: its text, and its values in the order they first appear, each as `{ name: value }`. */
export interface Esql {
  readonly query: string;
  readonly params: readonly Readonly<Record<string, EsqlValue>>[];
}

/** A value on its way into a query: what it is called there, how it is cast, and its JSON form. */
export interface Param {
  readonly name: string | null;
  readonly cast: 'datetime' | 'double' | 'time_duration' | null;
  readonly value: EsqlValue;
}

interface Name {
  readonly identifier: string;
}

interface List {
  readonly items: readonly Param[];
}

type Piece = string | Param;

/** Pieces of the fragments made here: what lets one be nested in another and its unnamed values be numbered anew. */
const piecesOf = new WeakMap<object, readonly Piece[]>();
const params = new WeakSet<object>();
const names = new WeakSet<object>();
const lists = new WeakSet<object>();

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const INDEX = /^[a-z0-9][a-z0-9._-]{0,254}$/;

const refuse = (message: string): never => {
  throw new TypeError(`esql: ${message}`);
};

function make(cast: Param['cast'], value: EsqlValue, name: string | null): Param {
  if (name !== null && !NAME.test(name)) refuse(`${JSON.stringify(name)} is no name for a value`);
  const param = Object.freeze({ name, cast, value });
  params.add(param);
  return param;
}

function plain(value: unknown): string | number | boolean {
  if (typeof value === 'string') {
    return value.isWellFormed() ? value : refuse('a text holds a lone surrogate');
  }
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    // JSON has no −0, and the two are equal to ES|QL.
    return Number.isFinite(value) ? value + 0 : refuse(`${value} is no value`);
  }
  return refuse(`${value === null ? 'null' : typeof value} is no value: use a text, a number, a boolean or a helper`);
}

/** `?name`. One object used twice is one param; two of one name get different names, whatever they hold. */
export const param = (value: string | number | boolean, name?: string): Param => make(null, plain(value), name ?? null);

/** `?name::double`: a number that counts as a double although JSON prints 1.0 as `1`, an integer to ES|QL. */
export const double = (value: number, name?: string): Param => make('double', plain(value), name ?? null);

/** `?name::datetime`, from milliseconds since 1970; refuses years outside 0…9999, which have another ISO form. */
export function instant(milliseconds: number, name?: string): Param {
  if (!Number.isInteger(milliseconds)) refuse(`${milliseconds} is no instant`);
  const date = new Date(milliseconds);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) refuse(`${milliseconds} is outside the years 0 to 9999`);
  return make('datetime', date.toISOString(), name ?? null);
}

const UNITS = [
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1000],
  ['milliseconds', 1],
] as const;

/**
 * `?name::time_duration` from hours, as `"1080 hours"`; a fraction is told in the largest unit that makes it whole.
 * Durations stop at hours in ES|QL (days are calendar periods), and one of 0 would make DECAY give NaN: refused.
 */
export function duration(hours: number, name?: string): Param {
  const milliseconds = Math.round(hours * 3_600_000);
  if (!Number.isSafeInteger(milliseconds) || milliseconds < 1) refuse(`${hours} hours is no duration`);
  for (const [unit, size] of UNITS) {
    if (milliseconds % size === 0) return make('time_duration', `${milliseconds / size} ${unit}`, name ?? null);
  }
  return refuse(`${hours} hours is no duration`);
}

/** 2⁻³⁰: as a part of a float32 too little to change it (its steps are 2⁻²⁴ and more), yet enough to show in JSON. */
const NUDGE = 2 ** -30;
/** Rounds to 0 in float32, whose smallest value is 1.4e-45. */
const ALMOST_ZERO = 1e-46;

/**
 * `?name` holding a vector. KNN refuses an array that mixes integers and floats, and JavaScript prints 1.0 as `1`;
 * so whole components are moved by less than float32 can tell, and every one prints as a float. Read back as
 * float32, as Elasticsearch does, the vector is the one given, to the bit.
 */
export function vector(components: Float32Array | readonly number[], name?: string): Param {
  if (components.length === 0) refuse('a vector needs at least one component');
  const floats = Array.from(components, (component) => {
    const single = Math.fround(component);
    if (!Number.isFinite(single) || Math.abs(single) > 2 ** 24)
      return refuse(`${component} is no component of a vector`);
    if (single === 0) return ALMOST_ZERO;
    return Number.isInteger(single) ? single * (1 + NUDGE) : single;
  });
  return make(null, Object.freeze(floats), name ?? null);
}

/** The name of a column, checked; never for what a user wrote. */
export function identifier(name: string): Name {
  if (!NAME.test(name)) refuse(`${JSON.stringify(name)} is no identifier`);
  const made = Object.freeze({ identifier: name });
  names.add(made);
  return made;
}

/** The name of an index or alias, checked: lower-case letters, digits, `_`, `-` and `.`, no wildcard and no list. */
export function indexName(name: string): Name {
  if (!INDEX.test(name) || name === 'metadata') {
    refuse(`${JSON.stringify(name)} is no index name`);
  }
  const made = Object.freeze({ identifier: name });
  names.add(made);
  return made;
}

/** `?name1, ?name2, …`, for IN; an empty list has no form in ES|QL and is refused. */
export function list(values: readonly (string | number | boolean)[], name?: string): List {
  if (values.length === 0) refuse('a list needs at least one value');
  const made = Object.freeze({
    items: values.map((value, at) => make(null, plain(value), name === undefined ? null : `${name}${at + 1}`)),
  });
  lists.add(made);
  return made;
}

/** Fragments in a row with a fixed text between them. */
export function join(parts: readonly Esql[], between: ' AND ' | '\n    AND ' | '\n      OR ' | ',\n    '): Esql {
  const pieces = parts.flatMap((part, at): readonly Piece[] => {
    const own = piecesOf.get(part) ?? refuse('only fragments can be joined');
    return at === 0 ? own : [between, ...own];
  });
  return render(pieces);
}

function render(pieces: readonly Piece[]): Esql {
  const taken = new Map<string, Param>();
  const given = new Map<Param, string>();
  const nameFor = (piece: Param): string => {
    const known = given.get(piece);
    if (known !== undefined) return known;
    const wanted = piece.name ?? 'p';
    let name = piece.name ?? 'p1';
    for (let count = 2; taken.has(name); count++) name = piece.name === null ? `p${count}` : `${wanted}_${count}`;
    taken.set(name, piece);
    given.set(piece, name);
    return name;
  };
  const query = pieces
    .map((piece) => (typeof piece === 'string' ? piece : `?${nameFor(piece)}${piece.cast ? `::${piece.cast}` : ''}`))
    .join('');
  const bound = Array.from(taken, ([name, { value }]) => Object.freeze({ [name]: value }));
  const made: Esql = Object.freeze({ query, params: Object.freeze(bound) });
  piecesOf.set(made, Object.freeze([...pieces]));
  return made;
}

const isParam = (value: unknown): value is Param => typeof value === 'object' && value !== null && params.has(value);
const isName = (value: unknown): value is Name => typeof value === 'object' && value !== null && names.has(value);
const isList = (value: unknown): value is List => typeof value === 'object' && value !== null && lists.has(value);

/**
 * Compiles a query: esql`WHERE scope == ${scope} AND created_at <= ${instant(now, 'now')}` gives
 * `WHERE scope == ?p1 AND created_at <= ?now::datetime` and `[{ p1: … }, { now: … }]`. Fragments nest.
 * Throws TypeError where it is called without a template, and for undefined, null, NaN, foreign objects, and a
 * value inside a string literal or after `?`, which would mean something else there.
 */
export function esql(strings: TemplateStringsArray, ...values: readonly unknown[]): Esql {
  if (!Array.isArray(strings) || !Object.hasOwn(strings, 'raw')) refuse('is a template tag: write esql`…`');
  const pieces: Piece[] = [];
  let quotes = 0;
  strings.forEach((text, at) => {
    pieces.push(text);
    if (at === values.length) return;
    quotes += text.split('"').length - 1;
    if (quotes % 2 === 1) refuse('a value stands inside a string literal');
    if (text.endsWith('?')) refuse('a value follows a question mark');
    const value = values[at];
    if (isParam(value)) pieces.push(value);
    else if (isName(value)) pieces.push(value.identifier);
    else if (isList(value)) pieces.push(...value.items.flatMap((item, n) => (n === 0 ? [item] : [', ', item])));
    else if (typeof value === 'object' && value !== null && piecesOf.has(value)) {
      pieces.push(...(piecesOf.get(value) ?? []));
    } else pieces.push(make(null, plain(value), null));
  });
  return render(pieces);
}
