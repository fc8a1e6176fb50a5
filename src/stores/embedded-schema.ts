import type { EmbeddingModel } from '../embedder.ts';
import { SupersededError, VersionConflict } from '../errors.ts';
import { type Database, GUARD, numberOf, type Statement, textOf, textOrNull } from './embedded-database.ts';

/** The tables, as an ordered list of migrations, and whose vectors they hold. */

/** Marks a file as ours: "SUPE" in ASCII. */
const APPLICATION_ID = 0x53555045;

/** Step n takes a database of version n to version n + 1. A released step is never changed. */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    'CREATE TABLE counter (revision INTEGER NOT NULL)',
    'INSERT INTO counter VALUES (0)',
    'CREATE TABLE model (only INTEGER PRIMARY KEY CHECK (only = 1), name TEXT NOT NULL, dimensions INTEGER NOT NULL, hash TEXT)',
    `CREATE TABLE memories (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, revision INTEGER NOT NULL, scope TEXT NOT NULL, id TEXT NOT NULL,
      kind TEXT NOT NULL, topic TEXT NOT NULL, title TEXT, content TEXT NOT NULL, tags TEXT NOT NULL,
      created_at INTEGER NOT NULL, valid_from INTEGER NOT NULL, planned_to INTEGER, valid_to INTEGER,
      closed_at INTEGER, closed_as TEXT, closed_reason TEXT, supersedes TEXT NOT NULL, superseded_by TEXT,
      denies TEXT NOT NULL, denied_by TEXT, denied_at INTEGER, reopens TEXT, reopened_by TEXT, reopened_at INTEGER,
      derived_from TEXT NOT NULL, confidence REAL NOT NULL, feedback_sum REAL NOT NULL, feedback_count INTEGER NOT NULL,
      fresh_at INTEGER NOT NULL, confirmed_at INTEGER, text_key TEXT NOT NULL, similar_to TEXT NOT NULL,
      changed_mind INTEGER NOT NULL, reviewed_at INTEGER, changed_at INTEGER NOT NULL, changes INTEGER NOT NULL, UNIQUE (scope, id))`,
    'CREATE INDEX memories_by_seq ON memories (scope)',
    'CREATE INDEX memories_by_revision ON memories (scope, revision)',
    'CREATE INDEX memories_by_age ON memories (scope, created_at, id)',
    'CREATE INDEX memories_by_text ON memories (scope, text_key)',
    'CREATE TABLE vectors (seq INTEGER PRIMARY KEY, vector BLOB NOT NULL)',
    'CREATE TABLE derivations (scope TEXT NOT NULL, source TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (scope, source, seq)) WITHOUT ROWID',
    'CREATE TABLE owners (owner INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE)',
    `CREATE TABLE postings (
      owner INTEGER NOT NULL, term TEXT NOT NULL, seq INTEGER NOT NULL, field INTEGER NOT NULL,
      tf INTEGER NOT NULL, norm INTEGER NOT NULL, PRIMARY KEY (owner, term, seq, field)) WITHOUT ROWID`,
    'CREATE TABLE term_lists (seq INTEGER PRIMARY KEY, terms TEXT NOT NULL)',
    `CREATE TABLE term_statistics (
      term TEXT NOT NULL, field INTEGER NOT NULL, documents INTEGER NOT NULL, PRIMARY KEY (term, field)) WITHOUT ROWID`,
    'CREATE TABLE field_statistics (field INTEGER PRIMARY KEY, documents INTEGER NOT NULL, tokens INTEGER NOT NULL)',
    'CREATE TABLE tombstones (scope TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, seq INTEGER NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (scope, id)) WITHOUT ROWID',
    'CREATE INDEX tombstones_by_revision ON tombstones (scope, revision)',
    `CREATE TABLE audit (
      scope TEXT NOT NULL, at INTEGER NOT NULL, id TEXT NOT NULL, actor TEXT NOT NULL, verb TEXT NOT NULL,
      memory TEXT NOT NULL, before TEXT, after TEXT, source TEXT NOT NULL, detail TEXT, PRIMARY KEY (scope, at, id))`,
    'CREATE INDEX audit_by_memory ON audit (scope, memory, at, id)',
  ],
  [
    'ALTER TABLE memories ADD COLUMN heard_at INTEGER',
    `UPDATE memories SET heard_at = MAX(created_at, COALESCE(confirmed_at, created_at)) WHERE derived_from = '[]'`,
    // Names every column that adding up lives reads, those of its own condition too, so that no row is looked up.
    `CREATE INDEX memories_by_life ON memories (scope, topic, valid_from, valid_to, created_at, closed_at, changed_mind,
      heard_at, planned_to, closed_as)
      WHERE planned_to IS NULL AND heard_at IS NOT NULL AND closed_as IS NOT 'held' AND closed_as IS NOT 'denied'`,
  ],
];

/** Brings the tables to this version of the schema; safe while other processes do the same. */
export async function migrate(database: Database, migrations = MIGRATIONS): Promise<void> {
  for (;;) {
    const { version, application, tables } = await identify(database);
    const ours = application === APPLICATION_ID || (version === 0 && tables === 0);
    if (!ours) {
      throw new SupersededError('STORE_UNAVAILABLE', `The database ${database.file} belongs to another program.`, {
        hint: 'Choose another file with SUPERSEDED_DB or --db.',
      });
    }
    if (version > migrations.length) {
      throw new SupersededError(
        'SCHEMA_MISMATCH',
        `The database ${database.file} has schema ${version}; this version of Superseded knows ${migrations.length}.`,
        { hint: 'Update Superseded, or choose another file with SUPERSEDED_DB or --db.' },
      );
    }
    const steps = migrations[version];
    if (!steps) return;
    try {
      await database.write(stepStatements(version, steps));
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

async function identify(database: Database) {
  const [result] = await database.read([
    statement(`SELECT (SELECT user_version FROM pragma_user_version) AS version,
      (SELECT application_id FROM pragma_application_id) AS application,
      (SELECT COUNT(*) FROM sqlite_schema) AS tables`),
  ]);
  const row = result?.rows[0];
  if (!row) throw new TypeError('a database without pragmas');
  return {
    version: numberOf(row, 'version'),
    application: numberOf(row, 'application'),
    tables: numberOf(row, 'tables'),
  };
}

/** The guard refuses where another process took this step in the meantime. */
const stepStatements = (version: number, steps: readonly string[]): Statement[] =>
  [
    `CREATE TABLE IF NOT EXISTS guard (ok INTEGER CONSTRAINT ${GUARD} CHECK (ok = 1))`,
    `INSERT INTO guard SELECT 0 WHERE (SELECT user_version FROM pragma_user_version) <> ${version}`,
    ...steps,
    `PRAGMA application_id = ${APPLICATION_ID}`,
    `PRAGMA user_version = ${version + 1}`,
  ].map((sql) => statement(sql));

const statement = (sql: string): Statement => ({ sql, args: [] });

/** Notes the model in a new store, and refuses a store that holds the vectors of another one. */
export async function claimModel(database: Database, model: EmbeddingModel): Promise<void> {
  let stored = await storedModel(database);
  if (!stored) {
    await database.write([
      {
        sql: 'INSERT OR IGNORE INTO model VALUES (1, ?, ?, ?)',
        args: [model.name, model.dimensions, model.hash],
      },
    ]);
    stored = (await storedModel(database)) ?? model;
  }
  const same =
    stored.name === model.name &&
    stored.dimensions === model.dimensions &&
    (stored.hash === model.hash || stored.hash === null || model.hash === null);
  if (same) return;
  throw new SupersededError(
    'MODEL_MISMATCH',
    `The database ${database.file} holds vectors of ${describe(stored)}; the embedder in use is ${describe(model)}.`,
    {
      hint:
        'Use the model the store was made with, or re-embed: `superseded export` with that model, ' +
        'then `superseded import` into a new database (SUPERSEDED_DB or --db) with this one.',
    },
  );
}

type Identity = Pick<EmbeddingModel, 'name' | 'dimensions' | 'hash'>;

async function storedModel(database: Database): Promise<Identity | null> {
  const [result] = await database.read([statement('SELECT name, dimensions, hash FROM model')]);
  const row = result?.rows[0];
  if (!row) return null;
  return { name: textOf(row, 'name'), dimensions: numberOf(row, 'dimensions'), hash: textOrNull(row, 'hash') };
}

const describe = ({ name, dimensions, hash }: Identity): string =>
  `${name} (${dimensions} dimensions${hash === null ? '' : `, ${hash.slice(0, 12)}`})`;
