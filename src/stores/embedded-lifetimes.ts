import type { Row } from '@libsql/client/sqlite3';
import type { Scope } from '../memory.ts';
import { MS_PER_HOUR } from '../score.ts';
import type { Life, Lifetimes } from '../store.ts';
import { numberOf, numberOrNull, type Statement, textOf } from './embedded-database.ts';
import { scopeOf } from './embedded-rows.ts';

/** How long memories held, read off an index that has all it takes. */

/** The condition of the index, word for word, then: recorded when it had begun, and not ended before it began. */
const FROM = `FROM memories INDEXED BY memories_by_life
  WHERE planned_to IS NULL AND heard_at IS NOT NULL AND closed_as IS NOT 'held' AND closed_as IS NOT 'denied'
    AND created_at <= :now AND valid_from <= created_at AND (valid_to IS NULL OR valid_to > valid_from)`;
const START = 'CASE WHEN valid_to <= created_at THEN valid_from ELSE created_at END';
/** Words dated ahead of now have not been heard. */
const HEARD = 'MAX(MAX(created_at, CASE WHEN heard_at <= :now THEN heard_at ELSE created_at END))';
const IS_OPEN = '(valid_to IS NULL OR valid_to > :now OR closed_at IS NULL OR closed_at > :now)';
const HOURS = `(CASE WHEN ${IS_OPEN} THEN :now ELSE valid_to END - ${START}) / ${MS_PER_HOUR}.0`;

/** Count and hours of the rows for which a condition holds; in hours, since sums of milliseconds outgrow a double. */
const lived = (name: string, condition: string): string =>
  `COUNT(*) FILTER (WHERE ${condition}) AS ${name}, TOTAL(${HOURS}) FILTER (WHERE ${condition}) AS ${name}_hours`;

/** Of one scope, or of all. */
export const lifetimesStatement = (
  { scope, topics }: { scope?: Scope; topics?: readonly string[] | undefined },
  now: number,
): Statement => ({
  sql: `SELECT scope, topic, ${lived('open', IS_OPEN)},
      ${lived('changed', `NOT ${IS_OPEN} AND changed_mind = 1`)},
      ${lived('ended', `NOT ${IS_OPEN} AND changed_mind = 0`)}, ${HEARD} AS heard_at
    ${FROM}${scope === undefined ? '' : ' AND scope = :scope'}${topics ? ' AND topic IN (SELECT value FROM json_each(:topics))' : ''}
    GROUP BY scope, topic`,
  args: { now, ...(scope === undefined ? {} : { scope }), ...(topics ? { topics: JSON.stringify(topics) } : {}) },
});

export function readLifetimes(row: Row, readAt: number): Lifetimes {
  const of = (name: string) => ({ count: numberOf(row, name), hours: numberOf(row, `${name}_hours`) });
  return {
    scope: scopeOf(textOf(row, 'scope')),
    topic: textOf(row, 'topic'),
    open: of('open'),
    changed: of('changed'),
    ended: of('ended'),
    heardAt: numberOf(row, 'heard_at'),
    readAt,
  };
}

export const livesStatement = (scope: Scope, topic: string, now: number): Statement => ({
  sql: `SELECT ${START} AS started_at, CASE WHEN ${IS_OPEN} THEN NULL ELSE valid_to END AS ended_at,
      NOT ${IS_OPEN} AND changed_mind = 1 AS changed
    ${FROM} AND scope = :scope AND topic = :topic`,
  args: { scope, topic, now },
});

export const readLife = (row: Row): Life => ({
  startedAt: numberOf(row, 'started_at'),
  endedAt: numberOrNull(row, 'ended_at'),
  changed: numberOf(row, 'changed') === 1,
});
