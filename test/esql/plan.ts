/** What can be told of a query from its commands alone. */
import type { Command, SortKey } from './ast.ts';
import type { Column, Scope } from './compiled.ts';
import { compile } from './evaluate.ts';
import {
  compare,
  greatest,
  least,
  type Place,
  type Row,
  unknownToStandIn,
  values,
  verificationError,
} from './values.ts';

/** The LIMIT that sets the k of KNN: the next one, unless rows are aggregated first. */
export function nextLimit(commands: Command[]): number | undefined {
  const found = commands.find(
    (command) => command.kind === 'limit' || command.kind === 'stats' || command.kind === 'fork',
  );
  return found?.kind === 'limit' ? found.count : undefined;
}

type Projection = Extract<Command, { kind: 'keep' | 'drop' }>;

/** KEEP and DROP by name or pattern. A whole name counts before a pattern, a pattern before `*`, else the last one. */
export function project(columns: Map<string, Column>, command: Projection): Map<string, Column> {
  const placed = new Map<string, { rank: number; index: number }>();
  command.patterns.forEach((pattern, index) => {
    const parts = pattern.name.split('*').map((part) => part.replace(/[.$@\\^]/g, '\\$&'));
    const names = [...columns.keys()].filter((name) => new RegExp(`^${parts.join('.*')}$`).test(name));
    if (names.length === 0) throw verificationError(pattern, `Unknown column [${pattern.name}]`);
    const rank = pattern.name === '*' ? 0 : parts.length > 1 ? 1 : 2;
    for (const name of names) if (rank >= (placed.get(name)?.rank ?? 0)) placed.set(name, { rank, index });
  });
  const position = (name: string): number => placed.get(name)?.index ?? -1;
  const chosen = [...columns].filter(([name]) => placed.has(name) === (command.kind === 'keep'));
  return new Map(chosen.sort(([a], [b]) => position(a) - position(b)));
}

/** The order of SORT: of several values the least counts upwards, the greatest downwards. */
export function ordering(keys: SortKey[], scope: Scope): (a: Row, b: Row) => number {
  const sorts = keys.map(({ expr, descending, nullsFirst }) => {
    const value = compile(expr, scope);
    if (value.type === 'dense_vector' || value.type.endsWith('_point'))
      throw unknownToStandIn(expr, `SORT by [${value.type}]`);
    return (a: Row, b: Row): number => {
      const [one, two] = [values(value.run(a)), values(value.run(b))];
      if (one.length === 0 || two.length === 0)
        return (Math.sign(one.length) - Math.sign(two.length)) * (nullsFirst ? 1 : -1);
      return descending ? compare(greatest(two), greatest(one)) : compare(least(one), least(two));
    };
  });
  return (a, b) => sorts.reduce((found, by) => found || by(a, b), 0);
}

/** The columns of all branches, each of one type, and `_fork`. */
export function merged(at: Place, branches: Map<string, Column>[]): Map<string, Column> {
  const columns = new Map<string, Column>();
  for (const branch of branches)
    for (const [name, { type }] of [...branch, ['_fork', { type: 'keyword' }] as const]) {
      const known = columns.get(name)?.type;
      if (known && known !== 'null' && type !== 'null' && known !== type) {
        const both = `[${type.toUpperCase()}] and [${known.toUpperCase()}]`;
        throw verificationError(at, `Column [${name}] has conflicting data types in FORK branches: ${both}`);
      }
      if (!known || known === 'null') columns.set(name, { type });
    }
  return columns;
}

export function atLeast(version: string, wanted: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = wanted.split('.').map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
