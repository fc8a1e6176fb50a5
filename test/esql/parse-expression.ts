/** Expressions of ES|QL, by precedence: OR, AND, NOT, comparison, + -, * / %, unary minus, ::cast. */
import type { Expr, Operator, Option, Options } from './ast.ts';
import { place, type Token, tokens } from './lex.ts';
import { type Literal, numberLiteral, type Params } from './params.ts';
import { type EsqlError, interval, type Place, parsingError, type Scalar } from './values.ts';

const COMPARISONS: readonly string[] = ['==', '!=', '<', '<=', '>', '>='];

export class ExpressionParser {
  readonly query: string;
  readonly params: Params;
  readonly list: Token[];
  protected at = 0;

  constructor(query: string, params: Params) {
    this.query = query;
    this.params = params;
    this.list = tokens(query);
    const unknown = this.list.filter((token) => token.kind === 'param' && !Object.hasOwn(params, token.value));
    if (unknown.length > 0) {
      const messages = unknown.map(
        (token) => `line ${place(query, token.start)}: Unknown query parameter [${token.value}]`,
      );
      const error = parsingError('1:1', '');
      error.message = messages.join('; ');
      throw error;
    }
  }

  peek(ahead = 0): Token {
    return this.list[Math.min(this.at + ahead, this.list.length - 1)] as Token;
  }
  next(): Token {
    const token = this.peek();
    this.at++;
    return token;
  }
  /** Whether the next token is this symbol or keyword (keywords in any case). */
  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    if (token.kind === 'symbol') return token.value === text;
    return token.kind === 'name' && token.value.toUpperCase() === text;
  }
  take(text: string): boolean {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }
  expect(text: string): void {
    if (!this.take(text)) throw this.mismatch(`'${text.toLowerCase()}'`);
  }
  mismatch(expected: string): EsqlError {
    const token = this.peek();
    const shown = token.kind === 'end' ? token.value : this.query.slice(token.start, token.end);
    return parsingError(place(this.query, token.start), `mismatched input '${shown}' expecting ${expected}`);
  }
  placed<T>(start: number, node: T): T & Place {
    const last = this.list[this.at - 1] as Token;
    return { ...node, pos: place(this.query, start), text: this.query.slice(start, last.end) };
  }
  protected operation(start: number, operator: Operator, args: Expr[]): Expr {
    return this.placed(start, { kind: 'operation' as const, operator, args });
  }

  name(): string {
    const token = this.peek();
    if (token.kind !== 'name' && token.kind !== 'quoted') throw this.mismatch('a name');
    let name = this.next().value;
    while (this.is('.') && ['name', 'quoted'].includes(this.peek(1).kind)) {
      this.next();
      name += `.${this.next().value}`;
    }
    return name;
  }

  expression(): Expr {
    const start = this.peek().start;
    let left = this.conjunction();
    while (this.take('OR')) left = this.operation(start, 'OR', [left, this.conjunction()]);
    return left;
  }
  private conjunction(): Expr {
    const start = this.peek().start;
    let left = this.negation();
    while (this.take('AND')) left = this.operation(start, 'AND', [left, this.negation()]);
    return left;
  }
  private negation(): Expr {
    const start = this.peek().start;
    if (!this.take('NOT')) return this.comparison();
    return this.operation(start, 'NOT', [this.negation()]);
  }

  private comparison(): Expr {
    const start = this.peek().start;
    const left = this.sum();
    const operator = this.peek();
    if (operator.kind === 'symbol' && COMPARISONS.includes(operator.value)) {
      this.next();
      return this.operation(start, operator.value as Operator, [left, this.sum()]);
    }
    if (this.take('IS')) {
      const not = this.take('NOT');
      this.expect('NULL');
      return this.operation(start, not ? 'IS NOT NULL' : 'IS NULL', [left]);
    }
    if (this.is('IN') || (this.is('NOT') && this.is('IN', 1))) {
      const not = this.take('NOT');
      this.expect('IN');
      const args = [left, ...this.listed(() => this.sum())];
      const test = this.operation(start, 'IN', args);
      return not ? this.operation(start, 'NOT', [test]) : test;
    }
    for (const word of ['LIKE', 'RLIKE', 'NOT', ':'])
      if (this.is(word))
        throw parsingError(
          place(this.query, operator.start),
          `the ES|QL stand-in does not know the operator [${word}]`,
        );
    return left;
  }
  private sum(): Expr {
    return this.chain(['+', '-'], () => this.product());
  }
  private product(): Expr {
    return this.chain(['*', '/', '%'], () => this.signed());
  }
  private chain(operators: Operator[], part: () => Expr): Expr {
    const start = this.peek().start;
    let left = part();
    for (;;) {
      const operator = operators.find((candidate) => this.is(candidate));
      if (!operator) return left;
      this.next();
      left = this.operation(start, operator, [left, part()]);
    }
  }
  private signed(): Expr {
    const start = this.peek().start;
    if (this.take('+')) return this.signed();
    if (!this.take('-')) return this.castable();
    const arg = this.signed();
    if (arg.kind === 'literal' && typeof arg.value === 'number') {
      const literal =
        arg.type === 'double' ? { type: 'double' as const, value: -arg.value } : numberLiteral(`-${arg.value}`);
      return this.placed(start, { kind: 'literal' as const, ...(arg.type.startsWith('time') ? arg : literal) });
    }
    return this.operation(start, 'NEGATE', [arg]);
  }
  private castable(): Expr {
    const start = this.peek().start;
    let node = this.primary();
    while (this.take('::')) {
      const to = this.name().toLowerCase();
      node = this.placed(start, { kind: 'cast' as const, to, arg: node });
    }
    return node;
  }

  private primary(): Expr {
    const start = this.peek().start;
    if (this.take('(')) {
      const inner = this.expression();
      this.expect(')');
      return this.placed(start, inner);
    }
    const token = this.peek();
    const constant = this.constant();
    if (constant) return this.placed(start, { kind: 'literal' as const, ...constant });
    if (token.kind !== 'name' && token.kind !== 'quoted') throw this.mismatch('an expression');
    const name = this.name();
    if (token.kind === 'quoted' || !this.is('(')) return this.placed(start, { kind: 'column' as const, name });
    return this.call(start, name.toUpperCase());
  }

  private call(start: number, name: string): Expr {
    let options: Options | undefined;
    const args = this.listed((): Expr[] => {
      const from = this.peek().start;
      if (this.take('*')) return [this.placed(from, { kind: 'star' as const })];
      if (!this.is('{')) return [this.expression()];
      options = this.map();
      if (!this.is(')')) throw this.mismatch("')'");
      return [];
    }).flat();
    return this.placed(start, { kind: 'call' as const, name, args, ...(options ? { options } : {}) });
  }
  private listed<T>(item: () => T): T[] {
    const items: T[] = [];
    this.expect('(');
    if (this.take(')')) return items;
    do items.push(item());
    while (this.take(','));
    this.expect(')');
    return items;
  }

  /** A literal, a parameter or an array of literals; undefined where the next token starts something else. */
  private constant(): Literal | undefined {
    const token = this.peek();
    if (token.kind === 'param') return this.params[this.next().value];
    if (token.kind === 'string') return { type: 'keyword', value: this.next().value };
    if (token.kind === 'decimal') return numberLiteral(this.next().value);
    if (token.kind === 'integer') return this.whole();
    if (this.is('[')) return this.array();
    if (this.peek(1).value === '(' || this.peek(1).value === '.') return undefined;
    if (this.take('NULL')) return { type: 'null', value: null };
    if (this.take('TRUE')) return { type: 'boolean', value: true };
    if (this.take('FALSE')) return { type: 'boolean', value: false };
    return undefined;
  }
  private whole(): Literal {
    const number = this.next().value;
    const unit = this.peek();
    if (unit.kind !== 'name' || /^(and|or|is|in|not|nulls|asc|desc|by|where|with|like|rlike|as|on)$/i.test(unit.value))
      return numberLiteral(number);
    const found = interval(Number(number), this.next().value);
    if (!found) throw parsingError(place(this.query, unit.start), `Unexpected temporal unit: '${unit.value}'`);
    return found;
  }
  private array(): Literal {
    this.expect('[');
    const items: Literal[] = [];
    do {
      const negative = this.take('-');
      const item = this.constant();
      if (!item || item.value === null || Array.isArray(item.value)) throw this.mismatch('a constant');
      items.push(negative ? { ...item, value: -(item.value as number) } : item);
    } while (this.take(','));
    this.expect(']');
    const types = new Set(items.map((item) => item.type));
    const numbers = [...types].every((type) => ['integer', 'long', 'double'].includes(type));
    if (types.size > 1 && !numbers) throw this.mismatch('an array of one type');
    const type = types.has('double') ? 'double' : types.has('long') ? 'long' : (items[0] as Literal).type;
    const list = items.map((item) => item.value as Scalar);
    return { type, value: list.length === 1 ? (list[0] as Scalar) : list };
  }

  /** `{ "name": constant or map, ... }`; expressions are refused inside, as in Elasticsearch. */
  map(): Options {
    const options: Options = new Map();
    this.expect('{');
    while (!this.take('}')) {
      if (options.size > 0) this.expect(',');
      if (this.peek().kind !== 'string') throw this.mismatch('a quoted option name');
      const key = this.next().value;
      this.expect(':');
      const start = this.peek().start;
      const negative = this.take('-');
      const value = this.is('{') ? { type: 'map' as const, value: this.map() } : this.constant();
      if (!value) throw this.mismatch('a constant');
      if (negative && typeof value.value !== 'number') throw this.mismatch('a number');
      const signed = negative ? { type: value.type, value: -(value.value as number) } : value;
      if (options.has(key))
        throw parsingError(place(this.query, start), `Duplicated function arguments with the same name [${key}]`);
      options.set(key, this.placed(start, signed as Omit<Option, keyof Place>));
    }
    return options;
  }
}
