import { iso, type Memory, type MemoryRow, toMemory } from './memory.ts';
import { type Actor, ownRow } from './verb.ts';

/** The verb that shows how a memory came to be what it is. */

const neighbours = (row: MemoryRow): string[] =>
  [...row.supersedes, row.supersededBy, row.reopens, row.reopenedBy].filter((id) => id !== null);

/** Every memory connected by supersession and reopening, oldest first; a predecessor always comes before its successor. */
export async function history(actor: Actor, memory: string): Promise<Memory[]> {
  const rows = new Map<string, MemoryRow>();
  let wanted = [(await ownRow(actor, memory)).row.id];
  while (wanted.length > 0) {
    const found = (await actor.store.get(wanted)).filter(({ row }) => row.scope === actor.store.scope);
    for (const { row } of found) rows.set(row.id, row);
    wanted = [...new Set(found.flatMap(({ row }) => neighbours(row)))].filter((id) => !rows.has(id));
    if (found.length === 0) break;
  }
  const now = Math.max(actor.clock(), ...[...rows.values()].map((row) => row.createdAt));
  return oldestFirst(rows).map((row) => toMemory(row, { asOf: now, knownAt: now }));
}

function oldestFirst(rows: Map<string, MemoryRow>): MemoryRow[] {
  const depths = new Map<string, number>();
  const depthOf = (row: MemoryRow): number => {
    const known = depths.get(row.id);
    if (known !== undefined) return known;
    depths.set(row.id, 0);
    const before = [...row.supersedes, ...(row.reopens === null ? [] : [row.reopens])];
    const depth = Math.max(-1, ...before.flatMap((id) => rows.get(id) ?? []).map(depthOf)) + 1;
    depths.set(row.id, depth);
    return depth;
  };
  return [...rows.values()].sort(
    (a, b) => a.createdAt - b.createdAt || depthOf(a) - depthOf(b) || (a.id < b.id ? -1 : 1),
  );
}

/** How long ago, in words a person would use. */
export function agoInWords(instant: number, now: number): string {
  const days = Math.floor((now - instant) / 86_400_000);
  if (days < 0) return `on ${iso(instant).slice(0, 10)}`;
  if (days === 0) return 'today';
  if (days === 1) return 'yesterday';
  return days < 60 ? `${days} days ago` : `${Math.round(days / 30.44)} months ago`;
}
