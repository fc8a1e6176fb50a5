/** What the parser makes of a query. */
import type { Place, Type, Value } from './values.ts';

export type Operator =
  | 'OR'
  | 'AND'
  | 'NOT'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | 'NEGATE'
  | 'IN'
  | 'IS NULL'
  | 'IS NOT NULL';

export interface Option extends Place {
  type: Type | 'map';
  value: Value | Options;
}
export type Options = Map<string, Option>;

export type Expr = Place &
  (
    | { kind: 'literal'; type: Type; value: Value }
    | { kind: 'column'; name: string }
    | { kind: 'call'; name: string; args: Expr[]; options?: Options }
    | { kind: 'operation'; operator: Operator; args: Expr[] }
    | { kind: 'cast'; to: string; arg: Expr }
    | { kind: 'star' }
  );

export interface Field {
  name: string;
  expr: Expr;
}
export interface SortKey {
  expr: Expr;
  descending: boolean;
  nullsFirst: boolean;
}
export interface FuseCommand extends Place {
  kind: 'fuse';
  score: string;
  group: string;
  keys: string[];
  options: Options;
}
export type Command = Place &
  (
    | { kind: 'from'; index: string; metadata: (Place & { name: string })[] }
    | { kind: 'row'; fields: Field[] }
    | { kind: 'where'; condition: Expr }
    | { kind: 'eval'; fields: Field[] }
    | { kind: 'sort'; keys: SortKey[] }
    | { kind: 'limit'; count: number }
    | { kind: 'keep' | 'drop'; patterns: (Place & { name: string })[] }
    | { kind: 'expand'; name: string }
    | { kind: 'fork'; branches: Command[][] }
    | { kind: 'stats'; aggregates: Field[]; by: Field[] }
    | FuseCommand
  );
