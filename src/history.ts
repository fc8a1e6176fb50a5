import { iso, type Memory, type MemoryRow, toMemory } from './memory.ts';
import { type Actor, latest, ownRow } from './verb.ts';

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
  const now = latest([...rows.values()], ({ changedAt }) => changedAt, actor.clock());
  return oldestFirst(rows).map((row) => toMemory(row, { asOf: now, knownAt: now }));
}

/** By instant, and at one instant from predecessor to successor. */
function oldestFirst(rows: Map<string, MemoryRow>): MemoryRow[] {
  const before = (row: MemoryRow) => [...row.supersedes, ...(row.reopens === null ? [] : [row.reopens])];
  const waiting = new Map([...rows.values()].map((row) => [row.id, before(row).filter((id) => rows.has(id)).length]));
  const followers = new Map<string, MemoryRow[]>();
  for (const row of rows.values()) {
    for (const id of before(row)) followers.set(id, [...(followers.get(id) ?? []), row]);
  }
  const depths = new Map<string, number>();
  for (let depth = 0, ready = [...rows.values()].filter(({ id }) => waiting.get(id) === 0); ready.length > 0; depth++) {
    for (const { id } of ready) depths.set(id, depth);
    ready = ready
      .flatMap(({ id }) => followers.get(id) ?? [])
      .filter((row) => {
        const left = (waiting.get(row.id) ?? 0) - 1;
        waiting.set(row.id, left);
        return left === 0;
      });
  }
  const depthOf = ({ id }: MemoryRow): number => depths.get(id) ?? 0;
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
