import type { InValue } from '@libsql/client/sqlite3';
import { SupersededError } from '../errors.ts';
import type { Clocks, Scope } from '../memory.ts';
import type { AuditFilter, Filter } from '../store.ts';
import type { Statement } from './embedded-database.ts';
import { AUDIT_COLUMNS, ROW_COLUMNS } from './embedded-rows.ts';

/** Reading without ranking: by id, by filter, by link, and the audit trail. */

export const getStatement = (scopes: readonly Scope[], ids: readonly string[]): Statement => ({
  sql: `SELECT ${ROW_COLUMNS} FROM memories WHERE scope IN (SELECT value FROM json_each(?))
    AND id IN (SELECT value FROM json_each(?)) ORDER BY seq`,
  args: [JSON.stringify(scopes), JSON.stringify(ids)],
});

export const rowsStatement = (seqs: readonly number[]): Statement => ({
  sql: `SELECT ${ROW_COLUMNS} FROM memories WHERE seq IN (SELECT value FROM json_each(?))`,
  args: [JSON.stringify(seqs)],
});

/** Rows that these name as superseded or as successor and that are not among these. */
export const linkedStatement = (seqs: readonly number[]): Statement => ({
  sql: `WITH
    ranked AS (SELECT seq, scope, supersedes, superseded_by FROM memories WHERE seq IN (SELECT value FROM json_each(?))),
    named AS (
      SELECT scope, superseded_by AS id FROM ranked WHERE superseded_by IS NOT NULL
      UNION SELECT scope, old.value FROM ranked, json_each(ranked.supersedes) AS old)
    SELECT ${ROW_COLUMNS} FROM named CROSS JOIN memories ON memories.scope = named.scope AND memories.id = named.id
    WHERE memories.seq NOT IN (SELECT seq FROM ranked) ORDER BY memories.seq`,
  args: [JSON.stringify(seqs)],
});

/** The SQL of `statusOf` neither open nor upcoming. */
const CLOSED = `(planned_to IS NOT NULL AND planned_to <= :as_of
  OR closed_as IS NOT NULL AND closed_at <= :known_at AND (valid_to <= :as_of OR valid_to <= valid_from))`;

/** Before an id that a row denies, in the table of links. */
export const DENIES = 'denies ';

export function findStatement(scope: Scope, filter: Filter): Statement {
  const { textKey, derivedFrom, denies, kind, topic, tag, status = 'all', clocks, limit, after } = filter;
  const conditions = ['scope = :scope'];
  const args: Record<string, InValue> = { scope, limit };
  const where = (condition: string, values: Record<string, InValue> = {}) => {
    conditions.push(condition);
    Object.assign(args, values);
  };
  if (textKey !== undefined) where('text_key = :text_key', { text_key: textKey });
  const linked = (name: string, source: string) =>
    where(`seq IN (SELECT seq FROM derivations WHERE scope = :scope AND source = :${name})`, { [name]: source });
  if (derivedFrom !== undefined) linked('source', derivedFrom);
  if (denies !== undefined) linked('denied', `${DENIES}${denies}`);
  if (kind !== undefined) where('kind = :kind', { kind });
  if (topic !== undefined) where('topic = :topic', { topic });
  if (tag !== undefined) where('EXISTS (SELECT 1 FROM json_each(tags) WHERE value = :tag)', { tag });
  if (clocks) where('created_at <= :known_at', { known_at: clocks.knownAt });
  if (status !== 'all') {
    const { asOf, knownAt } = clocks ?? noClocks();
    // COALESCE: a row closed without an end counts as open, as it does for statusOf.
    where(`COALESCE(${CLOSED}, 0) = ${status === 'closed' ? 1 : 0}`, { as_of: asOf, known_at: knownAt });
  }
  if (after) {
    where('(created_at, id) < (:after_at, :after_id)', { after_at: after.createdAt, after_id: after.id });
  }
  return {
    sql: `SELECT ${ROW_COLUMNS} FROM memories WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC, id DESC LIMIT :limit`,
    args,
  };
}

function noClocks(): Clocks {
  throw new SupersededError('STORE_FAILED', 'A look-up by status needs the clocks it is read at.');
}

export function auditStatement(scope: Scope, { memory, limit, after }: AuditFilter): Statement {
  const conditions = ['scope = :scope'];
  const args: Record<string, InValue> = { scope, limit };
  if (memory !== undefined) {
    conditions.push('memory = :memory');
    args.memory = memory;
  }
  if (after) {
    conditions.push('(at, id) < (:at, :id)');
    Object.assign(args, { at: after.at, id: after.id });
  }
  return {
    sql: `SELECT ${AUDIT_COLUMNS.join(', ')} FROM audit WHERE ${conditions.join(' AND ')} ORDER BY at DESC, id DESC LIMIT :limit`,
    args,
  };
}
