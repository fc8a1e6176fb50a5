/** Conditions as Query DSL: full-text and kNN ones, which score, and the plain ones Lucene can answer. */
import type { Expr } from './ast.ts';
import { type Compiled, type Scope, wrongType } from './compiled.ts';
import { compile, FULL_TEXT } from './evaluate.ts';
import type { IndexField, IndexFields } from './fields.ts';
import {
  isNumeric,
  isString,
  parseMillis,
  type Scalar,
  unknownToStandIn,
  type Value,
  values,
  verificationError,
} from './values.ts';

export type Dsl = Record<string, unknown>;
/** A query vector, or the text that an inference endpoint makes it from. */
export type Vector = number[] | { text: string; endpoint: string };
export interface Knn {
  dsl: Dsl;
  vector: Vector;
}

export const bool = (parts: Dsl): Dsl => ({ bool: parts });
const nothing: Dsl = { match_none: {} };
const MATCH_OPTIONS = [
  'operator',
  'boost',
  'max_expansions',
  'fuzziness',
  'fuzzy_rewrite',
  'fuzzy_transpositions',
  'analyzer',
  'zero_terms_query',
  'lenient',
  'prefix_length',
  'minimum_should_match',
  'auto_generate_synonyms_phrase_query',
];
const KNN_OPTIONS = ['boost', 'k', 'min_candidates', 'similarity', 'visit_percentage', 'rescore_oversample'];

export const hasFullText = (expr: Expr): boolean => {
  if (expr.kind === 'operation') return expr.args.some(hasFullText);
  if (expr.kind === 'cast') return hasFullText(expr.arg);
  return expr.kind === 'call' && (FULL_TEXT.includes(expr.name) || expr.args.some(hasFullText));
};
export const conjuncts = (expr: Expr): Expr[] => spread(expr, 'AND');
const spread = (expr: Expr, operator: string): Expr[] =>
  expr.kind === 'operation' && expr.operator === operator ? expr.args.flatMap((arg) => spread(arg, operator)) : [expr];

export class Translator {
  readonly fields: IndexFields;
  readonly scope: Scope;
  /** The kNN queries met, whose filter and vector are filled in before the search. */
  readonly knn: Knn[] = [];
  /** Columns of pushed conditions: ES|QL would answer null where they hold several values. */
  readonly single = new Set<string>();
  /** The LIMIT that follows, which sets how many neighbours KNN seeks. */
  readonly limit: number | undefined;

  constructor(fields: IndexFields, scope: Scope, limit: number | undefined) {
    this.fields = fields;
    this.scope = scope;
    this.limit = limit;
  }

  /** A condition with full-text functions in it. */
  scoring(expr: Expr): Dsl {
    if (!hasFullText(expr)) {
      const plain = this.plain(expr);
      if (!plain)
        throw unknownToStandIn(expr, `the condition [${expr.text}] beside a full-text function under OR or NOT`);
      return bool({ filter: [plain] });
    }
    if (expr.kind === 'operation' && expr.operator === 'OR')
      return bool({ should: spread(expr, 'OR').map((part) => this.scoring(part)), minimum_should_match: 1 });
    if (expr.kind === 'operation' && expr.operator === 'AND')
      return bool({ must: conjuncts(expr).map((part) => this.scoring(part)) });
    if (expr.kind === 'operation' && expr.operator === 'NOT')
      return bool({ must_not: expr.args.map((arg) => this.scoring(arg)) });
    if (expr.kind === 'call' && expr.name === 'MATCH') return this.match(expr);
    if (expr.kind === 'call' && expr.name === 'KNN') return this.neighbours(expr);
    throw unknownToStandIn(expr, `a full-text function inside [${expr.text}]`);
  }

  private field(expr: Expr & { kind: 'call' }): string {
    const [field] = expr.args;
    if (expr.args.length !== 2)
      throw verificationError(expr, `error building [${expr.text}]: expects two arguments and options`);
    if (field?.kind !== 'column' || !this.fields.has(field.name)) {
      if (field) compile(field, this.scope);
      throw verificationError(
        expr,
        `[${expr.name}] function cannot operate on [${field?.text}], which is not a field from an index mapping`,
      );
    }
    return field.name;
  }
  private options(expr: Expr & { kind: 'call' }, known: string[]): Dsl {
    const options: Dsl = {};
    for (const [key, option] of expr.options ?? []) {
      if (!known.includes(key))
        throw verificationError(
          expr,
          `Invalid option [${key}] in [${expr.text}], expected one of [${known.join(', ')}]`,
        );
      options[key] = option.value;
    }
    return options;
  }

  private match(expr: Expr & { kind: 'call' }): Dsl {
    const name = this.field(expr);
    const { type } = this.fields.get(name) as IndexField;
    if (type === 'dense_vector' || type === 'unsupported')
      throw verificationError(expr, `[MATCH] cannot search [${name}] of type [${type}]`);
    const query = compile(expr.args[1] as Expr, this.scope);
    if (query.type === 'null')
      throw verificationError(expr, `second argument of [${expr.text}] cannot be null, received [${query.text}]`);
    if (!query.constant)
      throw verificationError(query, `Query must be a constant string in [${expr.text}], found [${query.text}]`);
    const value = query.run({});
    if (Array.isArray(value) || !(isString(query.type) || isNumeric(query.type) || query.type === 'boolean'))
      throw wrongType(expr, 1, query, 'string, boolean or numeric, of one value');
    if (isString(type) && !isString(query.type))
      throw verificationError(
        expr,
        `first argument of [${expr.text}] is [${type}] so second argument must also be [${type}] but was [${query.type}]`,
      );
    return { match: { [name]: { query: value, lenient: true, ...this.options(expr, MATCH_OPTIONS) } } };
  }

  private neighbours(expr: Expr & { kind: 'call' }): Dsl {
    const name = this.field(expr);
    const type = this.fields.get(name)?.type;
    if (type !== 'dense_vector')
      throw verificationError(
        expr,
        `first argument of [${expr.text}] must be [dense_vector, null, text], found value [${name}] type [${type}]`,
      );
    const options = this.options(expr, KNN_OPTIONS);
    const k = options.k ?? this.limit;
    if (k === undefined)
      throw verificationError(
        expr,
        'Knn function must be used with a LIMIT clause after it to set the number of nearest neighbors to find',
      );
    if (expr.options?.has('k') && expr.options.get('k')?.type !== 'integer')
      throw verificationError(expr, `Invalid option [k] in [${expr.text}], cannot cast [${String(k)}] to [integer]`);
    if (options.visit_percentage !== undefined) throw unknownToStandIn(expr, 'the KNN option [visit_percentage]');
    const body: Dsl = { field: name, k };
    if (options.min_candidates !== undefined)
      body.num_candidates = Math.max(options.min_candidates as number, k as number);
    if (options.rescore_oversample !== undefined) body.rescore_vector = { oversample: options.rescore_oversample };
    for (const key of ['boost', 'similarity']) if (options[key] !== undefined) body[key] = options[key];
    this.knn.push({ dsl: body, vector: this.vector(expr, expr.args[1] as Expr) });
    return { knn: body };
  }

  private vector(at: Expr, given: Expr): Vector {
    if (given.kind === 'call' && given.name === 'TEXT_EMBEDDING') {
      const [text, endpoint] = given.args.map((arg) => compile(arg, this.scope));
      for (const arg of [text, endpoint])
        if (given.args.length !== 2 || arg?.type !== 'keyword' || !arg.constant)
          throw verificationError(given, `the arguments of [${given.text}] must be two constant strings`);
      return { text: text?.run({}) as string, endpoint: endpoint?.run({}) as string };
    }
    const query = compile(given, this.scope);
    const list = query.constant ? values(query.run({})) : [];
    if (list.length === 0 || !list.every((item) => typeof item === 'number'))
      throw wrongType(at, 1, query, 'dense_vector');
    return list as number[];
  }

  /** A condition Lucene can answer as ES|QL would, or null: then rows are tested one by one, after kNN. */
  plain(expr: Expr): Dsl | null {
    const whole = compile(expr, this.scope);
    if (whole.constant) return whole.run({}) === true ? { match_all: {} } : nothing;
    if (expr.kind !== 'operation') return expr.kind === 'column' ? this.compared('==', expr, true) : null;
    const { operator, args } = expr;
    const [left, right] = args as [Expr, Expr];
    if (operator === 'AND' || operator === 'OR') {
      const parts = spread(expr, operator).map((part) => this.plain(part));
      if (parts.includes(null)) return null;
      return bool(operator === 'AND' ? { filter: parts } : { should: parts, minimum_should_match: 1 });
    }
    if (operator === 'NOT') return this.plainNot(left);
    if (operator === 'IS NULL' || operator === 'IS NOT NULL') {
      if (left.kind !== 'column' || !this.fields.get(left.name)?.searchable) return null;
      const exists = { exists: { field: left.name } };
      return operator === 'IS NULL' ? bool({ must_not: [exists] }) : exists;
    }
    if (operator === 'IN') {
      const tests = args.slice(1).map((item) => this.plain(equal(expr, left, item)));
      return tests.includes(null) ? null : bool({ should: tests, minimum_should_match: 1 });
    }
    const flipped: Record<string, string> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
    const constant = [left, right]
      .map((side) => compile(side, this.scope))
      .map((side) => (side.constant ? side : undefined));
    if (constant[1]) return this.compared(operator, left, this.operand(left, constant[1]));
    if (constant[0]) return this.compared(flipped[operator] ?? operator, right, this.operand(right, constant[0]));
    return null;
  }

  private plainNot(expr: Expr): Dsl | null {
    const opposite: Record<string, string> = { '==': '!=', '!=': '==', '<': '>=', '<=': '>', '>': '<=', '>=': '<' };
    if (expr.kind !== 'operation') return null;
    const { operator, args } = expr;
    const not = (arg: Expr): Expr => ({ ...expr, operator: 'NOT', args: [arg] });
    if (operator === 'NOT') return this.plain(args[0] as Expr);
    if (operator === 'AND' || operator === 'OR')
      return this.plain({ ...expr, operator: operator === 'AND' ? 'OR' : 'AND', args: args.map(not) });
    if (operator === 'IS NULL') return this.plain({ ...expr, operator: 'IS NOT NULL' });
    if (operator === 'IS NOT NULL') return this.plain({ ...expr, operator: 'IS NULL' });
    if (operator === 'IN') {
      const tests = args.slice(1).map((item) => this.plain({ ...equal(expr, args[0] as Expr, item), operator: '!=' }));
      return tests.includes(null) ? null : bool({ filter: tests });
    }
    const other = opposite[operator];
    return other ? this.plain({ ...expr, operator: other as '==' }) : null;
  }

  private operand(column: Expr, constant: Compiled): Value {
    const value = constant.run({});
    const date = column.kind === 'column' && this.fields.get(column.name)?.type === 'datetime';
    return date && typeof value === 'string' ? parseMillis(value) : value;
  }

  private compared(operator: string, column: Expr, value: Value): Dsl | null {
    if (column.kind !== 'column') return null;
    const field = this.fields.get(column.name);
    if (!field?.searchable || field.type === 'text') return null;
    if (value === null || Array.isArray(value)) return nothing;
    this.single.add(column.name);
    const range = (limits: Record<string, Scalar>): Dsl => ({
      range: { [column.name]: { ...limits, ...(field.type === 'datetime' ? { format: 'epoch_millis' } : {}) } },
    });
    const same = field.type === 'datetime' ? range({ gte: value, lte: value }) : { term: { [column.name]: { value } } };
    if (operator === '==') return same;
    if (operator === '!=') return bool({ filter: [{ exists: { field: column.name } }], must_not: [same] });
    const names: Record<string, string> = { '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte' };
    return range({ [names[operator] as string]: value });
  }
}

const equal = (at: Expr, left: Expr, item: Expr): Expr & { kind: 'operation' } => ({
  kind: 'operation',
  operator: '==',
  args: [left, item],
  pos: at.pos,
  text: at.text,
});
