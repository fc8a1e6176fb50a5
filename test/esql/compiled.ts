/** What an expression becomes, and the rules most functions share. */
import {
  type Place,
  type Row,
  type Scalar,
  type Type,
  unknownToStandIn,
  type Value,
  verificationError,
  type Warnings,
} from './values.ts';

export interface Column {
  type: Type;
  /** Known before any row is read: EVAL and ROW columns made of constants, as Elasticsearch's optimizer folds them. */
  constant?: Value;
}
export interface Scope {
  columns: Map<string, Column>;
  warnings: Warnings;
  now: number;
  atLeast(version: string): boolean;
}
export interface Compiled extends Place {
  type: Type;
  constant: boolean;
  run(row: Row): Value;
}
const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth'];
const ordinal = (index: number): string => ORDINALS[index] ?? `${index + 1}th`;
export const wrongType = (at: Place, index: number | null, arg: Compiled, wanted: string) =>
  verificationError(
    at,
    `${index === null ? '' : `${ordinal(index)} `}argument of [${at.text}] must be [${wanted}], found value [${arg.text}] type [${arg.type}]`,
  );

/** A function of single values: null makes null, several values make null and a warning. */
export function scalar(
  at: Place,
  type: Type,
  args: Compiled[],
  scope: Scope,
  compute: (...given: Scalar[]) => Value,
): Compiled {
  const run: Compiled['run'] = (row) => {
    const given: Scalar[] = [];
    for (const arg of args) {
      const value = arg.run(row);
      if (value === null) return null;
      if (Array.isArray(value))
        return scope.warnings.failed(
          at,
          'java.lang.IllegalArgumentException: single-value function encountered multi-value',
        );
      given.push(value);
    }
    return compute(...given);
  };
  return { ...at, type, constant: args.every((arg) => arg.constant), run };
}

/** A number that fits its type; otherwise null and a warning, as in Elasticsearch. */
export function finite(at: Place, type: Type, result: number, scope: Scope): Value {
  if (type === 'double')
    return Number.isFinite(result)
      ? result
      : scope.warnings.failed(at, 'java.lang.ArithmeticException: not a finite double number');
  if (type === 'integer' && (result < -(2 ** 31) || result >= 2 ** 31))
    return scope.warnings.failed(at, 'java.lang.ArithmeticException: integer overflow');
  if (!Number.isSafeInteger(result)) throw unknownToStandIn(at, 'longs beyond 2^53');
  return result + 0;
}
