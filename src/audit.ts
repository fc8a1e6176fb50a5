import { z } from 'zod';
import * as field from './fields.ts';
import { readCursor, writeCursor } from './list.ts';
import { iso, type Memory, toMemory } from './memory.ts';
import { check } from './validation.ts';
import { type Actor, notFound } from './verb.ts';

/** The verb that reads who did what to which memory, newest first. An erased memory's entries hold no contents. */

export const auditInput = z.strictObject({
  memory: field.id.optional(),
  limit: field.limit(50),
  cursor: z.string().optional(),
});

export interface Audited {
  at: string;
  actor: string;
  verb: string;
  memory: string;
  before: Memory | null;
  after: Memory | null;
  source: string;
  /** A reason, a note, the question feedback was given for. */
  detail: Record<string, string | number | boolean> | null;
}

export async function audit(actor: Actor, input: unknown): Promise<{ entries: Audited[]; nextCursor: string | null }> {
  const { memory, limit, cursor } = check(auditInput, input);
  const found = await actor.store.audit({
    ...(memory === undefined ? {} : { memory }),
    ...(cursor === undefined ? {} : { after: readCursor(cursor) }),
    limit: limit + 1,
  });
  if (memory !== undefined && found.length === 0 && cursor === undefined) throw notFound(memory);
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return {
    entries: entries.map(({ at, before, after, actor: who, verb, memory: id, source, detail }) => {
      const clocks = { asOf: at, knownAt: at };
      const seen = (row: typeof before): Memory | null => row && toMemory(row, clocks);
      return { at: iso(at), actor: who, verb, memory: id, before: seen(before), after: seen(after), source, detail };
    }),
    nextCursor: found.length > limit && last ? writeCursor(last.at, last.id) : null,
  };
}
