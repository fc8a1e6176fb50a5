/** The request body of `_query`, read so that 1 and 1.0 stay apart, as they do for Elasticsearch. */
import { EsqlError, type Scalar, type Type, type Value } from './values.ts';

export interface Literal {
  type: Type;
  value: Value;
}
export type Params = Record<string, Literal>;
export interface QueryRequest {
  query: string;
  params: Params;
  /** Query DSL that every search must also satisfy. */
  filter?: Record<string, unknown>;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const refuse = (reason: string, type = 'x_content_parse_exception'): EsqlError => new EsqlError(type, reason);

export function readRequest(body: string): QueryRequest {
  let plain: Record<string, unknown>;
  try {
    plain = JSON.parse(body) as Record<string, unknown>;
  } catch (error) {
    throw refuse(`[1:1] ${(error as Error).message}`);
  }
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain))
    throw refuse('[1:1] [esql/query] expected an object');
  for (const key of Object.keys(plain)) {
    if (key === 'query' || key === 'params' || key === 'filter' || (key === 'columnar' && plain[key] === false))
      continue;
    throw refuse(`[1:1] [esql/query] unknown field [${key}], or one the ES|QL stand-in does not know`);
  }
  if (typeof plain.query !== 'string' || plain.query.trim() === '')
    throw refuse('Validation Failed: 1: [query] is required;', 'action_request_validation_exception');
  // Numbers become {"#": "1.0"}, so that their spelling is not lost.
  const spelled = JSON.parse(body.replace(TOKENS, (token) => (token[0] === '"' ? token : `{"#":"${token}"}`))) as {
    params?: unknown;
  };
  return {
    query: plain.query,
    params: readParams(spelled.params ?? []),
    ...(plain.filter === undefined || plain.filter === null ? {} : { filter: plain.filter as Record<string, unknown> }),
  };
}

const failed = (reason: string): EsqlError =>
  refuse(`[1:1] [esql/query] failed to parse field [params]: Failed to parse params: ${reason}`);

function readParams(list: unknown): Params {
  if (!Array.isArray(list)) throw failed('params must be an array');
  const params: Params = Object.create(null) as Params;
  for (const entry of list) {
    const names = typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? Object.keys(entry) : [];
    const name = names[0];
    if (names.length !== 1 || name === undefined || name === '#')
      throw failed('the ES|QL stand-in knows params of the form [{"name": value}, ...] only');
    if (!/^[A-Za-z_]\w*$/.test(name)) throw failed(`[${name}] is not a valid parameter name`);
    if (Object.hasOwn(params, name)) throw failed(`parameter [${name}] is given twice`);
    params[name] = readParam(name, (entry as Record<string, unknown>)[name]);
  }
  return params;
}

function readParam(name: string, given: unknown): Literal {
  if (!Array.isArray(given)) return scalar(name, given);
  const items = given.map((item) => scalar(name, item));
  const types = [...new Set(items.map((item) => item.type))];
  if (types.length > 1 || types[0] === 'null') {
    const shown = given.map(spelling).join(', ');
    throw failed(
      `Parameter [${name}] contains mixed data types: [${shown}]. Mixed data types are not allowed in multivalued params.`,
    );
  }
  const list = items.map((item) => item.value as Scalar);
  return { type: types[0] ?? 'null', value: list.length === 0 ? null : list.length === 1 ? (list[0] as Scalar) : list };
}

const number = (given: unknown): string | undefined =>
  typeof given === 'object' && given !== null
    ? ((given as Record<string, unknown>)['#'] as string | undefined)
    : undefined;
const spelling = (given: unknown): string => number(given) ?? String(given);

function scalar(name: string, given: unknown): Literal {
  if (given === null) return { type: 'null', value: null };
  if (typeof given === 'string') return { type: 'keyword', value: given };
  if (typeof given === 'boolean') return { type: 'boolean', value: given };
  const text = number(given);
  if (text === undefined) throw failed(`the ES|QL stand-in does not know the form of parameter [${name}]`);
  return numberLiteral(text);
}

/** integer, long or double, by how the number is written. */
export function numberLiteral(text: string): Literal {
  const value = Number(text);
  if (!/^-?\d+$/.test(text)) return { type: 'double', value };
  if (value >= -(2 ** 31) && value < 2 ** 31) return { type: 'integer', value };
  if (!Number.isSafeInteger(value))
    throw refuse(`the ES|QL stand-in does not know integers beyond 2^53: [${text}]`, 'parsing_exception');
  return { type: 'long', value };
}
