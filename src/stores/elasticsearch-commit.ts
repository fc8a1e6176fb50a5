import { randomUUID } from 'node:crypto';
import { type Issue, SupersededError, VersionConflict } from '../errors.ts';
import { iso, type Scope } from '../memory.ts';
import type { AuditEntry, Changes, Stored } from '../store.ts';
import { auditItem } from './elasticsearch-audit.ts';
import { type Backend, type DocumentVersion, parseVersion, printVersion, versionOf } from './elasticsearch-backend.ts';
import { type BulkItem, bulk, type Outcome } from './elasticsearch-bulk.ts';
import { changingFields, documentIdOf, documentOf, marksOf } from './elasticsearch-document.ts';
import { isConflict, refusal } from './elasticsearch-errors.ts';
import { fetchHits } from './elasticsearch-rows.ts';
import { abort, writeOut } from './elasticsearch-settling.ts';
import {
  advance,
  begin,
  LEASE_MS,
  NOTHING_PLANNED,
  type PlannedChanges,
  type Transaction,
} from './elasticsearch-transactions.ts';

/**
 * Commits: all of a commit's changes become visible, or none does.
 *
 * **One document**, a row without an audit entry: its write, a create or an update on condition of the version read,
 * is the commit.
 *
 * **Several**, so every verb, since its audit entries are documents of their own; Elasticsearch has no transaction to
 * offer for them:
 *
 * 0. The rows are read once more: most commits that cannot succeed end here.
 * 1. A record is created in the log index: `prepared`, with what is to become of the rows read.
 * 2. One bulk: rows read are claimed (`claim`, on condition of their versions), new rows and audit entries are made,
 *    marked with the record's id (`batch`). Readers leave out rows and entries whose record is not decided, and see
 *    claimed rows as they were. Any conflict: the record becomes `aborted`, which voids the claims, and what was made
 *    is removed.
 * 3. The commit: the record becomes `committed`, on condition of its version. From here on, readers see claimed rows
 *    as the record says. A commit without claims is over with this step (`done`).
 * 4. One bulk writes the claimed rows, and waits for the refresh.
 * 5. The record becomes `done`, and holds nothing any more.
 *
 * A row made under a record is written once and never touched again: BM25 counts every dead version of a document, so
 * a mark to take off afterwards would move the scores of the whole store.
 *
 * A writer that dies leaves a record. Whoever reads one of its rows to write it or for its history, and `doctor`,
 * finishes it when it was committed, and otherwise undoes it once it has been silent for ten seconds
 * (elasticsearch-settling.ts). Since only a conditional write decides, a slow writer and an impatient reader cannot
 * both win.
 *
 * Every request may be repeated, by the client after a lost answer or by the bulk writer after a 429: a create that
 * then meets its own document, or a condition that its own write made untrue, is told by the commit's id, which
 * stands in every document it writes.
 */
export async function commit(backend: Backend, changes: Changes, scopeOf: (entry: AuditEntry) => Scope): Promise<void> {
  const { insert = [], update = [], erase = [], audit = [] } = changes;
  const id = randomUUID();
  if ([...update, ...erase].some(({ version }) => parseVersion(version) === null)) throw conflict([]);
  const alone = erase.length === 0 && insert.length + update.length + audit.length <= 1;
  const entries = (batch: string | null) => audit.map((entry) => auditItem(backend, scopeOf(entry), entry, batch));
  await (alone ? commitOne : commitMany)(backend, id, changes, entries);
}

type Entries = (batch: string | null) => BulkItem[];

async function commitOne(backend: Backend, id: string, changes: Changes, entries: Entries): Promise<void> {
  const what = 'write the memory';
  const items = [
    ...creations(backend, id, null, changes),
    ...(changes.update ?? []).map((stored) =>
      onRow(backend, stored, { ...changingFields(stored.row), written_by: id }),
    ),
    ...entries(null),
  ];
  const failed = await foreign(backend, id, await bulk(backend, items, { what, refresh: backend.refresh }));
  if (failed.length > 0) throw refused(what, failed);
}

async function commitMany(backend: Backend, id: string, changes: Changes, entries: Entries): Promise<void> {
  await refuseStale(backend, changes);
  const planned = plan(changes);
  const claiming = planned.updates.length + planned.erased.length > 0;
  const transaction = new Lease(backend, await begin(backend, id, planned));
  const what = 'write the memories';
  const items = function* (): Generator<BulkItem> {
    for (const stored of [...(changes.update ?? []), ...(changes.erase ?? [])])
      yield onRow(backend, stored, { claim: id });
    yield* creations(backend, id, id, changes);
    yield* entries(id);
  };
  let outcomes: Outcome[];
  let failed: Outcome[];
  try {
    const refresh = claiming ? false : backend.refresh;
    outcomes = await bulk(backend, items(), { what, refresh, between: () => transaction.renew() });
    failed = await foreign(backend, id, outcomes);
  } catch (error) {
    // What was made is hidden, and is removed now or, where the store is out of reach, by whoever meets it later.
    await abort(backend, transaction.record).catch(() => undefined);
    throw error;
  }
  if (failed.length > 0) {
    await undo(backend, transaction.record, outcomes);
    throw refused(what, failed);
  }
  const decided = await transaction.decide(claiming ? 'committed' : 'done');
  if (decided === null) {
    await undo(backend, transaction.record, outcomes);
    throw conflict([]);
  }
  if (!claiming) return;
  // Decided is decided: readers see it already, and whoever meets it next writes it out where this fails.
  await writeOut(backend, decided, versionsOf(outcomes)).catch((error: unknown) => {
    // Only that an erased text is gone is not promised before it is; a repeat finishes what is left.
    if (planned.erased.length > 0) throw error;
  });
}

/** Most losers of a race turn back here, before they write anything. The claims decide all the same. */
async function refuseStale(backend: Backend, { update = [], erase = [] }: Changes): Promise<void> {
  const read = new Map([...update, ...erase].map(({ row, version }) => [documentIdOf(row), version]));
  const hits = await fetchHits(backend, [...read.keys()]);
  const same = hits.filter((hit) => read.get(hit._id) === printVersion(versionOf(hit)));
  if (same.length < read.size) throw conflict([]);
}

/** Where the claims stand; undefined where an answer was lost, and they must be read. */
function versionsOf(outcomes: readonly Outcome[]): Map<string, DocumentVersion> | undefined {
  const claims = outcomes.filter(({ item }) => item.action === 'update');
  const known = claims.flatMap(({ item, version }) => (version ? [[item.id, version] as const] : []));
  return known.length === claims.length ? new Map(known) : undefined;
}

/** The record of a commit under way, renewed while its writer is alive. */
class Lease {
  readonly #backend: Backend;
  record: Transaction;

  constructor(backend: Backend, record: Transaction) {
    this.#backend = backend;
    this.record = record;
  }

  async renew(): Promise<void> {
    const at = this.#backend.clock();
    if (at - this.record.at < LEASE_MS / 4) return;
    const renewed = await advance(this.#backend, this.record, { at });
    if (renewed === null) throw conflict([]);
    this.record = renewed;
  }

  decide(state: 'committed' | 'done'): Promise<Transaction | null> {
    return advance(this.#backend, this.record, { state });
  }
}

function plan({ update = [], erase = [] }: Changes): PlannedChanges {
  return {
    updates: update.map(({ row }) => ({ document: documentIdOf(row), fields: changingFields(row) })),
    erased: erase.map(({ row, at }) => ({ document: documentIdOf(row), scope: row.scope, id: row.id, at: iso(at) })),
  };
}

function* creations(backend: Backend, id: string, batch: string | null, { insert = [] }: Changes): Generator<BulkItem> {
  for (const { row, vector } of insert) {
    const document = documentOf(row, vector, id, batch);
    yield { action: 'create', index: backend.index, id: documentIdOf(row), document };
  }
}

function onRow(backend: Backend, { row, version }: Stored, fields: object): BulkItem {
  const read = parseVersion(version);
  if (read === null) throw conflict([]);
  // Whatever claim stood there was void when the row was read: a live one gives no version to write on.
  return {
    action: 'update',
    index: backend.index,
    id: documentIdOf(row),
    version: read,
    fields: { claim: null, ...fields },
  };
}

/** The failures that are not this commit meeting what it wrote itself, before an answer was lost. */
async function foreign(backend: Backend, id: string, outcomes: readonly Outcome[]): Promise<Outcome[]> {
  const failed = outcomes.filter(({ failure }) => failure);
  const met = failed.filter(({ item, failure }) => failure && isConflict(failure) && item.index === backend.index);
  const hits = await fetchHits(
    backend,
    met.map(({ item }) => item.id),
  );
  const own = new Set<string>();
  for (const hit of hits) {
    const marks = marksOf(hit._source);
    if (marks.written_by === id || marks.claim === id) own.add(hit._id);
  }
  // Ids of audit entries are made for this commit alone: one that is there is its own.
  return failed.filter(({ item, failure }) =>
    failure && isConflict(failure) ? item.index === backend.index && !own.has(item.id) : true,
  );
}

/** Voids the claims and removes what was made; both at once, since neither shows. */
async function undo(backend: Backend, record: Transaction, outcomes: readonly Outcome[]): Promise<void> {
  await advance(backend, record, { state: 'aborted', changes: NOTHING_PLANNED });
  const made = outcomes.filter(({ item, failure }) => item.action === 'create' && !failure);
  await bulk(backend, made.map(removal), { what: 'undo the commit', refresh: false });
}

const removal = ({ item, version }: Outcome): BulkItem => {
  const target = { action: 'delete' as const, index: item.index, id: item.id };
  return version ? { ...target, version } : target;
};

const isStale = ({ item, failure }: Outcome): boolean =>
  failure !== null &&
  (isConflict(failure) ||
    (failure.status === 404 && item.action === 'update' && failure.type === 'document_missing_exception'));

function refused(what: string, failed: readonly Outcome[]): Error {
  const other = failed.filter((outcome) => !isStale(outcome));
  return other.length === 0 ? conflict(failed) : partial(what, other, 'Nothing was written.');
}

function conflict(failed: readonly Outcome[]): VersionConflict {
  const ids = failed.map(({ item }) => item.id.slice(item.id.lastIndexOf('|') + 1));
  return new VersionConflict(
    ids.length === 0 ? 'A memory changed meanwhile.' : `Changed meanwhile, or taken: ${ids.join(', ')}.`,
  );
}

/** The error of the first item, with every failed item in its issues. */
function partial(what: string, failed: readonly Outcome[], state: string): SupersededError {
  const issues = failed.flatMap(({ item, failure }): Issue[] =>
    failure ? [{ path: item.id, message: `${failure.status} ${failure.type}` }] : [],
  );
  const first = failed[0]?.failure ?? { status: 500, type: 'unknown', reason: '' };
  const { code, message, hint } = refusal(what, first);
  return new SupersededError(code, message, { hint: `${state} ${hint ?? ''}`.trim(), issues });
}
