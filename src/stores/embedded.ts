import { rmSync } from 'node:fs';
import type { Row } from '@libsql/client/sqlite3';
import type { EmbeddingModel } from '../embedder.ts';
import { SupersededError } from '../errors.ts';
import { type Scope, SHARED } from '../memory.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { MemoryStore, ScopedStore } from '../store.ts';
import { embeddedChecks } from './embedded-checks.ts';
import { commitStatements, loadStatements } from './embedded-commit.ts';
import { type Database, numberOf, openDatabase, type Statement, textOf } from './embedded-database.ts';
import { lifetimesStatement, livesStatement, readLife, readLifetimes } from './embedded-lifetimes.ts';
import { auditStatement, findStatement, getStatement } from './embedded-lookups.ts';
import { readAudit, readStored } from './embedded-rows.ts';
import { claimModel, migrate } from './embedded-schema.ts';
import { nearest, rank, type Searchable } from './embedded-search.ts';
import { ScopeCache } from './embedded-sync.ts';

export interface EmbeddedOptions {
  /** The database file; made with its folder where it is missing. */
  file: string;
  /** The embedder's model, asked for once. */
  model: () => Promise<EmbeddingModel>;
  /** How long to wait for other processes that write. */
  busyTimeoutMs?: number;
}

/** Vectors and columns of scopes kept in memory; one larger scope is kept whole. */
const CACHE_BYTES = 128 * 1024 * 1024;

/** The default store: one libSQL file, Lucene's BM25 from postings tables, exact cosines over the scope's vectors. */
export function createEmbeddedStore({ file, model, busyTimeoutMs = 5000 }: EmbeddedOptions): MemoryStore {
  let opening: Promise<Opened> | null = null;
  let closed = false;
  const open = async (): Promise<Opened> => {
    if (closed) throw new SupersededError('STORE_UNAVAILABLE', 'The store is closed.');
    opening ??= openStore(file, model, busyTimeoutMs).catch((error) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  return {
    name: 'embedded',
    embeds: 'client',
    setup: async () => void (await open()),
    model,
    for: (scope) => scopedStore(scope, open),
    load: async (changes) => {
      const { database, dimensions } = await open();
      await database.write(loadStatements(changes, dimensions));
    },
    lifetimes: async (now) => (await rowsOf(open, lifetimesStatement({}, now))).map((row) => readLifetimes(row, now)),
    checks: () => embeddedChecks(async () => (await open()).database),
    embed: async () => {
      throw new SupersededError('UNSUPPORTED', 'The embedded store does not embed: the embedder does.');
    },
    drop: async () => {
      await close();
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    },
    close,
  };

  async function close(): Promise<void> {
    closed = true;
    const opened = await opening?.catch(() => null);
    await opened?.database.close();
  }
}

interface Opened extends Searchable {
  /** Whether erased bytes may still stand in the write-ahead log. */
  erasedInLog: boolean;
}

async function openStore(file: string, model: () => Promise<EmbeddingModel>, busyTimeoutMs: number): Promise<Opened> {
  const database = await openDatabase(file, busyTimeoutMs);
  try {
    await migrate(database);
    const embedding = await model();
    await claimModel(database, embedding);
    return {
      database,
      dimensions: embedding.dimensions,
      erasedInLog: false,
      cache: new ScopeCache(embedding.dimensions, CACHE_BYTES),
      inTurn: oneAtATime(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function rowsOf(open: () => Promise<Opened>, statement: Statement): Promise<Row[]> {
  const { database } = await open();
  return (await database.read([statement]))[0]?.rows ?? [];
}

function scopedStore(scope: Scope, open: () => Promise<Opened>): ScopedStore {
  const readable: Scope[] = scope === SHARED ? [SHARED] : [scope, SHARED];
  const read = (statement: Statement) => rowsOf(open, statement);
  return {
    scope,
    rank: async (query) => rank(await open(), readable, query),
    nearest: async (query) => nearest(await open(), scope, query),
    get: async (ids) => {
      const stored = (await read(getStatement(readable, ids))).map(readStored);
      const own = new Set(stored.filter(({ row }) => row.scope === scope).map(({ row }) => row.id));
      return stored.filter(({ row }) => row.scope === scope || !own.has(row.id));
    },
    find: async (filter) => (await read(findStatement(scope, filter))).map(readStored),
    tombstones: async (ids) => {
      const sql = 'SELECT id, at FROM tombstones WHERE scope = ? AND id IN (SELECT value FROM json_each(?))';
      const rows = await read({ sql, args: [scope, JSON.stringify(ids)] });
      return rows.map((row) => ({ id: textOf(row, 'id'), at: numberOf(row, 'at') }));
    },
    audit: async (filter) => (await read(auditStatement(scope, filter))).map(readAudit),
    lifetimes: async (now, topics) =>
      (await read(lifetimesStatement({ scope, topics }, now))).map((row) => readLifetimes(row, now)),
    lives: async (topic, now) => (await read(livesStatement(scope, topic, now))).map(readLife),
    commit: async (changes) => {
      const opened = await open();
      await opened.database.write(commitStatements(scope, changes, opened.dimensions));
      if (changes.erase?.length) opened.erasedInLog = true;
      if (opened.erasedInLog) opened.erasedInLog = !(await emptyLog(opened.database));
    },
  };
}

/** Takes erased bytes out of the write-ahead log too; false where another process that reads it delays that. */
const emptyLog = async (database: Database): Promise<boolean> =>
  database.run('PRAGMA wal_checkpoint(TRUNCATE)').then(
    (result) => result.rows[0]?.[0] === 0,
    () => false,
  );
