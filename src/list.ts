import { z } from 'zod';
import * as field from './fields.ts';
import { type Memory, toMemory } from './memory.ts';
import type { Filter, Stored } from './store.ts';
import { check, refuse } from './validation.ts';
import { type Actor, linkedBy } from './verb.ts';

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
  const linked = await linkedBy(actor, rows, known);
  return {
    memories: rows.map((row) => toMemory(row, clocks, linked)),
    nextCursor: found.length > limit && last ? writeCursor(last.createdAt, last.id) : null,
  };
}

/** All own memories that the filter lets through, in pages. */
export async function everything(actor: Actor, filter: Partial<Filter> = {}): Promise<Stored[]> {
  const all: Stored[] = [];
  for (;;) {
    const last = all.at(-1)?.row;
    const after = last ? { after: { createdAt: last.createdAt, id: last.id } } : {};
    const page = await actor.store.find({ status: 'all', ...filter, limit: 1000, ...after });
    all.push(...page);
    if (page.length < 1000) return all;
  }
}

/** A place in a list ordered by instant and id, opaque to callers. */
export const writeCursor = (at: number, id: string): string => Buffer.from(`${at} ${id}`).toString('base64url');

export function readCursor(cursor: string): { at: number; id: string } {
  const match = /^(-?\d{1,15}) ([A-Za-z0-9._:-]{1,128})$/.exec(Buffer.from(cursor, 'base64url').toString());
  const place = { at: Number(match?.[1]), id: match?.[2] ?? '' };
  if (match && writeCursor(place.at, place.id) === cursor) return place;
  return refuse('cursor', 'is not one that a list returned: leave it out to start anew');
}
