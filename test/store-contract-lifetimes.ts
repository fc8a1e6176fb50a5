import fc from 'fast-check';
import { expect } from 'vitest';
import { lifetimesOf, livesOf } from '../scripts/evaluate/lifetimes.ts';
import { type MemoryRow, type Scope, SHARED } from '../src/memory.ts';
import type { Life, Lifetimes } from '../src/store.ts';
import type { Specify } from './store-contract.ts';
import { ANA, BEN, closed, DAY, NOW, put, rowOf, T0 } from './store-fixtures.ts';

const inOrder = (lifetimes: readonly Lifetimes[]): Lifetimes[] =>
  [...lifetimes].sort((a, b) => (a.scope + a.topic < b.scope + b.topic ? -1 : 1));
const about = (lifetimes: readonly Lifetimes[]) =>
  inOrder(lifetimes).map((one) => ({
    ...one,
    ...Object.fromEntries(
      (['open', 'changed', 'ended'] as const).map((state) => [
        state,
        { count: one[state].count, hours: expect.closeTo(one[state].hours, 3) },
      ]),
    ),
  }));

const changed = (id: string, from: number, to: number, topic = 'preference'): MemoryRow => ({
  ...closed(rowOf({ id, topic, createdAt: from, validFrom: from, heardAt: to }), to, to, 'superseded'),
  changedMind: true,
});

/** Instants around NOW and each other, so that every comparison goes both ways. */
const instant = fc.integer({ min: -6, max: 4 }).map((days) => NOW + days * DAY);
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null });
const anyRow = fc.record({
  scope: fc.constantFrom('ana', 'ben', SHARED),
  topic: fc.constantFrom('preference', 'mood'),
  createdAt: instant,
  validFrom: instant,
  lasted: maybe(fc.integer({ min: 0, max: 5 })),
  closedAt: instant,
  closedAs: fc.constantFrom('superseded', 'retired', 'denied', 'held'),
  changedMind: fc.boolean(),
  heardAt: maybe(instant),
  plannedTo: fc.option(instant, { nil: null, freq: 5 }),
});

/** How long memories held, added up. */
export function lifetimesContract(specify: Specify): void {
  specify('lifetimes and lives are those of the rows, whatever their instants', async (store) => {
    let nth = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 25 }), async (made) => {
        const run = `r${nth++}`;
        const rows = made.map(({ lasted, closedAt, closedAs, changedMind, scope, topic, ...row }, at): MemoryRow => {
          const end =
            lasted === null
              ? { validTo: null, closedAt: null, closedAs: null, changedMind: false }
              : { validTo: row.validFrom + lasted * DAY, closedAt, closedAs, changedMind };
          const owner: Scope = scope === SHARED ? SHARED : `user:${scope}-${run}`;
          return rowOf({ ...row, ...end, id: `${run}-${at}`, scope: owner, topic: `${topic}-${run}` });
        });
        await put(store, rows);
        const ana: Scope = `user:ana-${run}`;
        const own = rows.filter(({ scope }) => scope === ana);
        expect(inOrder(await store.for(ana).lifetimes(NOW))).toEqual(about(lifetimesOf(own, NOW)));
        const everyones = (await store.lifetimes(NOW)).filter(({ topic }) => topic.endsWith(`-${run}`));
        expect(inOrder(everyones)).toEqual(about(lifetimesOf(rows, NOW)));
        const byStart = (a: Life, b: Life) =>
          a.startedAt - b.startedAt || (a.endedAt ?? 0) - (b.endedAt ?? 0) || +a.changed - +b.changed;
        const wanted = livesOf(own, NOW).filter(({ row }) => row.topic === `mood-${run}`);
        expect((await store.for(ana).lives(`mood-${run}`, NOW)).sort(byStart)).toEqual(
          wanted.map(({ row: _, ...life }) => life).sort(byStart),
        );
      }),
      { numRuns: 20 },
    );
  });

  specify('lifetimes add up hours by topic and by how a memory ended', async (store) => {
    await put(store, [
      rowOf({ id: 'open-1' }),
      rowOf({ id: 'open-2', createdAt: T0 + DAY }),
      changed('changed', T0 - 3 * DAY, T0 + 2 * DAY),
      closed(rowOf({ id: 'retired' }), T0 + 2 * DAY, T0 + DAY),
      rowOf({ id: 'elsewhere', topic: 'lodging' }),
    ]);
    const none = { count: 0, hours: 0 };
    expect(inOrder(await store.for(ANA).lifetimes(NOW))).toEqual([
      {
        scope: ANA,
        topic: 'lodging',
        open: { count: 1, hours: 240 },
        changed: none,
        ended: none,
        heardAt: T0,
        readAt: NOW,
      },
      {
        scope: ANA,
        topic: 'preference',
        open: { count: 2, hours: 19 * 24 },
        changed: { count: 1, hours: 5 * 24 },
        ended: { count: 1, hours: 24 },
        heardAt: T0 + 2 * DAY,
        readAt: NOW,
      },
    ]);
  });

  specify('a life is watched from its recording, unless it had ended by then', async (store) => {
    await put(store, [
      rowOf({ id: 'since-long', validFrom: T0 - 3650 * DAY }),
      changed('ended-before', T0 - 5 * DAY, T0 - 2 * DAY),
    ]);
    const [before] = await store.for(ANA).get(['ended-before']);
    if (!before) throw new Error('not written');
    await put(store, [{ ...before.row, id: 'told-afterwards', createdAt: T0, closedAt: T0, heardAt: T0 }]);
    const [preference] = await store.for(ANA).lifetimes(NOW);
    expect(preference?.open).toEqual({ count: 1, hours: 240 });
    expect(preference?.changed).toEqual({ count: 2, hours: 2 * 72 });
  });

  specify('an end still to come is no end yet', async (store) => {
    await put(store, [changed('next-week', T0, NOW + 7 * DAY), { ...changed('known', T0, NOW + 1), closedAt: T0 }]);
    const [preference] = await store.for(ANA).lifetimes(NOW);
    expect(preference).toMatchObject({ open: { count: 2, hours: 480 }, changed: { count: 0 } });
  });

  specify(
    'lifetimes of a scope are its own, of topics that are named; those of the store are of every scope',
    async (store) => {
      await put(store, [
        rowOf({ id: 'a' }),
        rowOf({ id: 'a', scope: BEN, createdAt: T0 + DAY }),
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
    },
  );

  specify('an erased memory counts no more', async (store) => {
    await put(store, [rowOf({ id: 'kept' }), changed('gone', T0, T0 + DAY)]);
    const [gone] = await store.for(ANA).get(['gone']);
    if (!gone) throw new Error('not written');
    await store.for(ANA).commit({ erase: [{ ...gone, at: NOW }] });
    expect((await store.for(ANA).lifetimes(NOW))[0]).toMatchObject({ changed: { count: 0 }, heardAt: T0 });
    expect(await store.for(ANA).lives('preference', NOW)).toEqual([{ startedAt: T0, endedAt: null, changed: false }]);
  });
}
