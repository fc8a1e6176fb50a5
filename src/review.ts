import { z } from 'zod';
import { type AgingTable, windowOf } from './aging.ts';
import * as field from './fields.ts';
import { close, reopen, supersede } from './lifecycle.ts';
import { everything } from './list.ts';
import { feedbackOf, iso, type Memory, type MemoryRow, statusOf, toMemory } from './memory.ts';
import { MS_PER_HOUR } from './score.ts';
import { confirm } from './trust.ts';
import { check, invalid } from './validation.ts';
import { type Actor, entryOf, instantOf, latest, notFound, ownRow, ownRows, transact } from './verb.ts';

/** What a person should look at, read off the memories themselves, and the four ways to settle it. */

export type Reason = 'unconfirmed' | 'low-trust' | 'conflict' | 'held';

export interface ReviewItem {
  /** The id of the memory: the item is settled by it. */
  id: string;
  reasons: Reason[];
  memory: Memory;
  /** With a conflict: open memories that say nearly the same. */
  similar: string[];
}

export const reviewInput = z.strictObject({
  action: z.enum(['keep', 'close', 'merge', 'dismiss'], {
    error: 'is not an action: use keep, close, merge or dismiss',
  }),
  /** With merge: the open memory that takes its place. */
  into: field.id.optional(),
  recordedAt: field.instant.optional(),
});

const MOST_ITEMS = 100;
const LOW_TRUST = 0.5;

/** Open memories unconfirmed beyond twice their window, little trusted or nearly the same as another, and held writes. */
export async function review(actor: Actor, aging: AgingTable): Promise<{ items: ReviewItem[] }> {
  const rows = (await everything(actor)).map(({ row }) => row);
  const now = latest(rows, (row) => row.createdAt, actor.clock());
  const clocks = { asOf: now, knownAt: now };
  const open = new Set(
    rows.filter((row) => row.closedAt === null && statusOf(row, clocks) === 'open').map(({ id }) => id),
  );
  const items = rows.flatMap((row): ReviewItem[] => {
    const similar = row.similarTo.filter((id) => open.has(id));
    const reasons = reasonsOf(row, { open: open.has(row.id), similar, aging, now });
    return reasons.length === 0 ? [] : [{ id: row.id, reasons, memory: toMemory(row, clocks), similar }];
  });
  return { items: items.slice(0, MOST_ITEMS) };
}

function reasonsOf(
  row: MemoryRow,
  { open, similar, aging, now }: { open: boolean; similar: string[]; aging: AgingTable; now: number },
): Reason[] {
  if (row.closedAs === 'held') return row.reviewedAt === null && row.reopenedBy === null ? ['held'] : [];
  if (!open) return [];
  const { halfLifeHours } = windowOf(aging, row.topic);
  const looked = Math.max(row.freshAt, row.reviewedAt ?? row.freshAt);
  const reasons: Reason[] = [];
  if (halfLifeHours !== null && now - looked > 2 * halfLifeHours * MS_PER_HOUR) reasons.push('unconfirmed');
  const doubted = row.confidence < LOW_TRUST || feedbackOf(row) <= -LOW_TRUST;
  if (doubted && (row.reviewedAt === null || row.reviewedAt < (row.deniedAt ?? 0))) reasons.push('low-trust');
  if (similar.length > 0 && row.reviewedAt === null) reasons.push('conflict');
  return reasons;
}

/** Settles an item: keep confirms it (or lets a held write in), close ends it, merge replaces it, dismiss lets it be. */
export async function resolveReview(
  actor: Actor,
  memory: string,
  input: unknown,
): Promise<{ id: string; action: string; row: MemoryRow }> {
  const { action, into, recordedAt } = check(reviewInput, input);
  const when = recordedAt === undefined ? {} : { recordedAt: iso(recordedAt) };
  if ((action === 'merge') !== (into !== undefined)) {
    throw invalid([
      { path: 'into', message: 'goes with merge, and only with it: name what takes the place of this one' },
    ]);
  }
  if (into === memory) {
    throw invalid([{ path: 'into', message: 'is the memory itself: name another' }]);
  }
  const { row } = await ownRow(actor, memory);
  if (into !== undefined) await ownRows(actor, [into]);
  const held = row.closedAs === 'held';
  if (action === 'merge' && into !== undefined) {
    if (held) await looked(actor, memory, recordedAt);
    else await supersede(actor, into, { targets: [memory], ...when }, { sameValue: true });
  } else if (action === 'close' && !held) {
    await close(actor, memory, { reason: 'closed in review', ...when });
  } else if (action === 'keep' && held) {
    const { row: copy } = await reopen(actor, memory, when);
    return { id: memory, action, row: await confirm(actor, copy.id, when) };
  } else if (action === 'keep') {
    await confirm(actor, memory, when);
    await looked(actor, memory, recordedAt);
  } else {
    await looked(actor, memory, recordedAt);
  }
  const [after] = await actor.store.get([memory]);
  if (!after) throw notFound(memory);
  return { id: memory, action, row: after.row };
}

/** Notes that a person saw the memory and let it stand. */
const looked = (actor: Actor, memory: string, recordedAt: number | undefined): Promise<MemoryRow> =>
  transact(actor, async () => {
    const { row, version } = await ownRow(actor, memory);
    const at = instantOf(actor, recordedAt, [row]);
    const after = { ...row, reviewedAt: at };
    return {
      changes: { update: [{ row: after, version }], audit: [entryOf(actor, 'review', at, row, after)] },
      result: after,
    };
  });
