import { z } from 'zod';
import * as field from './fields.ts';
import { type Memory, type MemoryRow, toMemory } from './memory.ts';
import { check, refuse } from './validation.ts';
import type { Actor } from './verb.ts';

/** The verb that pages through a user's own memories, newest first. */

export const DEFAULT_PAGE = 50;

export const listInput = z.strictObject({
  status: z.enum(['open', 'closed', 'all'], { error: 'is not a status: use open, closed or all' }).default('open'),
  kind: field.kind.optional(),
  topic: field.topic.optional(),
  tag: field.text(field.LIMITS.tag, 1).optional(),
  asOf: field.instant.optional(),
  knownAt: field.instant.optional(),
  limit: field.limit(DEFAULT_PAGE),
  cursor: z.string().optional(),
  now: field.instant.optional(),
});

export interface Page {
  memories: Memory[];
  /** Give it as `cursor` for the next page; null on the last. */
  nextCursor: string | null;
}

export async function list(actor: Actor, input: unknown): Promise<Page> {
  const { cursor, limit, asOf, knownAt, now, ...filter } = check(listInput, input);
  const known = knownAt ?? now ?? actor.clock();
  const clocks = { asOf: asOf ?? known, knownAt: known };
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const found = await actor.store.find({
    ...given,
    clocks,
    limit: limit + 1,
    ...(after ? { after: { createdAt: after.at, id: after.id } } : {}),
  });
  const rows = found.slice(0, limit).map(({ row }) => row);
  const last = rows.at(-1);
  const linkedBy = await linkedAt(actor, rows, known);
  return {
    memories: rows.map((row) => toMemory(row, clocks, linkedBy)),
    nextCursor: found.length > limit && last ? writeCursor(last.createdAt, last.id) : null,
  };
}

/** Which superseded ids had been linked by then; asks the store only where the reading is of the past. */
async function linkedAt(actor: Actor, rows: readonly MemoryRow[], knownAt: number): Promise<(id: string) => boolean> {
  const named = [...new Set(rows.flatMap((row) => row.supersedes))];
  if (named.length === 0 || knownAt >= actor.clock()) return () => true;
  const found = await actor.store.get(named);
  const later = new Set(found.filter(({ row }) => (row.closedAt ?? 0) > knownAt).map(({ row }) => row.id));
  return (id) => !later.has(id);
}

/** A place in a list ordered by instant and id, opaque to callers. */
export const writeCursor = (at: number, id: string): string => Buffer.from(`${at} ${id}`).toString('base64url');

export function readCursor(cursor: string): { at: number; id: string } {
  const match = /^(-?\d{1,16}) (\S{1,128})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match?.[1] || !match[2]) return refuse('cursor', 'is not one that a list returned: leave it out to start anew');
  return { at: Number(match[1]), id: match[2] };
}
