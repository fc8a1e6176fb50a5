import { z } from 'zod';
import { instant, LIMITS, reason, text } from './fields.ts';
import type { MemoryRow } from './memory.ts';
import { check } from './validation.ts';
import { type Actor, change, entryOf, instantOf, openRow, transact } from './verb.ts';

/** The verbs that move trust and freshness: confirm, deny, feedback. Reading moves neither. */

const recordedAt = instant.optional();

export const confirmInput = z.strictObject({ recordedAt });
export const denyInput = z.strictObject({ certain: z.boolean().default(false), reason, recordedAt });
export const feedbackInput = z.strictObject({
  outcome: z.number().min(-1, 'must be -1 to 1').max(1, 'must be -1 to 1'),
  query: text(LIMITS.query, 1).optional(),
  note: text(LIMITS.reason).optional(),
  recordedAt,
});

const DENIED_CONFIDENCE = 0.3;

/** The row with its trust lowered until someone confirms either side. */
export const deniedRow = (row: MemoryRow, deniedBy: string | null, at: number): MemoryRow => ({
  ...row,
  confidence: Math.min(row.confidence, DENIED_CONFIDENCE),
  deniedBy: deniedBy ?? row.deniedBy,
  deniedAt: at,
});

/** The row closed as never true. */
const neverTrue = (row: MemoryRow, at: number, why: string | null): MemoryRow => ({
  ...row,
  closedAt: at,
  closedAs: 'denied',
  closedReason: why,
  validTo: row.validFrom,
  deniedAt: row.deniedAt ?? at,
});

const confirmedRow = (row: MemoryRow, at: number): MemoryRow => ({
  ...row,
  confidence: 1,
  deniedBy: null,
  deniedAt: null,
  confirmedAt: Math.max(row.confirmedAt ?? at, at),
  freshAt: Math.max(row.freshAt, at),
});

/** Says that a memory still holds: fresh and fully trusted again. What it denies closes as never true. */
export async function confirm(actor: Actor, memory: string, input: unknown): Promise<MemoryRow> {
  const request = check(confirmInput, input);
  return transact(actor, async () => {
    const { row, version } = await openRow(actor, memory);
    const denied = row.denies.length === 0 ? [] : await actor.store.get(row.denies);
    const own = denied.filter((stored) => stored.row.scope === actor.store.scope);
    const open = own.filter((stored) => stored.row.closedAt === null);
    const at = instantOf(actor, request.recordedAt, [row, ...open.map((stored) => stored.row)]);
    const after = confirmedRow(row, at);
    const closed = open.map((stored) => ({ ...stored, row: neverTrue(stored.row, at, null) }));
    const audit = [
      entryOf(actor, 'confirm', at, row, after),
      ...open.map((stored, index) => entryOf(actor, 'deny', at, stored.row, closed[index]?.row ?? null)),
    ];
    return { changes: { update: [{ row: after, version }, ...closed], audit }, result: after };
  });
}

/** Says that a memory is wrong: its trust falls until either is confirmed; when certain, it closes as never true. */
export async function deny(actor: Actor, memory: string, input: unknown): Promise<MemoryRow> {
  const request = check(denyInput, input);
  const detail = request.reason === null ? null : { reason: request.reason };
  const next = (row: MemoryRow, at: number) =>
    request.certain ? neverTrue(row, at, request.reason) : deniedRow(row, null, at);
  return change(actor, 'deny', memory, request.recordedAt, next, detail);
}

/** Records how acting on a memory turned out, −1…1; a good outcome refreshes it, a bad one lowers its trust. */
export async function feedback(actor: Actor, memory: string, input: unknown): Promise<MemoryRow> {
  const { outcome, query, note, recordedAt: given } = check(feedbackInput, input);
  const detail = { outcome, ...(query ? { query } : {}), ...(note ? { note } : {}) };
  const next = (row: MemoryRow, at: number): MemoryRow => ({
    ...row,
    feedbackSum: row.feedbackSum + outcome,
    feedbackCount: row.feedbackCount + 1,
    freshAt: outcome > 0 ? Math.max(row.freshAt, at) : row.freshAt,
  });
  return change(actor, 'feedback', memory, given, next, detail);
}
