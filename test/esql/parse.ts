/** Commands of ES|QL. A command the stand-in does not know is refused by name. */
import type { Command, Field, SortKey } from './ast.ts';
import { place } from './lex.ts';
import type { Params } from './params.ts';
import { ExpressionParser } from './parse-expression.ts';
import { type Place, parsingError, printedType, verificationError } from './values.ts';

const DEFAULT_LIMIT = 1000;
const LARGEST_LIMIT = 10_000;

export interface Query {
  commands: Command[];
  /** Elasticsearch adds a limit of 1000, with a warning, where the query has none. */
  unlimited: boolean;
}

export function parse(query: string, params: Params = {}): Query {
  return new Parser(query, params).read();
}

class Parser extends ExpressionParser {
  private forks = 0;

  read(): Query {
    const commands = [this.source()];
    while (this.take('|')) commands.push(this.command());
    if (this.peek().kind !== 'end') throw this.mismatch("{<EOF>, '|'}");
    const unlimited = !commands.some((command) => command.kind === 'limit');
    const count = unlimited ? DEFAULT_LIMIT : LARGEST_LIMIT;
    commands.push({ kind: 'limit', count, pos: place(this.query, this.query.length), text: `LIMIT ${count}` });
    return { commands, unlimited };
  }

  private source(): Command {
    const start = this.peek().start;
    if (this.take('ROW')) return this.placed(start, { kind: 'row' as const, fields: this.fields() });
    if (!this.take('FROM')) throw this.unknownCommand("{'from', 'row'}");
    const from = this.peek();
    const index = this.pattern();
    if (this.is(',') || this.is(':') || /[*:]/.test(index))
      throw parsingError(place(this.query, from.start), 'the ES|QL stand-in reads one index or alias at a time');
    const metadata: (Place & { name: string })[] = [];
    if (this.take('METADATA')) {
      do {
        const at = this.peek().start;
        metadata.push(this.placed(at, { name: this.name() }));
      } while (this.take(','));
    }
    return this.placed(start, { kind: 'from' as const, index, metadata });
  }

  private unknownCommand(expected: string): Error {
    const token = this.peek();
    const name = this.query.slice(token.start, token.end) || token.value;
    return parsingError(
      place(this.query, token.start),
      `mismatched input '${name}' expecting ${expected}; the ES|QL stand-in does not know the command [${name.toUpperCase()}]`,
    );
  }

  private command(): Command {
    const start = this.peek().start;
    if (this.take('WHERE')) return this.placed(start, { kind: 'where' as const, condition: this.expression() });
    if (this.take('EVAL')) return this.placed(start, { kind: 'eval' as const, fields: this.fields() });
    if (this.take('SORT'))
      return this.placed(start, { kind: 'sort' as const, keys: this.separated(() => this.sortKey()) });
    if (this.take('LIMIT')) return this.limit(start);
    for (const kind of ['keep', 'drop'] as const)
      if (this.take(kind.toUpperCase())) {
        const patterns = this.separated(() => {
          const at = this.peek().start;
          return this.placed(at, { name: this.pattern() });
        });
        return this.placed(start, { kind, patterns });
      }
    if (this.take('MV_EXPAND')) return this.placed(start, { kind: 'expand' as const, name: this.name() });
    if (this.take('STATS')) return this.stats(start);
    if (this.take('FORK')) return this.fork(start);
    if (this.take('FUSE')) return this.fuse(start);
    throw this.unknownCommand("{'drop', 'eval', 'fork', 'fuse', 'keep', 'limit', 'mv_expand', 'sort', STATS, 'where'}");
  }

  private separated<T>(item: () => T): T[] {
    const items = [item()];
    while (this.take(',')) items.push(item());
    return items;
  }

  private field(): Field {
    const start = this.peek().start;
    const mark = this.at;
    const named = ['name', 'quoted'].includes(this.peek().kind) ? this.name() : undefined;
    if (named !== undefined && this.take('=')) return { name: named, expr: this.expression() };
    this.at = mark;
    const expr = this.expression();
    return { name: expr.kind === 'column' ? expr.name : this.placed(start, {}).text, expr };
  }
  private fields(): Field[] {
    return this.separated(() => this.field());
  }

  private sortKey(): SortKey {
    const expr = this.expression();
    const descending = this.take('DESC');
    if (!descending) this.take('ASC');
    let nullsFirst = descending;
    if (this.take('NULLS')) {
      nullsFirst = this.take('FIRST');
      if (!nullsFirst) this.expect('LAST');
    }
    return { expr, descending, nullsFirst };
  }

  private limit(start: number): Command {
    const count = this.expression();
    const command = this.placed(start, { kind: 'limit' as const, count: 0 });
    if (this.is('BY')) throw this.unknownCommand("{<EOF>, '|'}");
    if (count.kind !== 'literal' || count.type !== 'integer' || typeof count.value !== 'number' || count.value < 0) {
      const type = count.kind === 'literal' ? printedType(count.type) : 'expression';
      throw parsingError(
        command.pos,
        `value of [${command.text}] must be a non negative integer, found value [${count.text}] type [${type}]`,
      );
    }
    return { ...command, count: count.value };
  }

  private stats(start: number): Command {
    const aggregates = this.is('BY') ? [] : this.fields();
    const by = this.take('BY') ? this.fields() : [];
    return this.placed(start, { kind: 'stats' as const, aggregates, by });
  }

  private fork(start: number): Command {
    const branches: Command[][] = [];
    while (this.take('(')) {
      const branch = this.branch();
      this.expect(')');
      branches.push(branch);
    }
    if (branches.length === 0) throw this.mismatch("'('");
    if (branches.length > 8) throw parsingError(place(this.query, start), 'Fork supports up to 8 branches');
    if (++this.forks > 1)
      throw verificationError(this.placed(start, {}), 'Only a single FORK command is supported, but found multiple');
    return this.placed(start, { kind: 'fork' as const, branches });
  }
  private branch(): Command[] {
    const commands = [this.command()];
    while (this.take('|')) commands.push(this.command());
    for (const command of commands)
      if (command.kind === 'fork' || command.kind === 'fuse')
        throw parsingError(
          command.pos,
          `the ES|QL stand-in does not know ${command.kind.toUpperCase()} inside a branch`,
        );
    return commands;
  }

  private fuse(start: number): Command {
    const method = this.is('LINEAR') ? this.next().value : 'RRF';
    const fuse = {
      kind: 'fuse' as const,
      score: '_score',
      group: '_fork',
      keys: ['_id', '_index'],
      options: new Map(),
    };
    if (method === 'RRF')
      throw parsingError(place(this.query, start), 'the ES|QL stand-in knows FUSE LINEAR only (FUSE alone means RRF)');
    for (;;) {
      if (this.take('SCORE')) {
        this.expect('BY');
        fuse.score = this.name();
      } else if (this.take('GROUP')) {
        this.expect('BY');
        fuse.group = this.name();
      } else if (this.take('KEY')) {
        this.expect('BY');
        fuse.keys = this.separated(() => this.name());
      } else if (this.take('WITH')) fuse.options = this.map();
      else return this.placed(start, fuse);
    }
  }

  /** An index, or a column that may hold `*`: the tokens that follow each other without a gap. */
  private pattern(): string {
    const first = this.peek();
    if (first.kind === 'string' || first.kind === 'quoted') return this.next().value;
    let end = first.start;
    while (this.peek().start === end && this.peek().kind !== 'end' && !this.is('|') && !this.is(',') && !this.is(')'))
      end = this.next().end;
    if (end === first.start) throw this.mismatch('a name');
    return this.query.slice(first.start, end).replaceAll('`', '');
  }
}
