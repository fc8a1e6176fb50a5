import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { type Client, createClient, type InArgs, LibsqlError, type ResultSet, type Row } from '@libsql/client/sqlite3';
import { SupersededError, VersionConflict } from '../errors.ts';

/** The libSQL file: opening it, running statements in one transaction, and telling what went wrong. */

export interface Statement {
  sql: string;
  args: InArgs;
}

export interface Database {
  readonly file: string;
  /** Runs all statements on one snapshot. */
  read(statements: readonly Statement[]): Promise<ResultSet[]>;
  /** Runs all statements or none; throws VersionConflict where a guard statement refuses. */
  write(statements: readonly Statement[]): Promise<ResultSet[]>;
  /** Runs one statement outside a transaction, as some pragmas need. */
  run(sql: string): Promise<ResultSet>;
  close(): Promise<void>;
}

/** Name of the check that guard statements fail on purpose; it comes back in the message of the failure. */
export const GUARD = 'version_conflict';
const CHOOSE_ANOTHER = 'choose another file with SUPERSEDED_DB or --db';

/** Pages SQLite keeps in memory; the default of 2 MB thrashes while postings are written. */
const PAGE_CACHE = 'PRAGMA cache_size = -8192';

/** Opens the file, and makes it and its folder where they are missing; in WAL mode, so that readers never wait. */
export async function openDatabase(file: string, busyTimeoutMs: number): Promise<Database> {
  const path = resolve(file);
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (cause) {
    throw unavailable(`The folder of the database ${path} cannot be made.`, cause);
  }
  let client: Client | null = null;
  let closed = false;
  let last: Promise<unknown> = Promise.resolve();
  /** One statement or transaction after the other, so that the connection may be replaced after a failure. */
  const inTurn = <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const result = last.then(async () => {
      try {
        if (closed) throw new SupersededError('STORE_UNAVAILABLE', 'The store is closed.');
        client ??= connect(path, busyTimeoutMs);
        return await work(client);
      } catch (error) {
        if (isBusy(error)) {
          // A statement that found the file busy stays in progress, and its connection could never commit again.
          client?.close();
          client = null;
        }
        throw translate(path, error);
      }
    });
    last = result.catch(() => null);
    return result;
  };
  const database: Database = {
    file: path,
    read: (statements) => inTurn((client) => client.batch([...statements], 'read')),
    write: (statements) =>
      inTurn(async (client) => {
        const results = await client.batch([{ sql: PAGE_CACHE, args: [] }, ...statements], 'write');
        // Statements are freed by the event loop, which a caller that awaits one write after the other never lets turn.
        await turn();
        return results;
      }),
    run: (sql) => inTurn((client) => client.execute(sql)),
    close: async () => {
      await last;
      closed = true;
      client?.close();
    },
  };
  try {
    await enterWal(database, busyTimeoutMs);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** One connection is enough, as the client works synchronously; the option sets the timeout for good, a pragma would not. */
function connect(path: string, timeout: number): Client {
  const url = path.replaceAll('\\', '/').replace(/[%?#]/g, encodeURIComponent);
  return createClient({ url: `file:${url}`, timeout, concurrency: 1 });
}

/** Two processes that switch a new file to WAL at once can find it busy without any wait: try again until the timeout. */
async function enterWal(database: Database, busyTimeoutMs: number): Promise<void> {
  for (let waited = 0; ; waited += 20) {
    try {
      const mode = (await database.run('PRAGMA journal_mode = WAL')).rows[0]?.[0];
      if (mode !== 'wal') throw unavailable(`The database ${database.file} cannot keep a write-ahead log.`, mode);
      return;
    } catch (error) {
      const busy = error instanceof SupersededError && isBusy(error.cause);
      if (!busy || waited >= busyTimeoutMs) throw error;
      await delay(20);
    }
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof LibsqlError && (error.code === 'SQLITE_BUSY' || error.code === 'SQLITE_LOCKED');

const UNREADABLE: Record<string, string> = {
  SQLITE_CANTOPEN: 'cannot be opened',
  SQLITE_NOTADB: 'is not a database',
  SQLITE_CORRUPT: 'is damaged',
  SQLITE_READONLY: 'is not writable',
  SQLITE_PERM: 'may not be opened',
  SQLITE_FULL: 'has no room left on its disk',
  SQLITE_IOERR: 'cannot be read or written',
};

function translate(path: string, error: unknown): Error {
  if (error instanceof SupersededError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes(GUARD)) return new VersionConflict('A row changed since it was read.', { cause: error });
  if (isBusy(error)) {
    return new SupersededError('STORE_UNAVAILABLE', `The database ${path} is busy: another process is writing to it.`, {
      hint: 'Try again; where it stays busy, end the process that holds it.',
      cause: error,
    });
  }
  const code = error instanceof LibsqlError ? error.code : '';
  const problem = UNREADABLE[code];
  if (problem) return unavailable(`The database ${path} ${problem}.`, error);
  const misuse = error instanceof TypeError || error instanceof RangeError;
  if (!(error instanceof LibsqlError) && !misuse)
    return unavailable(`The database ${path} cannot be used: ${message}.`, error);
  return new SupersededError('STORE_FAILED', `The database ${path} refused: ${message}.`, { cause: error });
}

const unavailable = (message: string, cause: unknown): SupersededError =>
  new SupersededError('STORE_UNAVAILABLE', message, {
    hint: `Check the path and its permissions, or ${CHOOSE_ANOTHER}.`,
    cause,
  });

/** What a program that is not ours wrote, or a fault of the disk. */
export const damaged = (what: string): SupersededError =>
  new SupersededError('STORE_FAILED', `The database holds what Superseded never writes: ${what}.`);

/** A column that must hold text. */
export const textOf = (row: Row, column: string): string => {
  const value = row[column];
  if (typeof value !== 'string') throw damaged(`column ${column} holds ${typeof value}, not text`);
  return value;
};

/** A column that must hold a number. */
export const numberOf = (row: Row, column: string): number => {
  const value = row[column];
  if (typeof value !== 'number') throw damaged(`column ${column} holds ${typeof value}, not a number`);
  return value;
};

export const textOrNull = (row: Row, column: string): string | null =>
  row[column] === null ? null : textOf(row, column);
export const numberOrNull = (row: Row, column: string): number | null =>
  row[column] === null ? null : numberOf(row, column);
