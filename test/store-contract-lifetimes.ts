import { expect } from 'vitest';
import { SHARED } from '../src/memory.ts';
import type { Lifetimes } from '../src/store.ts';
import type { Specify } from './store-contract.ts';
import { ANA, BEN, closed, DAY, NOW, put, rowOf, T0 } from './store-fixtures.ts';

/** How long memories held, added up. */
export function lifetimesContract(specify: Specify): void {
  const changed = (id: string, from: number, to: number, topic = 'preference') => ({
    ...closed(rowOf({ id, topic, createdAt: from, validFrom: from }), to, to, 'superseded'),
    changedMind: true,
  });
  const inOrder = (lifetimes: readonly Lifetimes[]) =>
    [...lifetimes].sort((a, b) => (a.scope + a.topic < b.scope + b.topic ? -1 : 1));

  specify('lifetimes add up hours by topic and by how a memory ended', async (store) => {
    await put(store, [
      rowOf({ id: 'open-1' }),
      rowOf({ id: 'open-2', validFrom: T0 + DAY }),
      changed('changed', T0 - 3 * DAY, T0 + 2 * DAY),
      closed(rowOf({ id: 'retired' }), T0 + 2 * DAY, T0 + DAY),
      closed(rowOf({ id: 'same-value' }), T0 + 4 * DAY, T0 + 4 * DAY, 'superseded'),
      rowOf({ id: 'elsewhere', topic: 'lodging', validFrom: T0 - 10 * DAY }),
    ]);
    expect(inOrder(await store.for(ANA).lifetimes(NOW))).toEqual([
      {
        scope: ANA,
        topic: 'lodging',
        open: { count: 1, hours: 20 * 24 },
        changed: { count: 0, hours: 0 },
        ended: { count: 0, hours: 0 },
        heardAt: T0,
        readAt: NOW,
      },
      {
        scope: ANA,
        topic: 'preference',
        open: { count: 2, hours: 19 * 24 },
        changed: { count: 1, hours: 5 * 24 },
        ended: { count: 2, hours: 5 * 24 },
        heardAt: T0 + 2 * DAY,
        readAt: NOW,
      },
    ]);
  });

  specify(
    'lifetimes leave out what was given an end, was derived, was never true, was held, or is to come',
    async (store) => {
      const never = closed(rowOf({ id: 'never' }), T0 + DAY, T0, 'superseded');
      await put(store, [
        rowOf({ id: 'counted' }),
        rowOf({ id: 'planned', plannedTo: T0 + 5 * DAY }),
        rowOf({ id: 'derived', derivedFrom: ['counted'] }),
        { ...never, changedMind: true },
        closed(rowOf({ id: 'denied' }), T0 + DAY, T0 + DAY, 'denied'),
        closed(rowOf({ id: 'held' }), T0 + DAY, T0 + DAY, 'held'),
        rowOf({ id: 'upcoming', validFrom: NOW + 1 }),
        rowOf({ id: 'ahead', createdAt: NOW + 1 }),
      ]);
      const [preference, ...others] = await store.for(ANA).lifetimes(NOW);
      expect(others).toEqual([]);
      expect(preference?.open).toEqual({ count: 1, hours: 240 });
      expect([preference?.changed.count, preference?.ended.count]).toEqual([0, 0]);
      expect(await store.for(ANA).lives('preference', NOW)).toEqual([{ startedAt: T0, endedAt: null, changed: false }]);
    },
  );

  specify(
    'a person is heard last when a memory was recorded, confirmed or changed, and not ahead of now',
    async (store) => {
      const heard = async () => (await store.for(ANA).lifetimes(NOW))[0]?.heardAt;
      await put(store, [rowOf({ id: 'a', createdAt: T0 + 5 })]);
      expect(await heard()).toBe(T0 + 5);
      await put(store, [rowOf({ id: 'b', confirmedAt: T0 + DAY })]);
      expect(await heard()).toBe(T0 + DAY);
      await put(store, [closed(rowOf({ id: 'c' }), T0 + 2 * DAY)]);
      expect(await heard()).toBe(T0 + DAY);
      await put(store, [changed('d', T0, T0 + 3 * DAY)]);
      expect(await heard()).toBe(T0 + 3 * DAY);
      await put(store, [rowOf({ id: 'e', validFrom: T0 + 4 * DAY })]);
      expect(await heard()).toBe(T0 + 4 * DAY);
      await put(store, [rowOf({ id: 'f', confirmedAt: NOW + DAY })]);
      expect(await heard()).toBe(NOW);
    },
  );

  specify('lifetimes of a scope are its own; those of the store are of every scope, apart', async (store) => {
    await put(store, [
      rowOf({ id: 'a' }),
      rowOf({ id: 'a', scope: BEN, validFrom: T0 + DAY }),
      rowOf({ id: 'b', scope: BEN, topic: 'secret' }),
      rowOf({ id: 's', scope: SHARED, topic: 'landmark' }),
    ]);
    const told = (lifetimes: readonly Lifetimes[]) =>
      inOrder(lifetimes).map(({ scope, topic, open }) => `${scope} ${topic} ${open.count} ${open.hours}`);
    expect(told(await store.for(ANA).lifetimes(NOW))).toEqual([`${ANA} preference 1 240`]);
    expect(told(await store.for(BEN).lifetimes(NOW, ['secret', 'unknown']))).toEqual([`${BEN} secret 1 240`]);
    expect(await store.for(BEN).lifetimes(NOW, [])).toEqual([]);
    expect(told(await store.lifetimes(NOW))).toEqual([
      `${SHARED} landmark 1 240`,
      `${ANA} preference 1 240`,
      `${BEN} preference 1 216`,
      `${BEN} secret 1 240`,
    ]);
  });

  specify('an erased memory counts no more', async (store) => {
    await put(store, [rowOf({ id: 'kept' }), changed('gone', T0, T0 + DAY)]);
    const [gone] = await store.for(ANA).get(['gone']);
    if (!gone) throw new Error('not written');
    await store.for(ANA).commit({ erase: [{ ...gone, at: NOW }] });
    expect((await store.for(ANA).lifetimes(NOW))[0]?.changed.count).toBe(0);
    expect(await store.for(ANA).lives('preference', NOW)).toEqual([{ startedAt: T0, endedAt: null, changed: false }]);
  });

  specify('lives are what lifetimes add up', async (store) => {
    const rows = Array.from({ length: 60 }, (_, n) => {
      const from = T0 - n * 7 * DAY;
      if (n % 3 === 0) return rowOf({ id: `open-${n}`, validFrom: from });
      if (n % 3 === 1) return changed(`changed-${n}`, from, from + (n + 1) * DAY);
      return closed(rowOf({ id: `retired-${n}`, validFrom: from }), from + DAY);
    });
    await put(store, rows);
    const lives = await store.for(ANA).lives('preference', NOW);
    const [lifetimes] = await store.for(ANA).lifetimes(NOW);
    const hours = (some: typeof lives) =>
      some.reduce((sum, { startedAt, endedAt }) => sum + ((endedAt ?? NOW) - startedAt) / 3_600_000, 0);
    const open = lives.filter(({ endedAt }) => endedAt === null);
    const ended = lives.filter((life) => life.endedAt !== null && !life.changed);
    const changes = lives.filter((life) => life.changed);
    expect(lifetimes?.open).toEqual({ count: open.length, hours: expect.closeTo(hours(open), 3) });
    expect(lifetimes?.changed).toEqual({ count: changes.length, hours: expect.closeTo(hours(changes), 3) });
    expect(lifetimes?.ended).toEqual({ count: ended.length, hours: expect.closeTo(hours(ended), 3) });
    expect([open.length, changes.length, ended.length]).toEqual([20, 20, 20]);
  });
}
