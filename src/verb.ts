import { v7 as uuidv7 } from 'uuid';
import type { Embedder, EmbeddingModel } from './embedder.ts';
import { SupersededError, VersionConflict } from './errors.ts';
import { iso, type MemoryRow, passageOf, SHARED } from './memory.ts';
import type { AuditEntry, Changes, ScopedStore, Stored } from './store.ts';
import { invalid } from './validation.ts';

/** What every verb works with: one user's store, who acts through which surface, the clock, and the embedder. */
export interface Actor {
  store: ScopedStore;
  /** Null where the database embeds. */
  embedder: Embedder | null;
  model: EmbeddingModel;
  user: string;
  source: string;
  /** The admission score below which a new memory is held for review; null lets everything in. */
  admission: number | null;
  clock: () => number;
  newId: (at: number) => string;
}

/** The source of what the service does by itself: no person spoke. */
export const AUTOMATIC = 'automatic';

/** When a person spoke of a memory that is written at `at`; nobody does of what was derived from others. */
export const heardAt = (actor: Actor, at: number, derivedFrom: readonly string[] = []): number | null =>
  actor.source === AUTOMATIC || derivedFrom.length > 0 ? null : at;

/** Verbs by which nobody speaks of a memory as it is now. */
const SILENT: readonly string[] = ['import', 'unlink'];

let sequence = Math.floor(Math.random() * 2 ** 31);

/** Time-ordered ids (UUIDv7) for the instant of the verb; at one instant in the order they were made. */
export const timeOrderedId = (at: number): string => {
  sequence = (sequence + 1) % 2 ** 32;
  return uuidv7({ msecs: Math.max(0, at), seq: sequence });
};

export interface Plan<T> {
  changes: Changes | null;
  result: T;
}

const ATTEMPTS = 12;

/**
 * Reads, plans and writes until nobody else wrote in between; a plan is made anew from fresh reads each time.
 * Throws CONFLICT when others keep winning.
 */
export async function transact<T>(actor: Actor, plan: () => Promise<Plan<T>>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const { changes, result } = await plan();
    if (changes === null) return result;
    try {
      await actor.store.commit(counted(actor, changes));
      return result;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      if (attempt === ATTEMPTS) {
        throw new SupersededError('CONFLICT', 'Other writers kept changing the same memories.', {
          hint: 'Nothing was written. Try again.',
          cause: error,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
    }
  }
}

/**
 * The changes with every changed row counted up and heard of, and its audit entry named so that entries of one memory at one instant
 * sort by that count, in every store and whichever process wrote them.
 */
function counted(actor: Actor, changes: Changes): Changes {
  const { update = [], audit = [] } = changes;
  const next = (row: MemoryRow): MemoryRow => {
    const entry = audit.find(({ memory, before }) => memory === row.id && before !== null);
    const at = entry?.at ?? row.changedAt;
    const heard = entry && !SILENT.includes(entry.verb) ? heardAt(actor, at) : null;
    return {
      ...row,
      changes: row.changes + 1,
      changedAt: Math.max(row.changedAt, at),
      // What the service wrote by itself stays its own: counted from the first word on, it would be counted for changing.
      heardAt: row.heardAt === null ? null : Math.max(row.heardAt, heard ?? row.heardAt),
    };
  };
  return {
    ...changes,
    update: update.map(({ row, version }) => ({ row: next(row), version })),
    audit: audit.map((entry) => {
      const after = entry.after && entry.before ? next(entry.after) : entry.after;
      return { ...entry, after, id: entryId(entry.at, after) };
    }),
  };
}

/** An erasure sorts after every change. */
const entryId = (at: number, after: MemoryRow | null): string =>
  uuidv7({ msecs: Math.max(0, at), seq: after?.changes ?? 2 ** 32 - 1 });

/** The own rows with these ids, in their order; NOT_FOUND for an unknown one, FORBIDDEN for a shared one. */
export async function ownRows(actor: Actor, ids: readonly string[]): Promise<Stored[]> {
  if (ids.length === 0) return [];
  const found = new Map((await actor.store.get(ids)).map((stored) => [stored.row.id, stored]));
  return ids.map((id) => {
    const stored = found.get(id);
    if (!stored) throw notFound(id);
    if (stored.row.scope === SHARED && actor.store.scope !== SHARED) {
      throw new SupersededError('FORBIDDEN', `Memory ${id} is shared: everyone reads it and no user changes it.`);
    }
    return stored;
  });
}

/** The own row a verb is called on; throws as `ownRows`, and ERASED for one that was erased. */
export async function ownRow(actor: Actor, memory: string): Promise<Stored> {
  await refuseErased(actor, memory);
  const [stored] = await ownRows(actor, [memory]);
  if (!stored) throw notFound(memory);
  return stored;
}

/** Throws ERASED where the own memory of this id was erased. */
export async function refuseErased(actor: Actor, memory: string): Promise<void> {
  const [tombstone] = await actor.store.tombstones([memory]);
  if (!tombstone) return;
  throw new SupersededError('ERASED', `Memory ${memory} was erased on ${iso(tombstone.at)}.`, {
    hint: 'Nothing of it can be read or brought back.',
  });
}

export const notFound = (id: string): SupersededError =>
  new SupersededError('NOT_FOUND', `No memory has the id ${id}.`, { hint: 'Use an id that recall or list returned.' });

/** CONFLICT for a closed row, naming the open memory that its chain leads to, or null. */
export async function closedConflict(actor: Actor, row: MemoryRow): Promise<SupersededError> {
  const head = await headOf(actor, row);
  return new SupersededError('CONFLICT', `Memory ${row.id} is closed; a memory is closed once.`, {
    head,
    hint:
      head === null
        ? 'Nothing open follows it; reopen it or remember anew.'
        : `The open memory of its chain is ${head}.`,
  });
}

async function headOf(actor: Actor, from: MemoryRow): Promise<string | null> {
  const seen = new Set([from.id]);
  for (let next = from.supersededBy; next !== null && !seen.has(next); ) {
    seen.add(next);
    const row: MemoryRow | undefined = (await actor.store.get([next]))[0]?.row;
    if (!row) return null;
    if (row.closedAt === null) return row.id;
    next = row.supersededBy;
  }
  return null;
}

/**
 * The instant of a verb: the caller's, else the clock; never before what is already recorded of the rows concerned.
 * A caller's instant before a row was created is INVALID_INPUT.
 */
export function instantOf(actor: Actor, recordedAt: number | undefined, rows: readonly MemoryRow[]): number {
  const created = latest(rows, (row) => row.createdAt);
  if (recordedAt !== undefined) {
    if (recordedAt >= created) return recordedAt;
    throw invalid([
      { path: 'recordedAt', message: 'is before the memory concerned was recorded: give a later instant' },
    ]);
  }
  return latest(rows, (row) => row.changedAt, actor.clock());
}

/** Not before `from`. Takes any number of rows, which the arguments of Math.max do not. */
export const latest = <T>(rows: readonly T[], instant: (row: T) => number, from = Number.NEGATIVE_INFINITY): number =>
  rows.reduce((last, row) => Math.max(last, instant(row)), from);

/** The audit entry of one row's change by this verb. */
export function entryOf(
  actor: Actor,
  verb: string,
  at: number,
  before: MemoryRow | null,
  after: MemoryRow | null,
  detail: AuditEntry['detail'] = null,
): AuditEntry {
  const memory = (after ?? before)?.id ?? '';
  return { id: entryId(at, after), at, actor: actor.user, verb, memory, before, after, source: actor.source, detail };
}

/** Throws CONFLICT for the first row that is closed. */
export async function mustBeOpen(actor: Actor, rows: readonly MemoryRow[]): Promise<void> {
  for (const row of rows) if (row.closedAt !== null) throw await closedConflict(actor, row);
}

export async function openRow(actor: Actor, memory: string): Promise<Stored> {
  const stored = await ownRow(actor, memory);
  await mustBeOpen(actor, [stored.row]);
  return stored;
}

/** One open row changes and nothing else. */
export async function change(
  actor: Actor,
  verb: string,
  memory: string,
  at: number | undefined,
  next: (row: MemoryRow, at: number) => MemoryRow,
  detail: AuditEntry['detail'] = null,
): Promise<MemoryRow> {
  return transact(actor, async () => {
    const { row, version } = await openRow(actor, memory);
    const when = instantOf(actor, at, [row]);
    const after = next(row, when);
    const audit = [entryOf(actor, verb, when, row, after, detail)];
    return { changes: { update: [{ row: after, version }], audit }, result: after };
  });
}

/** The row's vector, or null where the database embeds. */
export async function vectorOf(actor: Actor, row: Pick<MemoryRow, 'title' | 'content'>): Promise<Float32Array | null> {
  if (actor.embedder === null) return null;
  return (await actor.embedder.embedPassages([passageOf(row)]))[0] ?? null;
}

/** Which superseded ids had been linked by an instant: a link counts from the closing of what it replaced. */
export async function linkedBy(
  actor: Actor,
  rows: readonly MemoryRow[],
  knownAt: number,
  loaded: readonly MemoryRow[] = [],
): Promise<(id: string) => boolean> {
  const own = [...loaded, ...rows].filter((row) => row.scope === actor.store.scope);
  const closings = new Map(own.map((row) => [row.id, row.closedAt]));
  const named = [...new Set(rows.flatMap((row) => row.supersedes))].filter((id) => !closings.has(id));
  const found = named.length === 0 ? [] : await actor.store.get(named);
  for (const { row } of found) closings.set(row.id, row.closedAt);
  return (id) => (closings.get(id) ?? 0) <= knownAt;
}
