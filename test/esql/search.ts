/** FROM and the WHEREs beside it: a search on the real node, with its scores. */
import type { Expr, SortKey } from './ast.ts';
import type { Column, Compiled, Scope } from './compiled.ts';
import { compile } from './evaluate.ts';
import { type Hit, type IndexFields, rowOf } from './fields.ts';
import { bool, conjuncts, type Dsl, hasFullText, Translator } from './full-text.ts';
import { EsqlError, type Place, type Row, verificationError } from './values.ts';

export interface SearchBody {
  size: number;
  query: Dsl;
  sort?: unknown[];
  track_scores: true;
  track_total_hits: false;
  _source: string[] | false;
}
export interface Found {
  hits: Hit[];
  partial?: boolean;
}
/** What the stand-in needs of the node. */
export interface Backend {
  fields(index: string): Promise<IndexFields | null>;
  search(index: string, body: SearchBody): Promise<Found>;
  /** The answer of an inference endpoint to TEXT_EMBEDDING, where the tests have one. */
  embed?(endpoint: string, text: string): Promise<number[]>;
}

/** Elasticsearch's own cap on one search; beyond it the stand-in refuses rather than leave rows out. */
const WINDOW = 10_000;
const METADATA = { _id: 'keyword', _index: 'keyword', _score: 'double' } as const;

export class Source {
  readonly index: string;
  readonly columns = new Map<string, Column>();
  private readonly fields: IndexFields;
  private readonly metadata: readonly string[];
  private readonly scope: Scope;
  private readonly filter: Dsl[];
  /** Of the filter, what KNN learns only once it has its neighbours. */
  private readonly afterwards: Dsl[];
  private readonly translator: Translator;
  private readonly must: Dsl[] = [];
  private readonly rest: Compiled[] = [];
  private full: Expr | undefined;

  constructor(
    from: Place & { index: string; metadata: (Place & { name: string })[] },
    fields: IndexFields,
    scope: Scope,
    filter: Dsl[],
    limit: number | undefined,
    afterwards: Dsl[] = [],
  ) {
    this.index = from.index;
    this.fields = fields;
    this.filter = [...filter];
    this.afterwards = afterwards;
    for (const [name, field] of fields) this.columns.set(name, { type: field.type });
    for (const item of from.metadata) {
      if (!Object.hasOwn(METADATA, item.name))
        throw verificationError(item, `Unresolved metadata pattern [${item.name}]`);
      this.columns.set(item.name, { type: METADATA[item.name as keyof typeof METADATA] });
    }
    this.metadata = from.metadata.map((item) => item.name);
    this.scope = { ...scope, columns: this.columns };
    this.translator = new Translator(fields, this.scope, limit);
  }

  where(condition: Expr): void {
    for (const part of conjuncts(condition)) {
      if (hasFullText(part)) {
        this.must.push(this.translator.scoring(part));
        if (this.full && this.translator.knn.length > 0)
          throw verificationError(part, 'the ES|QL stand-in does not know KNN AND another full-text condition');
        this.full = part;
        continue;
      }
      const compiled = compile(part, this.scope);
      if (compiled.type !== 'boolean' && compiled.type !== 'null')
        throw verificationError(
          part,
          `Condition expression needs to be boolean, found [${compiled.type.toUpperCase()}]`,
        );
      const dsl = this.translator.plain(part);
      if (dsl) this.filter.push(dsl);
      else this.rest.push(compiled);
    }
  }

  /** The sort as Elasticsearch's, or null where only the stand-in can sort (text, `_id`, expressions, conditions left over). */
  order(keys: SortKey[]): unknown[] | null {
    if (this.rest.length > 0) return null;
    const order = keys.map(({ expr, descending, nullsFirst }) => {
      compile(expr, this.scope);
      if (expr.kind !== 'column') return null;
      if (expr.name === '_score') return { _score: { order: descending ? 'desc' : 'asc' } };
      if (!this.fields.get(expr.name)?.sortable) return null;
      return { [expr.name]: { order: descending ? 'desc' : 'asc', missing: nullsFirst ? '_first' : '_last' } };
    });
    return order.includes(null) ? null : order;
  }

  async rows(
    backend: Backend,
    limit: number | undefined,
    order: unknown[] | undefined,
    partial: () => void,
  ): Promise<Row[]> {
    for (const { dsl, vector } of this.translator.knn) {
      dsl.query_vector = Array.isArray(vector) ? vector : await embedded(backend, vector);
      if (this.filter.length > 0) dsl.filter = this.filter;
    }
    const whole = limit === undefined || this.rest.length > 0;
    const size = whole ? WINDOW : Math.min(limit, WINDOW);
    if (size === 0) return [];
    const filter = [...this.filter, ...this.afterwards];
    // A flat field's knn query matches every document, whatever its k; an approximate one has k of them and no more.
    if (this.afterwards.length > 0) {
      for (const { dsl } of this.translator.knn) filter.push({ ids: { values: await this.nearest(backend, dsl) } });
    }
    const query = this.must.length + filter.length > 0 ? bool({ must: this.must, filter }) : { match_all: {} };
    const paths = [...this.fields.values()].filter((field) => field.type !== 'dense_vector').map((field) => field.path);
    const found = await backend.search(this.index, {
      size,
      query,
      ...(order ? { sort: order } : {}),
      track_scores: true,
      track_total_hits: false,
      _source: paths.length > 0 ? [...new Set(paths)] : false,
    });
    if (found.partial) partial();
    if (whole && found.hits.length >= WINDOW)
      throw new EsqlError(
        'illegal_argument_exception',
        `the ES|QL stand-in cannot go through ${WINDOW} rows of [${this.index}]`,
      );
    const rows = found.hits.map((hit) => rowOf(hit, this.fields, this.metadata));
    for (const row of rows)
      for (const name of this.translator.single)
        if (Array.isArray(row[name]))
          throw new EsqlError(
            'illegal_argument_exception',
            `the ES|QL stand-in met several values in [${name}], which a condition compares`,
          );
    const kept = rows.filter((row) => this.rest.every((test) => test.run(row) === true));
    return limit === undefined ? kept : kept.slice(0, limit);
  }

  private async nearest(backend: Backend, dsl: Dsl): Promise<string[]> {
    const size = Math.min(Number(dsl.k), WINDOW);
    const body = { size, query: { knn: dsl }, track_scores: true, track_total_hits: false, _source: false } as const;
    return (await backend.search(this.index, body)).hits.map(({ _id }) => _id);
  }
}

async function embedded(backend: Backend, { text, endpoint }: { text: string; endpoint: string }): Promise<number[]> {
  if (backend.embed) return await backend.embed(endpoint, text);
  throw new EsqlError('resource_not_found_exception', `Inference endpoint not found [${endpoint}]`, 404);
}
