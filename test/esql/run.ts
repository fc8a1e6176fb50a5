/**
 * ES|QL in front of a node that has no ES|QL engine. A query is checked whole before anything is searched; each
 * branch then runs its full-text condition on the node, and the rest is evaluated here.
 */
import type { Command, SortKey } from './ast.ts';
import type { Column, Scope } from './compiled.ts';
import { compile } from './evaluate.ts';
import { hasFullText } from './full-text.ts';
import { type FuseRules, fuse } from './fuse.ts';
import type { QueryRequest } from './params.ts';
import { parse } from './parse.ts';
import { atLeast, merged, nextLimit, ordering, project } from './plan.ts';
import { type Backend, Source } from './search.ts';
import { stats } from './stats.ts';
import {
  EsqlError,
  type Place,
  parsingError,
  printed,
  printedType,
  type Row,
  unknownToStandIn,
  values,
  verificationError,
  Warnings,
} from './values.ts';

export interface Rules {
  license: 'trial' | 'basic';
  version: string;
  /** Snapshot builds know the normalizer l2_norm. */
  snapshot?: boolean;
  now?: () => number;
  /** Whether KNN takes the filter beside the query with it (`pre`, the default), or its neighbours pass it afterwards. */
  requestFilter?: 'pre' | 'post';
}
export interface Result {
  columns: { name: string; type: string }[];
  values: unknown[][];
  partial: boolean;
  warnings: string[];
}

/** Rows to come, and what is known of them beforehand. */
interface Stage {
  columns: Map<string, Column>;
  limited: boolean;
  /** Set while only WHEREs have followed FROM: their conditions go to the node. */
  source?: Source;
  /** The command that full-text functions may no longer follow. */
  after?: string;
  rows(): Promise<Row[]>;
}
type CommandOf<K extends Command['kind']> = Extract<Command, { kind: K }>;

export async function runQuery(request: QueryRequest, backend: Backend, rules: Rules): Promise<Result> {
  const run = new Run(request, backend, rules);
  const { commands, unlimited } = parse(request.query, request.params);
  const stage = await run.pipeline(commands);
  if (unlimited) run.warnings.add('No limit defined, adding default limit of [1000]');
  for (const [name, { type }] of stage.columns)
    if (type === 'dense_vector')
      throw new EsqlError(
        'verification_exception',
        `Found 1 problem\nline 1:1: the ES|QL stand-in does not return [${name}], a dense_vector; DROP it`,
      );
  const columns = [...stage.columns].map(([name, { type }]) => ({ name, type: printedType(type) }));
  const rows = await stage.rows();
  const shown = rows.map((row) => [...stage.columns].map(([name, { type }]) => printed(row[name] ?? null, type)));
  return { columns, values: shown, partial: run.partial, warnings: run.warnings.list };
}

class Run {
  readonly warnings = new Warnings();
  partial = false;
  private readonly request: QueryRequest;
  private readonly backend: Backend;
  private readonly rules: Rules;
  private readonly now: number;

  constructor(request: QueryRequest, backend: Backend, rules: Rules) {
    this.request = request;
    this.backend = backend;
    this.rules = rules;
    this.now = rules.now?.() ?? Date.now();
  }

  private scope(columns: Map<string, Column>): Scope {
    return {
      columns,
      warnings: this.warnings,
      now: this.now,
      atLeast: (version) => atLeast(this.rules.version, version),
    };
  }

  async pipeline(commands: Command[]): Promise<Stage> {
    const fork = commands.findIndex((command) => command.kind === 'fork');
    let stage: Stage | undefined;
    for (let at = Math.max(fork, 0); at < commands.length; at++) {
      const command = commands[at] as Command;
      if (command.kind === 'fork') stage = await this.fork(command, commands.slice(0, at));
      else if (command.kind === 'from') stage = await this.from(command, nextLimit(commands));
      else if (command.kind === 'row') stage = this.row(command);
      else if (!stage) throw parsingError(command.pos, 'a query starts with FROM or ROW');
      else {
        const following = commands[at + 1];
        const top =
          command.kind === 'sort' && following?.kind === 'limit'
            ? this.topOfSource(stage, command.keys, following.count)
            : null;
        if (top) at++;
        stage = top ?? this.apply(stage, command);
      }
    }
    return stage as Stage;
  }

  private async from(command: CommandOf<'from'>, limit: number | undefined): Promise<Stage> {
    const fields = await this.backend.fields(command.index);
    if (!fields) throw verificationError(command, `Unknown index [${command.index}]`);
    const filter = this.request.filter ? [this.request.filter] : [];
    const [before, afterwards] = this.rules.requestFilter === 'post' ? [[], filter] : [filter, []];
    const source = new Source(command, fields, this.scope(new Map()), before, limit, afterwards);
    return { columns: source.columns, limited: false, source, rows: () => this.read(source) };
  }
  private read(source: Source, limit?: number, order?: unknown[]): Promise<Row[]> {
    return source.rows(this.backend, limit, order, () => {
      this.partial = true;
    });
  }
  /** SORT then LIMIT right behind FROM and WHERE: the node itself finds the top rows. */
  private topOfSource(stage: Stage, keys: SortKey[], limit: number): Stage | null {
    const { source } = stage;
    const order = source?.order(keys);
    if (!source || !order) return null;
    return { columns: stage.columns, limited: true, after: 'LIMIT', rows: () => this.read(source, limit, order) };
  }

  private row(command: CommandOf<'row'>): Stage {
    const stage: Stage = { columns: new Map(), limited: true, rows: async () => [{}] };
    return this.evaluate(stage, command, 'row');
  }

  private evaluate(stage: Stage, command: CommandOf<'eval' | 'row'>, kind: 'eval' | 'row'): Stage {
    const columns = new Map(stage.columns);
    const steps = command.fields.map(({ name, expr }) => {
      const compiled = compile(expr, this.scope(new Map(columns)));
      if (['time_duration', 'date_period', 'dense_vector'].includes(compiled.type))
        throw verificationError(
          expr,
          kind === 'row'
            ? `cannot use [${expr.text}] directly in a row assignment`
            : `EVAL does not support type [${compiled.type}] as the return data type of expression [${expr.text}]`,
        );
      columns.delete(name);
      columns.set(name, { type: compiled.type, ...(compiled.constant ? { constant: compiled.run({}) } : {}) });
      return (row: Row): Row => ({ ...row, [name]: compiled.run(row) });
    });
    const rows = async () => (await stage.rows()).map((row) => steps.reduce((made, step) => step(made), row));
    return { ...without(stage), columns, rows };
  }

  private apply(stage: Stage, command: Exclude<Command, CommandOf<'from' | 'row' | 'fork'>>): Stage {
    switch (command.kind) {
      case 'where':
        return this.where(stage, command);
      case 'eval':
        return this.evaluate(stage, command, 'eval');
      case 'sort':
        return this.sort(stage, command.keys);
      case 'limit': {
        const { source } = stage;
        const rows = source
          ? () => this.read(source, command.count)
          : async () => (await stage.rows()).slice(0, command.count);
        return { columns: stage.columns, limited: true, after: 'LIMIT', rows };
      }
      case 'keep':
      case 'drop':
        return { ...without(stage), columns: project(stage.columns, command) };
      case 'expand':
        return this.expand(stage, command);
      case 'stats': {
        const { columns, apply } = stats(command, command.aggregates, command.by, this.scope(stage.columns));
        return { columns, limited: stage.limited, after: 'STATS', rows: async () => apply(await stage.rows()) };
      }
      case 'fuse': {
        if (!atLeast(this.rules.version, '9.2')) throw unknownCommand(command, 'FUSE');
        const rules: FuseRules = {
          licensed: this.rules.license === 'trial',
          snapshot: this.rules.snapshot === true,
          limited: stage.limited,
        };
        const { columns, apply } = fuse(command, stage.columns, rules);
        return { columns, limited: true, after: 'FUSE', rows: async () => apply(await stage.rows(), this.warnings) };
      }
    }
  }

  private where(stage: Stage, command: CommandOf<'where'>): Stage {
    if (stage.source) {
      stage.source.where(command.condition);
      return stage;
    }
    if (hasFullText(command.condition)) {
      const name = /\bKNN\s*\(/i.test(command.text) ? 'KNN' : 'MATCH';
      if (stage.after)
        throw verificationError(command.condition, `[${name}] function cannot be used after ${stage.after}`);
      throw unknownToStandIn(command.condition, `[${name}] anywhere but right behind FROM and other WHEREs`);
    }
    const test = compile(command.condition, this.scope(stage.columns));
    if (test.type !== 'boolean' && test.type !== 'null')
      throw verificationError(test, `Condition expression needs to be boolean, found [${test.type.toUpperCase()}]`);
    return { ...stage, rows: async () => (await stage.rows()).filter((row) => test.run(row) === true) };
  }

  private sort(stage: Stage, keys: SortKey[]): Stage {
    const order = ordering(keys, this.scope(stage.columns));
    return { ...without(stage), rows: async () => [...(await stage.rows())].sort(order) };
  }

  private expand(stage: Stage, command: CommandOf<'expand'>): Stage {
    const { name } = command;
    const column = stage.columns.get(name);
    if (!column) throw verificationError(command, `Unknown column [${name}]`);
    const columns = new Map(stage.columns).set(name, { type: column.type });
    const rows = async () =>
      (await stage.rows()).flatMap((row) => {
        const list = values(column.constant ?? row[name] ?? null);
        return list.length < 2 ? [row] : list.map((item) => ({ ...row, [name]: item }));
      });
    return { ...without(stage), columns, rows };
  }

  private async fork(command: CommandOf<'fork'>, before: Command[]): Promise<Stage> {
    if (!atLeast(this.rules.version, '9.1')) throw unknownCommand(command, 'FORK');
    const branches = await Promise.all(command.branches.map((branch) => this.pipeline([...before, ...branch])));
    const columns = merged(
      command,
      branches.map((branch) => branch.columns),
    );
    const rows = async (): Promise<Row[]> => {
      const found = await Promise.all(branches.map((branch) => branch.rows()));
      return found.flatMap((list, at) => {
        const names = [...(branches[at] as Stage).columns.keys()];
        return list.map((row) => ({ ...only(row, names), _fork: `fork${at + 1}` }));
      });
    };
    return { columns, limited: branches.every((branch) => branch.limited), after: 'FORK', rows };
  }
}

const only = (row: Row, names: string[]): Row => Object.fromEntries(names.map((name) => [name, row[name] ?? null]));

/** A stage that is no longer a bare search. */
const without = ({ source: _, ...stage }: Stage): Stage => stage;

const unknownCommand = (at: Place, name: string): EsqlError =>
  parsingError(at.pos, `mismatched input '${name}' expecting another command`);
