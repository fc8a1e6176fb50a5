/** An index mapping seen as ES|QL columns, and search hits as rows. */
import { compare, EsqlError, packed, parseMillis, type Row, type Scalar, type Type, type Value } from './values.ts';

export interface IndexField {
  type: Type;
  /** The mapping's own name for the type. */
  kind: string;
  /** Where the value stands in `_source`: a multi-field reads its parent. */
  path: string;
  /** Whether Lucene can answer a condition on it, and sort by it. */
  searchable: boolean;
  sortable: boolean;
  docValues: boolean;
  ignoreAbove: number;
}
export type IndexFields = Map<string, IndexField>;
export interface Mapping {
  properties?: Record<string, MappedField>;
}
interface MappedField extends Mapping {
  type?: string;
  index?: boolean;
  doc_values?: boolean;
  enabled?: boolean;
  ignore_above?: number;
  normalizer?: string;
  null_value?: unknown;
  fields?: Record<string, MappedField>;
}
export interface Hit {
  _id: string;
  _index: string;
  _score: number | null;
  _source?: Record<string, unknown>;
}

const TYPES: Record<string, Type> = {
  text: 'text',
  match_only_text: 'text',
  keyword: 'keyword',
  constant_keyword: 'keyword',
  date: 'datetime',
  boolean: 'boolean',
  byte: 'integer',
  short: 'integer',
  integer: 'integer',
  long: 'long',
  float: 'double',
  double: 'double',
  dense_vector: 'dense_vector',
};

/** The columns of an index, by name in alphabetical order as Elasticsearch lists them. */
export function columnsOf(mapping: Mapping): IndexFields {
  const found: [string, IndexField][] = [];
  const walk = (properties: Record<string, MappedField>, prefix: string, parent?: string): void => {
    for (const [name, field] of Object.entries(properties)) {
      const path = `${prefix}${name}`;
      if (field.properties && field.type !== 'nested') {
        if (field.enabled !== false) walk(field.properties, `${path}.`);
        continue;
      }
      if (field.type) found.push([path, described(field, parent ?? path)]);
      if (field.fields) walk(field.fields, `${path}.`, path);
    }
  };
  walk(mapping.properties ?? {}, '');
  return new Map(found.sort(([a], [b]) => compare(a, b)));
}

function described(field: MappedField, path: string): IndexField {
  const kind = field.type ?? 'object';
  const known = field.normalizer === undefined && field.null_value === undefined && Object.hasOwn(TYPES, kind);
  const type = known ? (TYPES[kind] as Type) : 'unsupported';
  const docValues = field.doc_values !== false && type !== 'text' && type !== 'dense_vector';
  const searchable = known && (field.index !== false || docValues);
  return {
    type,
    kind,
    path,
    searchable,
    sortable: docValues && known,
    docValues,
    ignoreAbove: field.ignore_above ?? Infinity,
  };
}

export function rowOf(hit: Hit, fields: IndexFields, metadata: readonly string[]): Row {
  const row: Row = {};
  for (const [name, field] of fields) {
    if (field.type === 'dense_vector' || field.type === 'unsupported') continue;
    row[name] = read(hit._source ?? {}, name, field);
  }
  if (metadata.includes('_id')) row._id = hit._id;
  if (metadata.includes('_index')) row._index = hit._index;
  // A score is a 32-bit float that ES|QL widens to a double.
  if (metadata.includes('_score')) row._score = Math.fround(hit._score ?? 0);
  return row;
}

function read(source: Record<string, unknown>, name: string, field: IndexField): Value {
  const items = collect(source, field.path)
    .map((item) => scalar(item, name, field))
    .filter((item) => typeof item !== 'string' || item.length <= field.ignoreAbove);
  if (!field.docValues) return packed(items);
  // Doc values come sorted, and those of keywords without repetition.
  const sorted = items.sort(compare);
  return packed(field.type === 'keyword' ? [...new Set(sorted)] : sorted);
}

function collect(source: unknown, path: string): unknown[] {
  if (source === null || source === undefined) return [];
  if (Array.isArray(source)) return source.flatMap((item) => collect(item, path));
  if (path === '') return [source];
  if (typeof source !== 'object') return [];
  const object = source as Record<string, unknown>;
  // `a.b` may stand in the source as an object or as a dotted name.
  return Object.keys(object).flatMap((key) => {
    if (key === path) return collect(object[key], '');
    return path.startsWith(`${key}.`) ? collect(object[key], path.slice(key.length + 1)) : [];
  });
}

function scalar(item: unknown, name: string, field: IndexField): Scalar {
  switch (field.type) {
    case 'datetime': {
      const millis =
        typeof item === 'number' ? item : /^-?\d{5,}$/.test(String(item)) ? Number(item) : parseMillis(String(item));
      if (millis === null)
        throw new EsqlError(
          'illegal_argument_exception',
          `the ES|QL stand-in cannot read the date [${String(item)}] of [${name}]`,
        );
      return millis;
    }
    case 'boolean':
      return item === true || item === 'true';
    case 'integer':
    case 'long':
      return Math.trunc(Number(item));
    case 'double':
      return field.kind === 'float' ? Math.fround(Number(item)) : Number(item);
    default:
      return String(item);
  }
}
