import { z } from 'zod';
import { SupersededError } from './errors.ts';
import * as field from './fields.ts';
import { everything } from './list.ts';
import { iso, passageOf, SHARED } from './memory.ts';
import type { Filter, Stored } from './store.ts';
import { namesOf, withoutLinksTo } from './transfer-line.ts';
import { check, refuse } from './validation.ts';
import { type Actor, entryOf, instantOf, notFound, transact } from './verb.ts';

/**
 * The verbs that remove for good: text, vectors, postings, cached vectors, audit contents, copies made by reopening.
 * What stays is a tombstone (id and instant), and neighbours that stay closed and whose links no longer name the erased.
 */

export const eraseInput = z.strictObject({ force: z.boolean().default(false), recordedAt: field.instant.optional() });
export const eraseAllInput = z.strictObject({ confirm: z.string(), recordedAt: field.instant.optional() });

export interface Receipt {
  erased: string;
  at: string;
}

/** Erases one memory. The same receipt again where it is erased already; CONFLICT while others were derived from it. */
export async function erase(actor: Actor, memory: string, input: unknown): Promise<Receipt> {
  const { force, recordedAt } = check(eraseInput, input);
  const { receipt, texts } = await transact(actor, async () => {
    const [stored] = await actor.store.get([memory]);
    if (!stored) {
      const [tombstone] = await actor.store.tombstones([memory]);
      if (!tombstone) throw notFound(memory);
      return { changes: null, result: { receipt: { erased: memory, at: iso(tombstone.at) }, texts: [] } };
    }
    if (stored.row.scope === SHARED && actor.store.scope !== SHARED) {
      throw new SupersededError('FORBIDDEN', `Memory ${memory} is shared: everyone reads it and no user erases it.`);
    }
    const copies = await withCopies(actor, stored);
    const ids = new Set(copies.map(({ row }) => row.id));
    const derived = await inbound(actor, ids, (id) => ({ derivedFrom: id }));
    const others = derived.filter(({ row }) => !ids.has(row.id));
    const deniers = await inbound(actor, ids, (id) => ({ denies: id }));
    if (others.length > 0 && !force) throw stillNeeded(memory, others);
    const neighbours = await rowsNaming(actor, copies, [...others, ...deniers]);
    // No change of a neighbour may be dated before its last one either; a caller's own instant counts for the memory.
    const dated = recordedAt === undefined ? neighbours.map(({ row }) => row) : [];
    const at = instantOf(actor, recordedAt, [stored.row, ...dated]);
    const freed = neighbours.map((neighbour) => ({ ...neighbour, row: withoutLinksTo(neighbour.row, ids) }));
    const audit = [
      ...copies.map(({ row }) => ({ ...entryOf(actor, 'erase', at, null, null), memory: row.id })),
      ...neighbours.map((old, index) => entryOf(actor, 'unlink', at, old.row, freed[index]?.row ?? null)),
    ];
    const texts = copies.map(({ row }) => passageOf(row));
    // Before the commit too: were it to fail only afterwards, a repeat would know no text to purge.
    await actor.embedder?.forget(texts);
    const changes = { erase: copies.map((copy) => ({ ...copy, at })), update: freed, audit };
    const result = { receipt: { erased: memory, at: iso(at) }, texts };
    return { changes, result };
  });
  await actor.embedder?.forget(texts);
  return receipt;
}

/** Erases everything a user owns; the user's id must be given as a confirmation. */
export async function eraseAll(actor: Actor, input: unknown): Promise<{ erased: number; at: string }> {
  const { confirm, recordedAt } = check(eraseAllInput, input);
  if (confirm !== actor.user) refuse('confirm', `must be the id of the user whose memories go: ${actor.user}`);
  const { receipt, texts } = await transact(actor, async () => {
    const all = await everything(actor);
    const at = instantOf(
      actor,
      recordedAt,
      all.map(({ row }) => row),
    );
    const audit = all.map(({ row }) => ({ ...entryOf(actor, 'erase', at, null, null), memory: row.id }));
    const texts = all.map(({ row }) => passageOf(row));
    await actor.embedder?.forget(texts);
    const result = { receipt: { erased: all.length, at: iso(at) }, texts };
    const changes = all.length === 0 ? null : { erase: all.map((stored) => ({ ...stored, at })), audit };
    return { changes, result };
  });
  await actor.embedder?.forget(texts);
  return receipt;
}

/** The memory with its originals and copies by reopening: they hold the same text. */
async function withCopies(actor: Actor, stored: Stored): Promise<Stored[]> {
  const found = new Map([[stored.row.id, stored]]);
  for (let wanted = [stored]; wanted.length > 0; ) {
    const ids = wanted
      .flatMap(({ row }) => [row.reopens, row.reopenedBy])
      .filter((id) => id !== null && !found.has(id));
    const more = await actor.store.get(ids.filter((id) => id !== null));
    wanted = more.filter(({ row }) => row.scope === actor.store.scope && !found.has(row.id));
    for (const copy of wanted) found.set(copy.row.id, copy);
  }
  return [...found.values()];
}

/** The rows that name one of these ids in a link that leads one way only. */
async function inbound(actor: Actor, ids: ReadonlySet<string>, by: (id: string) => Partial<Filter>): Promise<Stored[]> {
  const found = await Promise.all([...ids].map((id) => everything(actor, by(id))));
  return found.flat();
}

/** The rows whose links name one of the erased, none of them twice. */
async function rowsNaming(actor: Actor, erased: readonly Stored[], naming: readonly Stored[]): Promise<Stored[]> {
  const gone = new Set(erased.map(({ row }) => row.id));
  const named = erased.flatMap(({ row }) => [...row.supersedes, row.supersededBy, ...row.denies, row.deniedBy]);
  const ids = [...new Set(named.filter((id) => id !== null))].filter((id) => !gone.has(id));
  const linked = ids.length === 0 ? [] : await actor.store.get(ids);
  const own = linked.filter(({ row }) => row.scope === actor.store.scope);
  return [...new Map([...own, ...naming].map((stored) => [stored.row.id, stored])).values()].filter(
    ({ row }) => !gone.has(row.id) && namesOf(row).some((id) => gone.has(id)),
  );
}

function stillNeeded(memory: string, others: readonly Stored[]): SupersededError {
  const names = others.slice(0, 5).map(({ row }) => row.id);
  const more = others.length > names.length ? ` and ${others.length - names.length} more` : '';
  return new SupersededError('CONFLICT', `Memories were derived from ${memory}: ${names.join(', ')}${more}.`, {
    hint: 'Erase those first, or force it.',
  });
}
