import { iso } from '../memory.ts';
import { type Backend, type DocumentVersion, pause, versionOf } from './elasticsearch-backend.ts';
import { type BulkItem, bulk, type Outcome } from './elasticsearch-bulk.ts';
import { marksOf, tombstoneOf } from './elasticsearch-document.ts';
import { isConflict, refusal } from './elasticsearch-errors.ts';
import { fetchHits, lookUp, type Seen } from './elasticsearch-rows.ts';
import { pages } from './elasticsearch-search.ts';
import {
  advance,
  isExpired,
  NOTHING_PLANNED,
  recordIdOf,
  type Transaction,
  transactionOf,
} from './elasticsearch-transactions.ts';

/** Finishing and undoing commits of several rows, by their writer or, after a crash, by whoever meets them. */

const PAUSES_MS = [10, 20, 40, 80, 160];
const ATTEMPTS = 3;
const DAY_MS = 86_400_000;

/**
 * Reads rows for writing or for their history: commits that hold one of them are finished or undone first, and one
 * whose writer is at work is waited for, shortly. A row still claimed then has a version that no write matches.
 */
export async function readSettled(backend: Backend, documents: readonly string[]): Promise<Seen> {
  for (let attempt = 0; ; attempt++) {
    const seen = await lookUp(backend, documents);
    if (seen.unfinished.length === 0) return seen;
    let settled = false;
    for (const transaction of seen.unfinished) settled = (await settle(backend, transaction)) || settled;
    if (settled) continue;
    const wait = PAUSES_MS[attempt];
    if (wait === undefined) return seen;
    await pause(wait);
  }
}

/** Finishes a decided commit, or undoes one whose writer fell silent; false where its writer is still at work. */
export async function settle(backend: Backend, transaction: Transaction): Promise<boolean> {
  if (transaction.state === 'committed') {
    await writeOut(backend, transaction);
    return true;
  }
  if (transaction.state === 'prepared') {
    if (!isExpired(transaction, backend.clock())) return false;
    await abort(backend, transaction);
  }
  if (transaction.state === 'aborted') await removeMade(backend, [transaction.id]);
  return true;
}

/**
 * Undoes a prepared commit. Once the record says so, its writer cannot commit any more, and nobody counts its claims;
 * losing that race means that the writer just did, or that somebody else aborts.
 */
export async function abort(backend: Backend, transaction: Transaction): Promise<void> {
  const aborted = await advance(backend, transaction, { state: 'aborted', changes: NOTHING_PLANNED });
  if (aborted) await removeMade(backend, [transaction.id]);
}

/**
 * Writes what a committed transaction made of the rows it claims, and closes its record. Safe to repeat and to run
 * twice at once: a row is written only while the claim is on it.
 */
export async function writeOut(
  backend: Backend,
  transaction: Transaction,
  claimed?: ReadonlyMap<string, DocumentVersion>,
): Promise<void> {
  const what = 'write the changed memories';
  const { updates, erased } = transaction.changes;
  // The audit trail first: once a row is a tombstone, nothing leads to what may be left to do.
  if (erased.length > 0) {
    const scrubbed = await scrubbing(backend, transaction);
    refuseFailures(what, await bulk(backend, scrubbed, { what, refresh: false }));
  }
  let record = transaction;
  let versions = claimed ?? (await claims(backend, transaction));
  for (let attempt = 1; versions.size > 0 || attempt === 1; attempt++) {
    const on = (document: string) => ({ index: backend.index, id: document, version: versions.get(document) });
    const items: BulkItem[] = [];
    for (const { document, fields } of updates) {
      const { version, ...target } = on(document);
      const next = { ...fields, claim: null, written_by: transaction.id };
      if (version) items.push({ ...target, version, action: 'update', fields: next });
    }
    for (const { document, scope, id, at } of erased) {
      const { version, ...target } = on(document);
      const tombstone = tombstoneOf({ scope, id }, at, transaction.id);
      if (version) items.push({ ...target, version, action: 'index', document: tombstone });
    }
    // The record is touched along with them, so that one wait shows rows and audit entries alike.
    const outcomes = await bulk(backend, [...items, touch(backend, record)], { what, refresh: backend.refresh });
    const touched = outcomes.at(-1)?.version;
    if (touched) record = { ...record, version: touched };
    const failed = outcomes.find(({ failure }) => failure && !isConflict(failure));
    if (failed?.failure) throw refusal(what, failed.failure);
    const lost = outcomes.slice(0, items.length).some(({ failure }) => failure);
    if (!lost) break;
    versions = await claims(backend, transaction);
    if (attempt === ATTEMPTS && versions.size > 0) throw refusal(what, { status: 409, type: 'conflict', reason: '' });
  }
  await advance(backend, record, { state: 'done', changes: NOTHING_PLANNED });
}

const touch = (backend: Backend, { id, version }: Transaction): BulkItem => ({
  action: 'update',
  index: backend.log,
  id: recordIdOf(id),
  version,
  fields: { touched: iso(backend.clock()) },
});

/** The rows that the transaction still claims, as they stand. */
async function claims(backend: Backend, { id, changes }: Transaction): Promise<Map<string, DocumentVersion>> {
  const documents = [...changes.updates, ...changes.erased].map(({ document }) => document);
  const hits = await fetchHits(backend, documents);
  const held = hits.filter(({ _source }) => marksOf(_source).claim === id);
  return new Map(held.map((hit) => [hit._id, versionOf(hit)]));
}

/** Takes what was said out of the audit entries of erased memories. */
async function scrubbing(backend: Backend, { changes }: Transaction): Promise<BulkItem[]> {
  await backend.elastic.call('refresh the audit trail', (client, call) =>
    client.indices.refresh({ index: backend.log }, call),
  );
  const items: BulkItem[] = [];
  for (const scope of new Set(changes.erased.map((erased) => erased.scope))) {
    const ids = changes.erased.filter((erased) => erased.scope === scope).map(({ id }) => id);
    for (let at = 0; at < ids.length; at += 1000) {
      const filter = [
        { term: { type: 'audit' } },
        { term: { scope } },
        { terms: { memory: ids.slice(at, at + 1000) } },
      ];
      for await (const hit of pages(backend, backend.log, { bool: { filter } }, ['scope', 'id'])) {
        const fields = { before: null, after: null, detail: null };
        items.push({ action: 'update', index: backend.log, id: hit._id, fields });
      }
    }
  }
  return items;
}

/** Removes the rows and audit entries that aborted transactions made; they are hidden already. */
async function removeMade(backend: Backend, transactions: readonly string[]): Promise<number> {
  let removed = 0;
  for (const index of [backend.index, backend.log]) {
    await backend.elastic.call('refresh', (client, call) => client.indices.refresh({ index }, call));
    const items: BulkItem[] = [];
    const query = { terms: { batch: [...transactions] } };
    for await (const hit of pages(backend, index, query, ['scope', 'id'])) {
      items.push({ action: 'delete', index, id: hit._id, version: versionOf(hit) });
    }
    removed += items.length;
    refuseFailures('undo a transaction', await bulk(backend, items, { what: 'undo a transaction', refresh: false }));
  }
  return removed;
}

function refuseFailures(what: string, outcomes: readonly Outcome[]): void {
  const failed = outcomes.find(({ failure }) => failure && !isConflict(failure) && failure.status !== 404);
  if (failed?.failure) throw refusal(what, failed.failure);
}

export interface Settled {
  /** Decided commits that were written out now. */
  finished: number;
  /** Commits of silent writers that were undone now, and rows left over by aborted ones. */
  undone: number;
  /** Commits whose writers are at work. */
  busy: number;
}

/** Settles every commit there is a record of, and forgets those that ended more than a day ago: for `doctor`. */
export async function settleAll(backend: Backend): Promise<Settled> {
  await backend.elastic.call('refresh', (client, call) => client.indices.refresh({ index: backend.log }, call));
  const settled: Settled = { finished: 0, undone: 0, busy: 0 };
  const aborted: string[] = [];
  const old: BulkItem[] = [];
  for await (const hit of pages(backend, backend.log, { term: { type: 'transaction' } }, ['id'])) {
    const transaction = transactionOf(hit);
    const ended = transaction.state === 'done' || transaction.state === 'aborted';
    if (transaction.state === 'aborted') aborted.push(transaction.id);
    if (ended && backend.clock() - transaction.at > DAY_MS) {
      old.push({ action: 'delete', index: backend.log, id: hit._id, version: transaction.version });
    }
    if (ended) continue;
    if (!(await settle(backend, transaction))) settled.busy++;
    else if (transaction.state === 'committed') settled.finished++;
    else settled.undone++;
  }
  for (let at = 0; at < aborted.length; at += 1000) {
    settled.undone += await removeMade(backend, aborted.slice(at, at + 1000));
  }
  refuseFailures(
    'forget old transactions',
    await bulk(backend, old, { what: 'forget old transactions', refresh: false }),
  );
  return settled;
}
