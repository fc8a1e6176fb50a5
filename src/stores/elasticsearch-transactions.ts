import { z } from 'zod';
import { SupersededError } from '../errors.ts';
import { iso, type Scope } from '../memory.ts';
import { type Backend, type DocumentVersion, foundHit, type Hit, pause } from './elasticsearch-backend.ts';
import { coded, failureOfResponse, isRetryable, isUncertain } from './elasticsearch-errors.ts';

/** The records that make commits of several rows whole: one small document each, in the log index. */

/**
 * - `prepared`: the rows made under it are hidden, the rows claimed by it are as they were;
 * - `committed`: the rows made are visible, the rows claimed are what `changes` says, though not yet written;
 * - `done`: all is written, and `changes` is empty;
 * - `aborted`: the rows made are hidden for good, the claims count for nothing.
 *
 * Only the writer goes from prepared to committed, and on condition of the version; so whoever aborts wins or loses
 * that race, and nobody is left in between. A record stays for a day after its end (see settleAll): a request that
 * was lost on the way and arrives late finds it, and can neither bring it back nor show a row of an aborted commit.
 */
export type State = 'prepared' | 'committed' | 'done' | 'aborted';

const scope = z.string().transform((value) => value as Scope);
const changes = z.object({
  updates: z.array(z.object({ document: z.string(), fields: z.record(z.string(), z.unknown()) })),
  erased: z.array(z.object({ document: z.string(), scope, id: z.string(), at: z.string() })),
});
/** What becomes of the rows that the commit claims. */
export type PlannedChanges = z.output<typeof changes>;
export const NOTHING_PLANNED: PlannedChanges = { updates: [], erased: [] };

export interface Transaction {
  id: string;
  state: State;
  /** When its writer last showed that it is alive. */
  at: number;
  changes: PlannedChanges;
  version: DocumentVersion;
}

const record = z.object({
  type: z.literal('transaction'),
  state: z.enum(['prepared', 'committed', 'done', 'aborted']),
  at: z.string().transform((value) => Date.parse(value)),
  changes,
});

/** How long a writer may be silent before others undo its commit. */
export const LEASE_MS = 10_000;

export const isExpired = (transaction: Transaction, now: number): boolean => now - transaction.at > LEASE_MS;
/** Whether rows made under it are to be left out. */
export const isHiding = (transaction: Transaction | undefined): boolean =>
  transaction?.state === 'prepared' || transaction?.state === 'aborted';

export const recordIdOf = (id: string): string => `transaction|${id}`;

/** Reads a record out of its document, as `_mget` and `_search` give it. */
export function transactionOf(hit: Hit): Transaction {
  const parsed = record.safeParse(hit._source);
  if (!parsed.success || hit._seq_no === undefined || hit._primary_term === undefined) {
    throw new SupersededError('STORE_FAILED', 'A transaction record cannot be read.', {
      hint: 'Something else wrote to the log index, or a newer version did. Run `superseded doctor`.',
    });
  }
  const { state, at, changes: planned } = parsed.data;
  const version = { seqNo: hit._seq_no, primaryTerm: hit._primary_term };
  return { id: hit._id.slice(recordIdOf('').length), state, at, changes: planned, version };
}

/** The records with these ids that there are, as they are now and not as of the last refresh. */
export async function readTransactions(
  backend: Backend,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, Transaction>> {
  if (ids.length === 0) return new Map();
  const what = 'read the transactions';
  const request = { index: backend.log, ids: ids.map(recordIdOf) };
  const answer = await backend.elastic.call(what, (client, call) => client.mget(request, call), signal);
  const found = answer.docs.flatMap((hit) => {
    const record = foundHit(what, hit);
    return record ? [transactionOf(record)] : [];
  });
  return new Map(found.map((transaction) => [transaction.id, transaction]));
}

const ATTEMPTS = 4;

/** Writes a record, again where the answer was lost: a second write of the same meets a conflict, and does no harm. */
async function write(backend: Backend, record: Omit<Transaction, 'version'>, condition: object) {
  const { id, state, at, changes: planned } = record;
  const document = { type: 'transaction', id, state, at: iso(at), changes: planned };
  for (let attempt = 1; ; attempt++) {
    try {
      const { _seq_no: seqNo = -1, _primary_term: primaryTerm = 0 } = await backend.elastic.attempt((client, call) =>
        client.index({ index: backend.log, id: recordIdOf(id), require_alias: true, document, ...condition }, call),
      );
      return { ...record, version: { seqNo, primaryTerm } };
    } catch (error) {
      const failure = failureOfResponse(error);
      if (attempt === ATTEMPTS || !(isUncertain(error) || (failure && isRetryable(failure)))) throw error;
      await pause(50 * 2 ** attempt);
    }
  }
}

/** Makes the record of a new commit, before anything else of it is written. */
export async function begin(backend: Backend, id: string, planned: PlannedChanges): Promise<Transaction> {
  const made = { id, state: 'prepared' as const, at: backend.clock(), changes: planned };
  try {
    return await write(backend, made, { op_type: 'create' });
  } catch (error) {
    // The id is ours alone: a record that is there already is the one whose answer was lost.
    const there = failureOfResponse(error)?.status === 409 && (await readTransactions(backend, [id])).get(id);
    if (there) return there;
    throw coded('begin the transaction', error);
  }
}

/** Moves a record on; null where somebody else moved it since it was read. */
export async function advance(
  backend: Backend,
  from: Transaction,
  to: { state?: State; at?: number; changes?: PlannedChanges },
): Promise<Transaction | null> {
  const { seqNo, primaryTerm } = from.version;
  const next = { ...from, ...to };
  try {
    return await write(backend, next, { if_seq_no: seqNo, if_primary_term: primaryTerm });
  } catch (error) {
    if (failureOfResponse(error)?.status !== 409) throw coded('write the transaction', error);
    const now = (await readTransactions(backend, [from.id])).get(from.id);
    return now && isReached(now, next, to.state) ? now : null;
  }
}

/** Whether a record is where it was to go; then it was our own write whose answer was lost, or one that did the same. */
function isReached(now: Transaction, wanted: Transaction, state: State | undefined): boolean {
  if (state === undefined) return now.state === wanted.state && now.at === wanted.at;
  // Only its writer commits a transaction, and only then can another finish it.
  return now.state === state || (state === 'committed' && now.state === 'done');
}
