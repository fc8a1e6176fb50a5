import type { EmbeddingModel } from '../embedder.ts';
import { SupersededError } from '../errors.ts';
import { type MemoryRow, type Scope, SHARED } from '../memory.ts';
import type { AuditEntry, Changes, MemoryStore, ScopedStore } from '../store.ts';
import { readAudit } from './elasticsearch-audit.ts';
import type { Backend, Refresh } from './elasticsearch-backend.ts';
import { type Capabilities, type DialectChoice, detect } from './elasticsearch-capabilities.ts';
import { elasticsearchChecks } from './elasticsearch-checks.ts';
import { type Connection, connect } from './elasticsearch-client.ts';
import { commit } from './elasticsearch-commit.ts';
import { documentIdOf, erasedAt, isId } from './elasticsearch-document.ts';
import { dropIndices, setUp } from './elasticsearch-index.ts';
import { embedOnServer } from './elasticsearch-inference.ts';
import { readLifetimes, readLives } from './elasticsearch-lifetimes.ts';
import { findRows, nearestRows } from './elasticsearch-lookups.ts';
import { rankRows } from './elasticsearch-ranking.ts';
import { fetchHits } from './elasticsearch-rows.ts';
import { readSettled, type Settled, settleAll } from './elasticsearch-settling.ts';

export interface ElasticsearchOptions {
  connection: Connection;
  /** Alias of the memories; the audit trail is behind `<index>-log`. */
  index: string;
  /** The endpoint that embeds on the server; null stores the client's vectors. */
  inferenceId: string | null;
  model: () => Promise<EmbeddingModel>;
  /** 30 seconds unless given. */
  requestTimeoutMs?: number;
  /** `auto` (the default) asks the cluster. */
  dialect?: DialectChoice;
  /** When a commit is visible to searches; `wait_for` unless given, so that a verb that returned is seen by the next. */
  refresh?: Refresh;
  /** The machine's clock, in milliseconds; never a replayed instant, since leases of other writers are measured by it. */
  clock: () => number;
}

export interface ElasticsearchStore extends MemoryStore {
  /** What the cluster can do and which dialect follows; asked anew each time. */
  capabilities(): Promise<Capabilities>;
  /** Finishes or undoes what writers left behind that died in the middle of a commit. */
  settleAll(): Promise<Settled>;
}

/** Memories on Elasticsearch: one ES|QL query ranks, one look-up by id brings the rows. Connects at the first verb. */
export function createElasticsearchStore(options: ElasticsearchOptions): ElasticsearchStore {
  const { connection, index, inferenceId, model, requestTimeoutMs = 30_000, dialect = 'auto', clock } = options;
  const elastic = connect(connection, requestTimeoutMs);
  const backend: Backend = { elastic, index, log: `${index}-log`, clock, refresh: options.refresh ?? 'wait_for' };
  const capabilities = () => detect(backend, dialect, inferenceId);
  let known: Promise<Capabilities> | undefined;
  const target = async () => {
    known ??= capabilities();
    known.catch(() => {
      known = undefined;
    });
    return { index, inferenceId, dialect: (await known).dialect };
  };
  return {
    name: 'elasticsearch',
    embeds: inferenceId === null ? 'client' : 'server',
    setup: async () => setUp(backend, await model(), inferenceId),
    model,
    for: (scope) => ({
      ...reading(backend, scope),
      rank: async (query) => rankRows(backend, scope, await target(), query),
      nearest: (query) => nearestRows(backend, scope, inferenceId, query),
      commit: async (changes) => {
        checkRows(changes, await vectors(), scope);
        await commit(backend, withGuards(changes), () => scope);
      },
    }),
    load: async (changes) => {
      checkRows(changes, await vectors());
      const scopes = new Map(changes.insert?.map(({ row }) => [row.id, row.scope]));
      const scopeOf = ({ after, before, memory }: AuditEntry): Scope =>
        (after ?? before)?.scope ?? scopes.get(memory) ?? SHARED;
      await commit(backend, changes, scopeOf);
    },
    lifetimes: (now) => readLifetimes(backend, {}, now),
    capabilities,
    settleAll: () => settleAll(backend),
    checks: () =>
      elasticsearchChecks({
        backend,
        model,
        setup: async () => setUp(backend, await model(), inferenceId),
        capabilities,
        settleAll: () => settleAll(backend),
        twin: (twinIndex, twinDialect) =>
          createElasticsearchStore({ ...options, index: twinIndex, dialect: twinDialect, refresh: true }),
      }),
    embed: (kind, texts) => embedOnServer(backend, inferenceId, kind, texts),
    drop: () => dropIndices(backend),
    close: () => elastic.close(),
  };

  async function vectors(): Promise<number | null> {
    return inferenceId === null ? (await model()).dimensions : null;
  }
}

function reading(backend: Backend, scope: Scope): Omit<ScopedStore, 'rank' | 'nearest' | 'commit'> {
  return {
    scope,
    get: async (ids) => {
      const scopes: Scope[] = scope === SHARED ? [SHARED] : [scope, SHARED];
      const documents = scopes.flatMap((owner) => documentsOf(owner, ids));
      const { found } = await readSettled(backend, [...new Set(documents)]);
      const own = new Set(found.filter(({ row }) => row.scope === scope).map(({ row }) => row.id));
      return found
        .filter(({ row }) => row.scope === scope || (row.scope === SHARED && !own.has(row.id)))
        .map(({ row, version }) => ({ row, version }));
    },
    find: (filter) => findRows(backend, scope, filter),
    tombstones: async (ids) => {
      const hits = await fetchHits(backend, [...new Set(documentsOf(scope, ids))]);
      return hits.flatMap(({ _id, _source }) => {
        const at = erasedAt(_source);
        return at === null ? [] : [{ id: _id.slice(`${scope}|`.length), at }];
      });
    },
    audit: (filter) => readAudit(backend, scope, filter),
    lifetimes: (now, topics) => readLifetimes(backend, { scope, topics }, now),
    lives: (topic, now) => readLives(backend, scope, topic, now),
  };
}

/** Texts that are no ids name no memory. */
const documentsOf = (scope: Scope, ids: readonly string[]): string[] =>
  ids.filter(isId).map((id) => documentIdOf({ scope, id }));

/** A row that must stay as it was read is written back as it is, on condition of its version. */
const withGuards = ({ guard = [], update = [], ...changes }: Changes): Changes => ({
  ...changes,
  update: [...update, ...guard],
});

/** Refuses what a driver must never write: another's rows, a row twice, and what would make wrong cosines. */
function checkRows({ insert = [], update = [], erase = [] }: Changes, dimensions: number | null, scope?: Scope): void {
  const seen = new Set<string>();
  const check = (row: MemoryRow) => {
    if (scope !== undefined && row.scope !== scope) {
      throw new SupersededError('FORBIDDEN', `A handle of ${scope} cannot write ${row.scope}.`);
    }
    const document = documentIdOf(row);
    if (seen.has(document)) throw new SupersededError('STORE_FAILED', `One commit names the memory ${row.id} twice.`);
    seen.add(document);
  };
  for (const { row } of [...insert, ...update, ...erase]) check(row);
  if (dimensions !== null) for (const { row, vector } of insert) checkVector(row, vector, dimensions);
}

function checkVector(row: MemoryRow, vector: Float32Array | null, dimensions: number): void {
  if (vector?.length !== dimensions) {
    const got = vector ? `${vector.length} dimensions` : 'no vector';
    throw new SupersededError('MODEL_MISMATCH', `The memory ${row.id} has ${got}; the store holds ${dimensions}.`);
  }
  const squares = vector.reduce((sum, value) => sum + value * value, 0);
  if (Math.abs(squares - 1) < 0.01) return;
  throw new SupersededError('EMBEDDER_FAILED', `The vector of the memory ${row.id} is not of length 1.`);
}
