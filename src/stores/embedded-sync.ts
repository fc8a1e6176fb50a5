import type { ResultSet } from '@libsql/client/sqlite3';
import type { Scope } from '../memory.ts';
import { ScopeRows } from './embedded-cache.ts';
import { type Database, numberOf, type Statement } from './embedded-database.ts';

/** The scopes read so far, the least recently used ones dropped beyond a number of bytes. */
export class ScopeCache {
  readonly #scopes = new Map<Scope, ScopeRows>();
  readonly #dimensions: number;
  readonly #mostBytes: number;

  constructor(dimensions: number, mostBytes: number) {
    this.#dimensions = dimensions;
    this.#mostBytes = mostBytes;
  }

  /**
   * Brings scopes up to date and answers more statements on that same snapshot. They are made from the rows as they
   * were before, and asked again where many rows were appended in between.
   */
  async sync(
    database: Database,
    scopes: readonly Scope[],
    more: (rows: ScopeRows[]) => Statement[],
    signal?: AbortSignal,
  ): Promise<{ rows: ScopeRows[]; answers: ResultSet[] }> {
    const rows = scopes.map((scope) => this.#take(scope));
    let complete = rows.every((scope) => scope.loaded);
    for (;;) {
      signal?.throwIfAborted();
      const asked = complete ? more(rows) : [];
      const results = await database.read([
        { sql: 'SELECT revision FROM counter', args: [] },
        ...rows.flatMap((scope) => scope.changes()),
        ...asked,
      ]);
      const counter = results[0]?.rows[0];
      const revision = counter ? numberOf(counter, 'revision') : 0;
      const upToDate = rows
        .map((scope, index) => scope.apply(results.slice(1 + 3 * index, 4 + 3 * index), revision))
        .every(Boolean);
      if (complete && upToDate) {
        this.#evict(scopes);
        return { rows, answers: results.slice(1 + 3 * rows.length) };
      }
      complete = upToDate;
      await new Promise<void>((resume) => setImmediate(resume));
    }
  }

  #take(scope: Scope): ScopeRows {
    const known = this.#scopes.get(scope);
    const rows = known && !known.worn ? known : new ScopeRows(scope, this.#dimensions);
    this.#scopes.delete(scope);
    this.#scopes.set(scope, rows);
    return rows;
  }

  #evict(inUse: readonly Scope[]): void {
    let bytes = 0;
    for (const rows of this.#scopes.values()) bytes += rows.bytes;
    for (const [scope, rows] of this.#scopes) {
      if (bytes <= this.#mostBytes) return;
      if (inUse.includes(scope)) continue;
      this.#scopes.delete(scope);
      bytes -= rows.bytes;
    }
  }
}
