import { expect } from 'vitest';
import { DEFAULT_AGING } from '../src/aging.ts';
import { SHARED } from '../src/memory.ts';
import type { Specify } from './store-contract.ts';
import { ANA, at, BEN, closed, DAY, entryOf, HOUR, NOW, put, questionOf, ranked, rowOf, T0 } from './store-fixtures.ts';

/** Which rows a question sees: scopes, the two clocks, history, strictness, filters, links. */
export function selectionContract(specify: Specify): void {
  specify(
    'a memory of another user is never returned by rank, get, find, nearest, tombstones or audit',
    async (store) => {
      const row = rowOf({ id: 'secret', content: 'knee', scope: BEN, derivedFrom: ['base'] });
      const gone = rowOf({ id: 'gone', content: 'knee', scope: BEN });
      const audit = [entryOf({ id: '1', memory: 'secret', after: row })];
      const insert = [row, gone].map((row) => ({ row, vector: at(1) }));
      await store.for(BEN).commit({ insert, audit });
      const [stored] = await store.for(BEN).get(['gone']);
      if (stored) await store.for(BEN).commit({ erase: [{ ...stored, at: NOW }] });
      for (const scope of [ANA, SHARED, 'user:be', 'user:ben2', 'user:BEN'] as const) {
        const handle = store.for(scope);
        const query = questionOf({ text: 'knee', includeHistory: true });
        expect(await handle.rank(query)).toEqual({ ranked: [], linked: [] });
        expect(await handle.get(['secret', 'gone'])).toEqual([]);
        expect(await handle.find({ limit: 10 })).toEqual([]);
        expect(await handle.find({ textKey: row.textKey, limit: 10 })).toEqual([]);
        expect(await handle.find({ derivedFrom: 'base', limit: 10 })).toEqual([]);
        expect(await handle.nearest({ ...query, minCosine: -1 })).toEqual([]);
        expect(await handle.tombstones(['gone', 'secret'])).toEqual([]);
        expect(await handle.audit({ limit: 10 })).toEqual([]);
        expect(await handle.audit({ memory: 'secret', limit: 10 })).toEqual([]);
      }
    },
  );

  specify('shared memories are ranked beside own ones', async (store) => {
    await put(store, [rowOf({ id: 'own' }), rowOf({ id: 'landmark', scope: SHARED })], [0.5, 0.6]);
    expect(await ranked(store, questionOf())).toEqual(['landmark', 'own']);
    expect(await ranked(store, questionOf(), BEN)).toEqual(['landmark']);
    expect(await ranked(store, questionOf(), SHARED)).toEqual(['landmark']);
  });

  specify('a memory recorded at knownAt counts, and one recorded later does not', async (store) => {
    await put(store, [
      rowOf({ id: 'then', createdAt: NOW, validFrom: T0 }),
      rowOf({ id: 'later', createdAt: NOW + 1, validFrom: T0 }),
    ]);
    expect(await ranked(store, questionOf())).toEqual(['then']);
    expect(await ranked(store, questionOf({ includeHistory: true }))).toEqual(['then']);
    expect((await ranked(store, questionOf({ knownAt: NOW + 1 }))).sort()).toEqual(['later', 'then']);
  });

  specify('a memory valid from asOf counts, and an upcoming one does not, with or without history', async (store) => {
    await put(store, [rowOf({ id: 'from-now', validFrom: NOW }), rowOf({ id: 'upcoming', validFrom: NOW + 1 })]);
    expect(await ranked(store, questionOf())).toEqual(['from-now']);
    expect(await ranked(store, questionOf({ includeHistory: true }))).toEqual(['from-now']);
    expect((await ranked(store, questionOf({ asOf: NOW + 1 }))).sort()).toEqual(['from-now', 'upcoming']);
  });

  specify('a planned end is exclusive', async (store) => {
    await put(store, [rowOf({ id: 'ends-now', plannedTo: NOW }), rowOf({ id: 'ends-next', plannedTo: NOW + 1 })]);
    expect(await ranked(store, questionOf())).toEqual(['ends-next']);
    expect((await ranked(store, questionOf({ asOf: NOW - 1 }))).sort()).toEqual(['ends-next', 'ends-now']);
    expect((await ranked(store, questionOf({ includeHistory: true }))).sort()).toEqual(['ends-next', 'ends-now']);
  });

  specify('a closed memory counts where its closing was not known yet', async (store) => {
    await put(store, [closed(rowOf({ id: 'a' }), T0 + 5 * DAY)]);
    expect(await ranked(store, questionOf({ knownAt: T0 + 5 * DAY - 1 }))).toEqual(['a']);
    expect(await ranked(store, questionOf({ knownAt: T0 + 5 * DAY }))).toEqual([]);
  });

  specify('a closed memory counts until its end, exclusive', async (store) => {
    await put(store, [closed(rowOf({ id: 'a' }), T0 + DAY, T0 + 5 * DAY)]);
    expect(await ranked(store, questionOf({ asOf: T0 + 5 * DAY - 1 }))).toEqual(['a']);
    expect(await ranked(store, questionOf({ asOf: T0 + 5 * DAY }))).toEqual([]);
  });

  specify('history adds superseded, retired, denied and expired memories', async (store) => {
    const end = T0 + DAY;
    await put(store, [
      closed(rowOf({ id: 'superseded', supersededBy: 'open' }), end, end, 'superseded'),
      closed(rowOf({ id: 'retired' }), end),
      closed(rowOf({ id: 'denied' }), end, T0, 'denied'),
      closed(rowOf({ id: 'withdrawn', validFrom: NOW + DAY }), end, NOW + DAY),
      rowOf({ id: 'expired', plannedTo: end }),
      rowOf({ id: 'open' }),
    ]);
    expect(await ranked(store, questionOf())).toEqual(['open']);
    const all = ['denied', 'expired', 'open', 'retired', 'superseded', 'withdrawn'];
    expect((await ranked(store, questionOf({ includeHistory: true }))).sort()).toEqual(all);
    const before = questionOf({ includeHistory: true, knownAt: T0 });
    expect((await ranked(store, before)).sort()).toEqual(all.filter((id) => id !== 'withdrawn'));
  });

  specify('strict keeps confident, unharmed memories within one half-life, bounds included', async (store) => {
    const halfLife = 1080 * HOUR;
    await put(store, [
      rowOf({ id: 'just-confident', confidence: 0.5 }),
      rowOf({ id: 'unsure', confidence: 0.49 }),
      rowOf({ id: 'criticised', feedbackSum: -0.98, feedbackCount: 1 }),
      rowOf({ id: 'harmful', feedbackSum: -1, feedbackCount: 1 }),
      rowOf({ id: 'just-fresh', freshAt: NOW - halfLife }),
      rowOf({ id: 'stale', freshAt: NOW - halfLife - 1 }),
      rowOf({ id: 'ageless', topic: 'constraint', freshAt: NOW - 100 * halfLife }),
      closed(rowOf({ id: 'ending' }), T0 + DAY, NOW + DAY),
      closed(rowOf({ id: 'ended' }), T0 + DAY),
    ]);
    const strict = await ranked(store, questionOf({ strict: true, aging: DEFAULT_AGING }));
    expect(strict.sort()).toEqual(['ageless', 'criticised', 'ending', 'just-confident', 'just-fresh']);
  });

  specify('without ageing strict keeps memories of any age', async (store) => {
    await put(store, [rowOf({ id: 'old', freshAt: T0 - 5000 * DAY })]);
    expect(await ranked(store, questionOf({ strict: true }))).toEqual(['old']);
  });

  specify('kinds, topics and tags each let any of theirs through, and all must agree', async (store) => {
    await put(store, [
      rowOf({ id: 'a', kind: 'semantic', topic: 'fact', tags: ['late show', 'x'] }),
      rowOf({ id: 'b', kind: 'procedural', topic: 'plan', tags: ['late'] }),
      rowOf({ id: 'c', topic: 'fact', tags: ['Late'] }),
    ]);
    const found = async (filter: Parameters<typeof questionOf>[0]) => (await ranked(store, questionOf(filter))).sort();
    expect(await found({ kinds: ['semantic', 'procedural'] })).toEqual(['a', 'b']);
    expect(await found({ topics: ['fact'] })).toEqual(['a', 'c']);
    expect(await found({ tags: ['late'] })).toEqual(['b']);
    expect(await found({ tags: ['late show', 'Late'] })).toEqual(['a', 'c']);
    expect(await found({ tags: ['lat', 'show', '["late"]'] })).toEqual([]);
    expect(await found({ topics: ['fact', 'plan'], kinds: ['episodic'], tags: ['Late', 'late'] })).toEqual(['c']);
    expect(await found({ topics: ['unheard-of'] })).toEqual([]);
  });

  specify('rows that the ranked ones name come along once, and only where they are not ranked', async (store) => {
    const far = 0;
    const rows = [
      closed(rowOf({ id: 'first', supersededBy: 'second' }), T0 + DAY, T0 + DAY, 'superseded'),
      closed(rowOf({ id: 'other', supersededBy: 'second' }), T0 + DAY, T0 + DAY, 'superseded'),
      closed(rowOf({ id: 'second', supersedes: ['first', 'other'], supersededBy: 'third' }), T0 + 2 * DAY),
      rowOf({ id: 'third', supersedes: ['second'] }),
      rowOf({ id: 'unrelated' }),
      rowOf({ id: 'third', scope: BEN, content: 'of another user' }),
      rowOf({ id: 'third', scope: SHARED, content: 'of all' }),
    ];
    await put(store, rows, [far, far, 0.9, far, far, 0.9, far]);
    const handle = store.for(ANA);
    const history = await handle.rank(questionOf({ includeHistory: true }));
    expect(history.ranked.map(({ row }) => row.id)).toEqual(['second']);
    expect(history.linked.map(({ id, scope }) => `${id} ${scope}`).sort()).toEqual([
      `first ${ANA}`,
      `other ${ANA}`,
      `third ${ANA}`,
    ]);
    expect(await handle.rank(questionOf({ text: 'third' }))).toMatchObject({ linked: [{ id: 'second' }] });
    const both = await handle.rank(questionOf({ includeHistory: true, text: 'third' }));
    expect(both.linked.map(({ id }) => id).sort()).toEqual(['first', 'other']);
  });

  specify('nearest gives own rows that are still held, nearest first, then newest, then by id', async (store) => {
    await put(
      store,
      [
        rowOf({ id: 'near' }),
        rowOf({ id: 'b', createdAt: T0 + 1 }),
        rowOf({ id: 'a', createdAt: T0 + 1 }),
        rowOf({ id: 'older' }),
        rowOf({ id: 'upcoming', validFrom: NOW + DAY }),
        rowOf({ id: 'far' }),
        closed(rowOf({ id: 'ending' }), T0 + DAY, NOW + DAY),
        rowOf({ id: 'expired', plannedTo: NOW }),
        rowOf({ id: 'later', createdAt: NOW + 1 }),
        rowOf({ id: 'of-all', scope: SHARED }),
      ],
      [0.99, 0.95, 0.95, 0.95, 0.92, 0.89, 0.99, 0.99, 0.99, 0.99],
    );
    const nearest = async (limit: number, minCosine = 0.9) =>
      store.for(ANA).nearest({ text: 'x', vector: at(1), minCosine, limit, asOf: NOW, knownAt: NOW });
    expect((await nearest(10)).map(({ row }) => row.id)).toEqual(['near', 'a', 'b', 'older', 'upcoming']);
    expect((await nearest(2)).map(({ row }) => row.id)).toEqual(['near', 'a']);
    expect((await nearest(10, 0.97)).map(({ cosine }) => cosine)).toEqual([expect.closeTo(0.99, 5)]);
  });
}
