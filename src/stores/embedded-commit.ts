import { indexRow } from '../bm25.ts';
import { SupersededError } from '../errors.ts';
import { type MemoryRow, type Scope, SHARED } from '../memory.ts';
import type { AuditEntry, Changes } from '../store.ts';
import type { Statement } from './embedded-database.ts';
import { AUDIT_COLUMNS, auditValues, INSERT_ROW, insertValues, UPDATE_ROW, updateValues } from './embedded-rows.ts';

/** Changes to statements of one transaction: guards first, then rows with their postings, vectors and statistics. */

export function commitStatements(scope: Scope, changes: Changes, dimensions: number): Statement[] {
  const { insert = [], update = [], erase = [], audit = [] } = changes;
  const touched = [...insert, ...update, ...erase].map(({ row }) => row);
  checkRows(scope, touched);
  const statements: Statement[] = [{ sql: 'PRAGMA secure_delete = ON', args: [] }];
  const add = (sql: string, ...args: Statement['args'] & unknown[]) => statements.push({ sql, args } as Statement);

  if (insert.length > 0) add(GUARD_NEW, scope, scope, JSON.stringify(insert.map(({ row }) => row.id)));
  const read = [...update, ...erase].map(({ row, version }) => [row.id, version]);
  if (read.length > 0) add(GUARD_READ, JSON.stringify(read), scope);

  let revision = 0;
  if (insert.length > 0) add('INSERT OR IGNORE INTO owners (scope) VALUES (?)', scope);
  const statistics = new Statistics();
  for (const { row, vector } of insert) {
    const indexed = indexRow(row);
    statistics.add(indexed);
    add(INSERT_ROW, ...insertValues(row), ++revision);
    // WITHOUT ROWID tables leave last_insert_rowid() alone, the others get the same number.
    add('INSERT INTO vectors VALUES (last_insert_rowid(), ?)', vectorBytes(row, vector, dimensions));
    if (row.derivedFrom.length > 0) add(LINK, scope, JSON.stringify(row.derivedFrom));
    const terms = indexed.postings.map(({ term, field, tf, norm }) => [term, field, tf, norm]);
    add('INSERT INTO term_lists VALUES (last_insert_rowid(), ?)', JSON.stringify(terms));
  }
  if (insert.length > 0) add(ADD_POSTINGS, scope, scope);
  for (const statement of statistics.statements()) statements.push(statement);

  for (const { row } of update) {
    add(UNLINK, scope, row.id);
    add(UPDATE_ROW, ...updateValues(row), ++revision, scope, row.id);
    if (row.derivedFrom.length > 0) add(RELINK, scope, JSON.stringify(row.derivedFrom), scope, row.id);
  }
  for (const entry of audit) add(ADD_AUDIT, scope, ...auditValues(entry));
  if (erase.length > 0) {
    const ids = JSON.stringify(erase.map(({ row }) => row.id));
    for (const sql of ERASE) statements.push({ sql, args: { scope, ids } });
    for (const { row, at } of erase) {
      add(ADD_TOMBSTONE, at, ++revision, scope, row.id);
    }
    statements.push({
      sql: 'DELETE FROM memories WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids))',
      args: { scope, ids },
    });
  }
  if (revision > 0) add('UPDATE counter SET revision = revision + ?', revision);
  return statements;
}

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

const GUARD_NEW = `INSERT INTO guard SELECT 0 FROM json_each(?3) AS wanted
  WHERE EXISTS (SELECT 1 FROM memories WHERE scope = ?1 AND id = wanted.value)
     OR EXISTS (SELECT 1 FROM tombstones WHERE scope = ?2 AND id = wanted.value)`;
const GUARD_READ = `INSERT INTO guard SELECT 0 FROM json_each(?1) AS read
  LEFT JOIN memories ON memories.scope = ?2 AND memories.id = read.value ->> 0
  WHERE memories.revision IS NOT CAST(read.value ->> 1 AS INTEGER)`;
const LINK = 'INSERT OR IGNORE INTO derivations SELECT ?1, value, last_insert_rowid() FROM json_each(?2)';
const UNLINK = `DELETE FROM derivations WHERE (scope, source, seq) IN (
  SELECT memories.scope, source.value, memories.seq FROM memories, json_each(memories.derived_from) AS source
  WHERE memories.scope = ? AND memories.id = ?)`;
const RELINK = `INSERT OR IGNORE INTO derivations
  SELECT ?1, source.value, memories.seq FROM memories, json_each(?2) AS source WHERE memories.scope = ?3 AND memories.id = ?4`;
/** In order of the terms, as the table is: many times faster for many rows. */
const ADD_POSTINGS = `INSERT INTO postings
  SELECT (SELECT owner FROM owners WHERE scope = ?1), term.value ->> 0 AS term, term_lists.seq, term.value ->> 1, term.value ->> 2, term.value ->> 3
  FROM memories CROSS JOIN term_lists ON term_lists.seq = memories.seq, json_each(term_lists.terms) AS term
  WHERE memories.scope = ?2 AND memories.revision > (SELECT revision FROM counter) ORDER BY 2, 3`;
const ADD_AUDIT = `INSERT INTO audit (scope, ${AUDIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ADD_TOMBSTONE = `INSERT INTO tombstones (scope, id, at, seq, revision)
  SELECT scope, id, ?1, seq, (SELECT revision FROM counter) + ?2 FROM memories WHERE scope = ?3 AND id = ?4`;

const ERASED = 'SELECT seq FROM memories WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids))';
const ERASED_TERMS = `SELECT term.value ->> 0 AS term, term.value ->> 1 AS field, term.value ->> 2 AS tf, term_lists.seq AS seq
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
  `DELETE FROM postings WHERE (owner, term, seq, field) IN (
    SELECT (SELECT owner FROM owners WHERE scope = :scope), term, seq, field FROM (${ERASED_TERMS}))`,
  `DELETE FROM term_lists WHERE seq IN (${ERASED})`,
  `DELETE FROM vectors WHERE seq IN (${ERASED})`,
  `DELETE FROM derivations WHERE (scope, source, seq) IN (
    SELECT memories.scope, source.value, memories.seq FROM memories, json_each(memories.derived_from) AS source
    WHERE memories.seq IN (${ERASED}))`,
  `UPDATE audit SET before = NULL, after = NULL, detail = NULL
    WHERE scope = :scope AND memory IN (SELECT value FROM json_each(:ids))`,
];

/** What the rows of a commit add to the statistics of the whole store. */
class Statistics {
  readonly #documents = [0, 0, 0];
  readonly #tokens = [0, 0, 0];
  readonly #terms = new Map<string, [term: string, field: number, documents: number]>();

  add({ postings, lengths }: ReturnType<typeof indexRow>): void {
    lengths.forEach((length, field) => {
      if (length > 0) this.#documents[field] = (this.#documents[field] ?? 0) + 1;
      this.#tokens[field] = (this.#tokens[field] ?? 0) + length;
    });
    for (const { term, field } of postings) {
      const key = `${field}${term}`;
      const counted = this.#terms.get(key);
      if (counted) counted[2]++;
      else this.#terms.set(key, [term, field, 1]);
    }
  }

  statements(): Statement[] {
    if (this.#terms.size === 0) return [];
    const fields = this.#documents.map((documents, field) => [field, documents, this.#tokens[field] ?? 0]);
    return [
      {
        sql: `INSERT INTO field_statistics SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
          ON CONFLICT (field) DO UPDATE SET documents = documents + excluded.documents, tokens = tokens + excluded.tokens`,
        args: [JSON.stringify(fields)],
      },
      {
        sql: `INSERT INTO term_statistics SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
          ON CONFLICT (term, field) DO UPDATE SET documents = documents + excluded.documents`,
        args: [JSON.stringify([...this.#terms.values()])],
      },
    ];
  }
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
