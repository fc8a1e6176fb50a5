import type { MemoryRow } from '../memory.ts';
import { type Backend, foundHit, type Hit, printVersion, versionOf } from './elasticsearch-backend.ts';
import { erasedAt, type Marks, marksOf, rowOf } from './elasticsearch-document.ts';
import {
  isHiding,
  readTransactions,
  recordIdOf,
  type Transaction,
  transactionOf,
} from './elasticsearch-transactions.ts';

/** Documents as memories, with the commits of several rows that are under way taken into account. */

export interface Found {
  document: string;
  row: MemoryRow;
  /** Where the row may be written; one that no write matches while another commit claims it. */
  version: string;
}

export interface Seen {
  found: Found[];
  /** Commits that these rows wait for: not decided yet, or decided and not written out. */
  unfinished: Transaction[];
  /** Batches whose rows were left out. */
  hidden: string[];
}

/** Never read for rows: large, and not needed. */
export const EXCLUDED = ['vector', 'passage'];

/** Batches known to be done, which they stay; the most recent ones. */
const finished = new WeakMap<object, Set<string>>();
const MOST_FINISHED = 10_000;

function finishedOf(backend: Backend): Set<string> {
  const known = finished.get(backend.elastic) ?? new Set<string>();
  finished.set(backend.elastic, known);
  return known;
}

/** Reads documents as they are now, not as of the last refresh. */
export async function fetchHits(backend: Backend, documents: readonly string[], signal?: AbortSignal): Promise<Hit[]> {
  if (documents.length === 0) return [];
  const request = { index: backend.index, ids: [...documents], _source_excludes: EXCLUDED };
  const answer = await backend.elastic.call(WHAT, (client, call) => client.mget(request, call), signal);
  return answer.docs.flatMap((hit) => foundHit(WHAT, hit) ?? []);
}

const WHAT = 'read the memories';

/** Reads rows by document; with the batches they are known to be of, one request tells all that is needed. */
export async function lookUp(
  backend: Backend,
  documents: readonly string[],
  { batches = [], signal }: { batches?: readonly string[]; signal?: AbortSignal | undefined } = {},
): Promise<Seen> {
  const known = finishedOf(backend);
  const asked = batches.filter((batch) => !known.has(batch));
  if (asked.length === 0) return resolve(backend, await fetchHits(backend, documents, signal), signal);
  const rows = documents.map((_id) => ({ _index: backend.index, _id, _source: { excludes: EXCLUDED } }));
  const records = asked.map((batch) => ({ _index: backend.log, _id: recordIdOf(batch) }));
  const answer = await backend.elastic.call(
    WHAT,
    (client, call) => client.mget({ docs: [...rows, ...records] }, call),
    signal,
  );
  const found = (hits: typeof answer.docs) => hits.flatMap((hit) => foundHit(WHAT, hit) ?? []);
  const read = found(answer.docs.slice(rows.length)).map(transactionOf);
  const transactions = new Map(read.map((transaction) => [transaction.id, transaction]));
  for (const batch of asked) if (isFinished(transactions.get(batch))) remember(known, batch);
  return resolve(backend, found(answer.docs.slice(0, rows.length)), signal, transactions);
}

/**
 * What these documents are: rows of commits that are not done are left out, claimed rows are what a decided commit
 * made of them, and tombstones are nothing.
 */
export async function resolve(
  backend: Backend,
  hits: readonly Hit[],
  signal?: AbortSignal,
  read: ReadonlyMap<string, Transaction> = new Map(),
): Promise<Seen> {
  const documents = hits
    .filter(({ _source }) => erasedAt(_source) === null)
    .map((hit) => ({ hit, marks: marksOf(hit._source) }));
  const known = finishedOf(backend);
  const asked = new Set<string>();
  for (const { marks } of documents) {
    if (marks.claim !== null) asked.add(marks.claim);
    if (marks.batch !== null && !known.has(marks.batch) && !read.has(marks.batch)) asked.add(marks.batch);
  }
  const transactions = new Map([...read, ...(await readTransactions(backend, [...asked], signal))]);
  for (const { marks } of documents) {
    if (marks.batch !== null && isFinished(transactions.get(marks.batch))) remember(known, marks.batch);
  }
  // A claim of a commit that is done was read before the commit wrote the row: read it again.
  const late = (marks: Marks) => marks.claim !== null && transactions.get(marks.claim)?.state === 'done';
  const again = documents.filter(({ marks }) => late(marks)).map(({ hit }) => hit._id);
  const fresh = new Map((await fetchHits(backend, again, signal)).map((hit) => [hit._id, hit]));
  const seen: Seen = { found: [], unfinished: [], hidden: [] };
  for (const { hit, marks } of documents) {
    const now = late(marks) ? fresh.get(hit._id) : hit;
    if (now && erasedAt(now._source) === null) add(seen, now, marks, transactions);
  }
  return seen;
}

const isFinished = (transaction: Transaction | undefined): boolean =>
  transaction === undefined || transaction.state === 'done';

function remember(known: Set<string>, batch: string): void {
  if (known.size >= MOST_FINISHED) known.clear();
  known.add(batch);
}

function add(seen: Seen, hit: Hit, marks: Marks, transactions: Map<string, Transaction>): void {
  const batch = marks.batch === null ? undefined : transactions.get(marks.batch);
  const claim = marks.claim === null ? undefined : transactions.get(marks.claim);
  if (batch && isHiding(batch)) {
    seen.hidden.push(batch.id);
    wait(seen, batch);
    return;
  }
  const pending = claim?.state === 'prepared' || claim?.state === 'committed';
  if (claim && pending) wait(seen, claim);
  const planned = claim?.state === 'committed' ? claim.changes : null;
  if (planned?.erased.some(({ document }) => document === hit._id)) return;
  const fields = planned?.updates.find(({ document }) => document === hit._id)?.fields ?? {};
  const row = rowOf({ ...(hit._source as object), ...fields });
  const version = claim && pending ? `claimed by ${claim.id}` : printVersion(versionOf(hit));
  seen.found.push({ document: hit._id, row, version });
}

function wait(seen: Seen, transaction: Transaction): void {
  if (!seen.unfinished.some(({ id }) => id === transaction.id)) seen.unfinished.push(transaction);
}
