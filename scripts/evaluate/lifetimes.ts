import type { MemoryRow } from '../../src/memory.ts';
import { MS_PER_HOUR } from '../../src/score.ts';
import type { Life, Lifetimes } from '../../src/store.ts';

/** What a store counts, written as plainly as it can be, over plain rows: for people without a store, and as its test. */

/** The lives among these rows. */
export function livesOf(rows: readonly MemoryRow[], now: number): (Life & { row: MemoryRow })[] {
  const counted = rows.filter(
    (row) =>
      row.heardAt !== null &&
      row.plannedTo === null &&
      row.closedAs !== 'held' &&
      row.closedAs !== 'denied' &&
      row.createdAt <= now &&
      row.validFrom <= row.createdAt &&
      !(row.validTo !== null && row.validTo <= row.validFrom),
  );
  return counted.map((row) => {
    const over = row.validTo !== null && row.validTo <= now && (row.closedAt ?? now + 1) <= now;
    const toldAfterwards = row.validTo !== null && row.validTo <= row.createdAt;
    return {
      row,
      startedAt: toldAfterwards ? row.validFrom : row.createdAt,
      endedAt: over ? row.validTo : null,
      changed: over && row.changedMind,
    };
  });
}

/** Lives added up as a store does. */
export function lifetimesOf(rows: readonly MemoryRow[], now: number): Lifetimes[] {
  const sums = new Map<string, Lifetimes>();
  for (const { row, startedAt, endedAt, changed } of livesOf(rows, now)) {
    const { scope, topic } = row;
    const heardAt = row.heardAt !== null && row.heardAt <= now ? row.heardAt : row.createdAt;
    const none = { count: 0, hours: 0 };
    const one = sums.get(`${scope} ${topic}`) ?? {
      ...{ scope, topic, open: none, changed: none, ended: none },
      ...{ heardAt: Number.NEGATIVE_INFINITY, readAt: now },
    };
    const state = endedAt === null ? 'open' : changed ? 'changed' : 'ended';
    const hours = ((endedAt ?? now) - startedAt) / MS_PER_HOUR;
    sums.set(`${scope} ${topic}`, {
      ...one,
      [state]: { count: one[state].count + 1, hours: one[state].hours + hours },
      heardAt: Math.max(one.heardAt, row.createdAt, heardAt),
    });
  }
  return [...sums.values()];
}
