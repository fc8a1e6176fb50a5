import { z } from 'zod';
import { SupersededError } from './errors.ts';
import { id, instant, LIMITS, reason } from './fields.ts';
import { type MemoryRow, normalisedText, statusOf } from './memory.ts';
import { check, invalid } from './validation.ts';
import {
  type Actor,
  AUTOMATIC,
  change,
  closedConflict,
  entryOf,
  heardAt,
  instantOf,
  mustBeOpen,
  ownRow,
  ownRows,
  transact,
  vectorOf,
} from './verb.ts';

/** The verbs on memories that exist: each reads its rows, decides, and writes rows and audit in one commit. */

const recordedAt = instant.optional();

export const targets = z
  .array(id)
  .min(1, 'is empty: name at least one memory')
  .transform((ids) => [...new Set(ids)].sort())
  .refine((ids) => ids.length <= LIMITS.targets, `are more than ${LIMITS.targets}: send fewer`);

export const supersedeInput = z.strictObject({ targets, recordedAt });
export const closeInput = z.strictObject({ reason, validTo: instant.optional(), recordedAt });
export const reopenInput = z.strictObject({ reason, recordedAt });
const earlier = (a: number | null, b: number): number => (a === null ? b : Math.min(a, b));

/** The row closed because `successor` replaces it: it was true until the successor became true, or its own planned end. */
export const supersededRow = (
  row: MemoryRow,
  successor: { id: string; validFrom: number },
  at: number,
  changedMind: boolean,
): MemoryRow => ({
  ...row,
  changedMind,
  closedAt: at,
  closedAs: 'superseded',
  validTo: earlier(row.plannedTo, successor.validFrom),
  supersededBy: successor.id,
});

/** Whether a person replaced a value by a different one; the same words under another topic or kind are no change. */
export const mindChanged = (actor: Actor, row: MemoryRow, successor: MemoryRow): boolean =>
  actor.source !== AUTOMATIC && normalisedText(row.content) !== normalisedText(successor.content);

/** Links an existing memory as the successor of others, which close; `sameValue` where it merely says it in other words. */
export async function supersede(actor: Actor, memory: string, input: unknown, { sameValue = false } = {}) {
  const request = check(supersedeInput, input);
  if (request.targets.includes(memory))
    throw invalid([{ path: 'targets', message: 'holds the memory itself: remove it' }]);
  return transact(actor, async () => {
    const successor = await ownRow(actor, memory);
    const olds = await ownRows(actor, request.targets);
    const rows = olds.map(({ row }) => row);
    await refuseCycle(actor, successor.row, rows);
    await mustBeOpen(actor, [successor.row, ...rows]);
    for (const row of rows) refuseEarlier('targets', successor.row, row);
    const at = instantOf(actor, request.recordedAt, [successor.row, ...rows]);
    const linked = {
      ...successor.row,
      supersedes: [...new Set([...successor.row.supersedes, ...request.targets])].sort(),
    };
    const closed = olds.map(({ row, version }) => ({
      row: supersededRow(row, linked, at, !sameValue && mindChanged(actor, row, linked)),
      version,
    }));
    const audit = [
      ...olds.map(({ row }, index) => entryOf(actor, 'supersede', at, row, closed[index]?.row ?? null)),
      entryOf(actor, 'supersede', at, successor.row, linked),
    ];
    const update = [...closed, { row: linked, version: successor.version }];
    return { changes: { update, audit }, result: { row: linked, superseded: request.targets } };
  });
}

/** A successor is neither recorded nor true before what it replaces. */
export function refuseEarlier(path: string, successor: { createdAt: number; validFrom: number }, row: MemoryRow): void {
  if (successor.validFrom < row.validFrom) {
    throw invalid([{ path, message: `${row.id} became true after its successor: give a later validFrom` }]);
  }
  if (successor.createdAt < row.createdAt) {
    throw invalid([{ path, message: `${row.id} was recorded after its successor: swap the two` }]);
  }
}

/** A target that already follows the successor, over any number of links, would close a circle. */
async function refuseCycle(actor: Actor, successor: MemoryRow, rows: readonly MemoryRow[]): Promise<void> {
  const wanted = new Set(rows.map((row) => row.id));
  const seen = new Set<string>();
  for (let next = successor.supersededBy; next !== null && !seen.has(next); ) {
    if (wanted.has(next)) {
      throw new SupersededError(
        'CONFLICT',
        `Memory ${successor.id} was itself superseded on the way to ${next}: a cycle.`,
        {
          head: null,
          hint: 'Remember the returning statement as a new memory that supersedes the open one.',
        },
      );
    }
    seen.add(next);
    next = (await actor.store.get([next]))[0]?.row.supersededBy ?? null;
  }
}

/** Ends a memory without a successor, now or at an instant in the past or the future. */
export async function close(actor: Actor, memory: string, input: unknown): Promise<MemoryRow> {
  const request = check(closeInput, input);
  return change(actor, 'close', memory, request.recordedAt, (row, at) => {
    const upcoming = row.validFrom > at;
    if (request.validTo !== undefined && request.validTo < row.validFrom && !upcoming) {
      throw invalid([{ path: 'validTo', message: 'is before the memory became true: give a later instant' }]);
    }
    const end = upcoming ? row.validFrom : earlier(row.plannedTo, request.validTo ?? at);
    return { ...row, closedAt: at, closedAs: 'retired', closedReason: request.reason, validTo: end };
  });
}

/** Undoes a closing: a copy that is true from the old end on. The old row and its successor stay as they are. */
export async function reopen(actor: Actor, memory: string, input: unknown) {
  const request = check(reopenInput, input);
  return transact(actor, async () => {
    const { row, version } = await ownRow(actor, memory);
    if (row.closedAt === null || row.validTo === null) {
      throw new SupersededError('CONFLICT', `Memory ${memory} is open: there is nothing to reopen.`, { head: memory });
    }
    if (row.reopenedBy !== null) {
      throw new SupersededError('CONFLICT', `Memory ${memory} was already reopened as ${row.reopenedBy}.`, {
        head: row.reopenedBy,
      });
    }
    if (request.recordedAt !== undefined && request.recordedAt < row.closedAt) {
      throw invalid([{ path: 'recordedAt', message: 'is before the memory was closed: give a later instant' }]);
    }
    const at = instantOf(actor, request.recordedAt, [row]);
    const copy: MemoryRow = {
      ...row,
      id: actor.newId(at),
      createdAt: at,
      validFrom: row.validTo,
      validTo: null,
      closedAt: null,
      closedAs: null,
      closedReason: null,
      supersedes: [],
      supersededBy: null,
      denies: [],
      deniedBy: null,
      deniedAt: null,
      reopens: row.id,
      reopenedBy: null,
      reopenedAt: null,
      changedMind: false,
      changedAt: at,
      heardAt: heardAt(actor, at, row.derivedFrom),
      changes: 0,
    };
    // A change that was undone was no change of mind.
    const old = { ...row, changedMind: false, reopenedBy: copy.id, reopenedAt: at };
    const audit = [
      entryOf(actor, 'reopen', at, null, copy, request.reason === null ? null : { reason: request.reason }),
      entryOf(actor, 'reopen', at, row, old),
    ];
    const vector = await vectorOf(actor, copy);
    const changes = { insert: [{ row: copy, vector }], update: [{ row: old, version }], audit };
    return { changes, result: { row: copy, openSuccessor: await openSuccessorOf(actor, row, at) } };
  });
}

async function openSuccessorOf(actor: Actor, row: MemoryRow, at: number): Promise<MemoryRow | null> {
  if (row.supersededBy === null) return null;
  const head = (await closedConflict(actor, row)).head ?? null;
  const found = head === null ? undefined : (await actor.store.get([head]))[0]?.row;
  return found && ['open', 'upcoming'].includes(statusOf(found, { asOf: at, knownAt: at })) ? found : null;
}
