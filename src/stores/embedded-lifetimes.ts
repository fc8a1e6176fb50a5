import type { Row } from '@libsql/client/sqlite3';
import type { Scope } from '../memory.ts';
import { MS_PER_HOUR } from '../score.ts';
import type { Life, Lifetimes } from '../store.ts';
import { numberOf, numberOrNull, type Statement, textOf } from './embedded-database.ts';
import { scopeOf } from './embedded-rows.ts';
import { WATCHED } from './embedded-schema.ts';

/** How long memories held, read off an index that has all it takes. */

/** A row that ended before it began was never true. */
const COUNTED = `${WATCHED} AND created_at <= :now AND valid_from <= :now AND (valid_to IS NULL OR valid_to > valid_from)`;
const IS_OPEN = 'valid_to IS NULL';
const IS_CHANGED = 'valid_to IS NOT NULL AND changed_mind = 1';
const HOURS = `(COALESCE(valid_to, :now) - valid_from) / ${MS_PER_HOUR}.0`;

/** Of one scope, or of all. In hours, since sums of milliseconds outgrow a double. */
export const lifetimesStatement = (
  { scope, topics }: { scope?: Scope; topics?: readonly string[] | undefined },
  now: number,
): Statement => ({
  sql: `SELECT scope, topic, COUNT(*) AS lives, SUM(${HOURS}) AS hours,
      COUNT(*) FILTER (WHERE ${IS_OPEN}) AS open, TOTAL(${HOURS}) FILTER (WHERE ${IS_OPEN}) AS open_hours,
      COUNT(*) FILTER (WHERE ${IS_CHANGED}) AS changed, TOTAL(${HOURS}) FILTER (WHERE ${IS_CHANGED}) AS changed_hours,
      MIN(:now, MAX(MAX(created_at, valid_from, COALESCE(confirmed_at, created_at),
        CASE changed_mind WHEN 1 THEN closed_at ELSE created_at END))) AS heard_at
    FROM memories INDEXED BY memories_by_life
    WHERE ${scope === undefined ? '' : 'scope = :scope AND '}${topics ? 'topic IN (SELECT value FROM json_each(:topics)) AND ' : ''}${COUNTED}
    GROUP BY scope, topic`,
  args: { now, ...(scope === undefined ? {} : { scope }), ...(topics ? { topics: JSON.stringify(topics) } : {}) },
});

export function readLifetimes(row: Row, readAt: number): Lifetimes {
  const open = { count: numberOf(row, 'open'), hours: numberOf(row, 'open_hours') };
  const changed = { count: numberOf(row, 'changed'), hours: numberOf(row, 'changed_hours') };
  return {
    scope: scopeOf(textOf(row, 'scope')),
    topic: textOf(row, 'topic'),
    open,
    changed,
    ended: {
      count: numberOf(row, 'lives') - open.count - changed.count,
      hours: numberOf(row, 'hours') - open.hours - changed.hours,
    },
    heardAt: numberOf(row, 'heard_at'),
    readAt,
  };
}

export const livesStatement = (scope: Scope, topic: string, now: number): Statement => ({
  sql: `SELECT valid_from, valid_to, ${IS_CHANGED} AS changed
    FROM memories INDEXED BY memories_by_life WHERE scope = :scope AND topic = :topic AND ${COUNTED}`,
  args: { scope, topic, now },
});

export const readLife = (row: Row): Life => ({
  startedAt: numberOf(row, 'valid_from'),
  endedAt: numberOrNull(row, 'valid_to'),
  changed: numberOf(row, 'changed') === 1,
});
