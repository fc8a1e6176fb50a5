import type { InValue } from '@libsql/client/sqlite3';
import { FIELDS, type Indexed, indexRow, type Posting } from '../bm25.ts';
import { SupersededError } from '../errors.ts';
import { type MemoryRow, type Scope, SHARED } from '../memory.ts';
import type { AuditEntry, Changes } from '../store.ts';
import type { Statement } from './embedded-database.ts';
import { DENIES } from './embedded-lookups.ts';
import { AUDIT_COLUMNS, auditValues, insertRows, insertValues, UPDATE_ROW, updateValues } from './embedded-rows.ts';

/** Changes to statements of one transaction: guards first, then rows with their postings, vectors and statistics. */

export function commitStatements(scope: Scope, changes: Changes, dimensions: number): Statement[] {
  const { insert = [], update = [], guard = [], erase = [], audit = [] } = changes;
  checkRows(
    scope,
    [...insert, ...update, ...guard, ...erase].map(({ row }) => row),
  );
  const statements: Statement[] = [{ sql: 'PRAGMA secure_delete = ON', args: [] }];
  const add = (sql: string, values: Record<string, InValue> = {}) =>
    statements.push({ sql, args: { scope, ...values } });

  const read = [...update, ...guard, ...erase].map(({ row, version }) => [row.id, version]);
  if (read.length > 0) add(GUARD_READ, { read: JSON.stringify(read) });
  if (update.length > 0) add(UNLINK, { ids: JSON.stringify(update.map(({ row }) => row.id)) });
  let revision = 0;
  if (insert.length > 0) {
    add(GUARD_NEW, { ids: JSON.stringify(insert.map(({ row }) => row.id)) });
    add('INSERT OR IGNORE INTO owners (scope) VALUES (:scope)');
    for (let from = 0; from < insert.length; from += ROWS_A_STATEMENT) {
      const some = insert.slice(from, from + ROWS_A_STATEMENT);
      const values = some.flatMap(({ row }) => [...insertValues(row), ++revision]);
      statements.push({ sql: insertRows(some.length), args: values });
      const vectors = some.flatMap(({ row, vector }) => [row.id, vectorBytes(row, vector, dimensions)]);
      statements.push({ sql: insertVectors(some.length), args: [...vectors, scope] });
    }
    const indexed = insert.map(({ row }) => ({ id: row.id, ...indexRow(row) }));
    add(ADD_TERMS, {
      terms: JSON.stringify(indexed.map(({ id, postings }) => [id, JSON.stringify(postings.map(tuple))])),
    });
    add(ADD_POSTINGS);
    statements.push(...statisticsStatements(indexed));
  }
  for (const { row } of update) {
    statements.push({ sql: UPDATE_ROW, args: [...updateValues(row), ++revision, scope, row.id] });
  }
  if (revision > 0) add(LINK);
  if (audit.length > 0) add(ADD_AUDIT, { entries: JSON.stringify(audit.map(auditValues)) });
  if (erase.length > 0) {
    const ids = JSON.stringify(erase.map(({ row }) => row.id));
    for (const sql of ERASE) add(sql, { ids });
    add(ADD_TOMBSTONES, { erased: JSON.stringify(erase.map(({ row, at }) => [row.id, at, ++revision])) });
    add('DELETE FROM memories WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids))', { ids });
  }
  if (revision > 0) statements.push({ sql: 'UPDATE counter SET revision = revision + ?', args: [revision] });
  return statements;
}

/** Rows written by one statement: each holds memory outside the JavaScript heap until it is collected. */
const ROWS_A_STATEMENT = 100;

const tuple = ({ term, field, tf, norm }: Posting) => [term, field, tf, norm];

const insertVectors = (count: number): string => `INSERT INTO vectors SELECT memories.seq, given.column2
  FROM (VALUES ${Array.from({ length: count }, () => '(?, ?)').join(', ')}) AS given
  CROSS JOIN memories ON memories.scope = ? AND memories.id = given.column1 ORDER BY memories.seq`;

/** The same for rows of several scopes; an audit entry goes to the scope of the row it tells of. */
export function loadStatements({ insert = [], audit = [] }: Changes, dimensions: number): Statement[] {
  const scopes = new Set(insert.map(({ row }) => row.scope));
  const scopeOf = (entry: AuditEntry): Scope | undefined =>
    (entry.after ?? entry.before ?? insert.find(({ row }) => row.id === entry.memory)?.row)?.scope;
  for (const entry of audit) scopes.add(scopeOf(entry) ?? SHARED);
  return [...scopes].flatMap((scope) =>
    commitStatements(
      scope,
      {
        insert: insert.filter(({ row }) => row.scope === scope),
        audit: audit.filter((entry) => (scopeOf(entry) ?? SHARED) === scope),
      },
      dimensions,
    ),
  );
}

const GUARD_NEW = `INSERT INTO guard SELECT 0 FROM json_each(:ids) AS wanted
  WHERE EXISTS (SELECT 1 FROM memories WHERE scope = :scope AND id = wanted.value)
     OR EXISTS (SELECT 1 FROM tombstones WHERE scope = :scope AND id = wanted.value)`;
/** What a row names, and must be found by: ids it was derived from, and ids it denies behind a word of their own. */
const NAMED = `(SELECT json_group_array(value) FROM (SELECT value FROM json_each(memories.derived_from)
  UNION ALL SELECT '${DENIES}' || value FROM json_each(memories.denies)))`;
const GUARD_READ = `INSERT INTO guard SELECT 0 FROM json_each(:read) AS read
  LEFT JOIN memories ON memories.scope = :scope AND memories.id = read.value ->> 0
  WHERE memories.revision IS NOT CAST(read.value ->> 1 AS INTEGER)`;
const UNLINK = `DELETE FROM derivations WHERE (scope, source, seq) IN (
  SELECT memories.scope, source.value, memories.seq FROM memories, json_each(${NAMED}) AS source
  WHERE memories.scope = :scope AND memories.id IN (SELECT value FROM json_each(:ids)))`;
/** Rows of this commit lie above the counter until its end. */
const OF_THIS_COMMIT = 'memories.scope = :scope AND memories.revision > (SELECT revision FROM counter)';
const LINK = `INSERT OR IGNORE INTO derivations SELECT memories.scope, source.value, memories.seq
  FROM memories, json_each(${NAMED}) AS source WHERE ${OF_THIS_COMMIT}`;
const ADD_TERMS = `INSERT INTO term_lists SELECT memories.seq, given.value ->> 1
  FROM json_each(:terms) AS given CROSS JOIN memories ON memories.scope = :scope AND memories.id = given.value ->> 0`;
/** In order of the terms, as the table is: many times faster for many rows. */
const ADD_POSTINGS = `INSERT INTO postings SELECT (SELECT owner FROM owners WHERE scope = :scope),
    term.value ->> 0 AS term, memories.seq, term.value ->> 1, term.value ->> 2, term.value ->> 3
  FROM memories CROSS JOIN term_lists ON term_lists.seq = memories.seq, json_each(term_lists.terms) AS term
  WHERE ${OF_THIS_COMMIT} ORDER BY 2, 3`;
const ADD_AUDIT = `INSERT INTO audit (scope, ${AUDIT_COLUMNS.join(', ')})
  SELECT :scope, ${AUDIT_COLUMNS.map((_, index) => `value ->> ${index}`).join(', ')} FROM json_each(:entries)`;
const ADD_TOMBSTONES = `INSERT INTO tombstones (scope, id, at, seq, revision)
  SELECT memories.scope, memories.id, erased.value ->> 1, memories.seq, (SELECT revision FROM counter) + (erased.value ->> 2)
  FROM json_each(:erased) AS erased CROSS JOIN memories ON memories.scope = :scope AND memories.id = erased.value ->> 0`;

const ERASED = 'SELECT seq FROM memories WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids))';
/** The casts give the columns a type, without which SQLite would scan all postings of the scope. */
const ERASED_TERMS = `SELECT CAST(term.value ->> 0 AS TEXT) AS term, CAST(term.value ->> 1 AS INTEGER) AS field, term.value ->> 2 AS tf, term_lists.seq AS seq
  FROM term_lists, json_each(term_lists.terms) AS term WHERE term_lists.seq IN (${ERASED})`;
/** Takes back from the statistics exactly what was added, as noted in term_lists, then removes all that was said. */
const ERASE = [
  `UPDATE field_statistics SET documents = field_statistics.documents - gone.documents, tokens = field_statistics.tokens - gone.tokens
    FROM (SELECT field, COUNT(DISTINCT seq) AS documents, SUM(tf) AS tokens FROM (${ERASED_TERMS}) GROUP BY field) AS gone
    WHERE field_statistics.field = gone.field`,
  `UPDATE term_statistics SET documents = term_statistics.documents - gone.documents
    FROM (SELECT term, field, COUNT(*) AS documents FROM (${ERASED_TERMS}) GROUP BY term, field) AS gone
    WHERE term_statistics.term = gone.term AND term_statistics.field = gone.field`,
  `DELETE FROM term_statistics WHERE documents <= 0 AND (term, field) IN (SELECT term, field FROM (${ERASED_TERMS}))`,
  `DELETE FROM postings WHERE owner = (SELECT owner FROM owners WHERE scope = :scope)
    AND (term, seq, field) IN (SELECT term, seq, field FROM (${ERASED_TERMS}))`,
  `DELETE FROM term_lists WHERE seq IN (${ERASED})`,
  `DELETE FROM vectors WHERE seq IN (${ERASED})`,
  `DELETE FROM derivations WHERE (scope, source, seq) IN (
    SELECT memories.scope, source.value, memories.seq FROM memories, json_each(${NAMED}) AS source
    WHERE memories.seq IN (${ERASED}))`,
  `UPDATE audit SET before = NULL, after = NULL, detail = NULL
    WHERE scope = :scope AND memory IN (SELECT value FROM json_each(:ids))`,
];

/** What the rows of a commit add to the statistics of the whole store. */
function statisticsStatements(indexed: readonly Indexed[]): Statement[] {
  const fields = FIELDS.map((_, field) => [field, 0, 0] as [field: number, documents: number, tokens: number]);
  const terms = new Map<string, [term: string, field: number, documents: number]>();
  for (const { postings, lengths } of indexed) {
    for (const counts of fields) {
      const length = lengths[counts[0]] ?? 0;
      if (length > 0) counts[1]++;
      counts[2] += length;
    }
    for (const { term, field } of postings) {
      const counted = terms.get(`${field}${term}`);
      if (counted) counted[2]++;
      else terms.set(`${field}${term}`, [term, field, 1]);
    }
  }
  return [
    {
      sql: `INSERT INTO field_statistics SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
        ON CONFLICT (field) DO UPDATE SET documents = documents + excluded.documents, tokens = tokens + excluded.tokens`,
      args: [JSON.stringify(fields)],
    },
    {
      sql: `INSERT INTO term_statistics SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true ORDER BY 1, 2
        ON CONFLICT (term, field) DO UPDATE SET documents = documents + excluded.documents`,
      args: [JSON.stringify([...terms.values()])],
    },
  ];
}

function checkRows(scope: Scope, rows: readonly MemoryRow[]): void {
  const seen = new Set<string>();
  for (const row of rows) {
    if (row.scope !== scope) throw new SupersededError('FORBIDDEN', `A handle of ${scope} cannot write ${row.scope}.`);
    if (seen.has(row.id)) throw new SupersededError('STORE_FAILED', `One commit names the memory ${row.id} twice.`);
    seen.add(row.id);
  }
}

/** The vector as little-endian float32; refuses what would make wrong cosines. */
function vectorBytes(row: MemoryRow, vector: Float32Array | null, dimensions: number): ArrayBuffer {
  if (!vector || vector.length !== dimensions) {
    const got = vector ? `${vector.length} dimensions` : 'no vector';
    throw new SupersededError('MODEL_MISMATCH', `The memory ${row.id} has ${got}; the store holds ${dimensions}.`);
  }
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!(Math.abs(squares - 1) < 0.01)) {
    throw new SupersededError('EMBEDDER_FAILED', `The vector of the memory ${row.id} is not of length 1.`);
  }
  return new Float32Array(vector).buffer;
}
