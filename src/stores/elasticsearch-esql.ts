import type { estypes } from '@elastic/elasticsearch';
import { SupersededError } from '../errors.ts';
import type { Esql } from '../esql.ts';
import type { Backend } from './elasticsearch-backend.ts';
import type { CallOptions } from './elasticsearch-client.ts';

/** Runs ES|QL, and takes nothing but a whole answer. */

/** Warnings that tell nothing about the answer. */
const HARMLESS = [/built-in security features are not enabled/i, /license will expire/i];

/** One row of an answer, by column. */
export type AnswerRow = Readonly<Record<string, unknown>>;

/**
 * The rows of an answer, by column. Throws STORE_FAILED where a part is missing or Elasticsearch warns: a warning
 * means that some value became null, which would pass for a score.
 */
export async function runEsql(
  backend: Backend,
  what: string,
  request: Esql & { filter?: object },
  signal?: AbortSignal,
): Promise<AnswerRow[]> {
  const answer = await backend.elastic.call(
    what,
    (client, call) => {
      const options: CallOptions & { meta: true } = { ...call, meta: true };
      return client.esql.query(
        {
          query: request.query,
          params: request.params as estypes.EsqlESQLParams,
          allow_partial_results: false,
          ...(request.filter ? { filter: request.filter } : {}),
        },
        options,
      );
    },
    signal,
  );
  const { columns, values, is_partial: partial } = answer.body;
  if (partial) {
    throw new SupersededError('STORE_FAILED', `Elasticsearch could not ${what}: its answer is not complete.`, {
      hint: 'A shard did not answer. Check the cluster’s health, then try again.',
    });
  }
  const warnings = (answer.warnings ?? []).filter((warning) => !HARMLESS.some((harmless) => harmless.test(warning)));
  if (warnings.length > 0) {
    throw new SupersededError('STORE_FAILED', `Elasticsearch warns of its answer: ${warnings.join('; ')}.`, {
      hint: 'Run `superseded doctor`, which checks the mapping and the query.',
    });
  }
  return values.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));
}

export function textIn(row: AnswerRow, column: string): string {
  const value = row[column];
  if (typeof value === 'string') return value;
  throw unreadable(column);
}

/** One value or several, as ES|QL gives a column with many values. */
export function textsIn(row: AnswerRow, column: string): string[] {
  const value = row[column] ?? [];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.map((text) => (typeof text === 'string' ? text : textIn({}, column)));
}

/** 0 for null: a branch that did not find the row. */
export function numberIn(row: AnswerRow, column: string): number {
  const value = row[column] ?? 0;
  if (typeof value === 'number') return value;
  throw unreadable(column);
}

const unreadable = (column: string): SupersededError =>
  new SupersededError('STORE_FAILED', `The column ${column} of Elasticsearch’s answer cannot be read.`, {
    hint: 'Run `superseded doctor`.',
  });
