import { expect } from 'vitest';
import { SupersededError, VersionConflict } from '../src/errors.ts';
import { SHARED } from '../src/memory.ts';
import type { Specify } from './store-contract.ts';
import { ANA, at, BEN, closed, DAY, entryOf, NOW, put, questionOf, ranked, read, rowOf, T0 } from './store-fixtures.ts';

/** Writing: all or nothing, and never over what another writer changed. */
export function writingContract(specify: Specify): void {
  specify('setup may be repeated, also twice at once', async (store) => {
    await put(store, [rowOf({ id: 'a' })]);
    await Promise.all([store.setup(), store.setup()]);
    expect(await ranked(store, questionOf())).toEqual(['a']);
  });

  specify('a commit with one stale version writes nothing', async (store) => {
    await put(store, [rowOf({ id: 'a' }), rowOf({ id: 'b' })]);
    const [a, b] = [await read(store, 'a'), await read(store, 'b')];
    await store.for(ANA).commit({ update: [{ ...a, row: { ...a.row, confidence: 0.4 } }] });
    const changes = {
      insert: [{ row: rowOf({ id: 'new' }), vector: at(1) }],
      update: [b, a].map(({ row, version }) => ({ row: closed(row, NOW), version })),
      audit: [entryOf({ id: '1', memory: 'new' })],
    };
    await expect(store.for(ANA).commit(changes)).rejects.toThrow(VersionConflict);
    expect((await store.for(ANA).find({ limit: 9 })).map(({ row }) => row.id)).toEqual(['b', 'a']);
    expect(await read(store, 'b')).toEqual(b);
    expect((await read(store, 'a')).row).toEqual({ ...a.row, confidence: 0.4 });
    expect(await store.for(ANA).audit({ limit: 9 })).toEqual([]);
    expect((await ranked(store, questionOf())).sort()).toEqual(['a', 'b']);
  });

  specify('an id that exists is not inserted again, nor is what comes with it', async (store) => {
    await put(store, [rowOf({ id: 'a', content: 'first' })]);
    const insert = [rowOf({ id: 'b' }), rowOf({ id: 'a', content: 'second' })].map((row) => ({ row, vector: at(1) }));
    await expect(store.for(ANA).commit({ insert })).rejects.toThrow(VersionConflict);
    expect((await store.for(ANA).find({ limit: 9 })).map(({ row }) => row.content)).toEqual(['first']);
  });

  specify('two users may use the same id', async (store) => {
    await put(store, [rowOf({ id: 'a', content: 'of Ana' }), rowOf({ id: 'a', content: 'of Ben', scope: BEN })]);
    expect((await read(store, 'a')).row.content).toBe('of Ana');
    expect((await read(store, 'a', BEN)).row.content).toBe('of Ben');
  });

  specify('a version stays while its row does and changes with it', async (store) => {
    await put(store, [rowOf({ id: 'a' }), rowOf({ id: 'b' })]);
    const [a, b] = [await read(store, 'a'), await read(store, 'b')];
    await store.for(ANA).commit({ update: [{ ...a, row: { ...a.row, confirmedAt: NOW } }] });
    expect((await read(store, 'b')).version).toBe(b.version);
    expect((await read(store, 'a')).version).not.toBe(a.version);
    expect((await store.for(ANA).find({ limit: 9 })).find(({ row }) => row.id === 'b')?.version).toBe(b.version);
  });

  specify('of writers that read the same version one wins', async (store) => {
    await put(store, [rowOf({ id: 'a' })]);
    const stored = await read(store, 'a');
    const attempts = [0.1, 0.2, 0.3, 0.4, 0.5].map((confidence) =>
      store
        .for(ANA)
        .commit({ update: [{ ...stored, row: { ...stored.row, confidence } }] })
        .then(
          () => confidence,
          (error: unknown) => error,
        ),
    );
    const outcomes = await Promise.all(attempts);
    const won = outcomes.filter((outcome) => typeof outcome === 'number');
    expect(won).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome instanceof VersionConflict)).toHaveLength(4);
    expect((await read(store, 'a')).row.confidence).toBe(won[0]);
  });

  specify('of writers that insert the same id one wins', async (store) => {
    const attempts = ['one', 'two', 'three'].map((content) =>
      store.for(ANA).commit({ insert: [{ row: rowOf({ id: 'a', content }), vector: at(1) }] }),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await store.for(ANA).find({ limit: 9 })).toHaveLength(1);
  });

  specify('writers at the same time lose nothing', async (store) => {
    const writes = Array.from({ length: 12 }, (_, n) => {
      const scope = n % 2 === 0 ? ANA : BEN;
      const row = rowOf({ id: `m${n}`, scope });
      return store
        .for(scope)
        .commit({ insert: [{ row, vector: at(0.5) }], audit: [entryOf({ id: `e${n}`, memory: row.id })] });
    });
    await Promise.all(writes);
    for (const scope of [ANA, BEN]) {
      expect(await store.for(scope).find({ limit: 99 })).toHaveLength(6);
      expect(await store.for(scope).audit({ limit: 99 })).toHaveLength(6);
      expect(await ranked(store, questionOf(), scope)).toHaveLength(6);
    }
  });

  specify('what a commit wrote is seen by the next ranking', async (store) => {
    await put(store, [rowOf({ id: 'a', content: 'knee' })]);
    const trust = async () => (await store.for(ANA).rank(questionOf({ text: 'knee' }))).ranked[0]?.trust;
    expect(await trust()).toBe(1);
    const stored = await read(store, 'a');
    await store.for(ANA).commit({ update: [{ ...stored, row: { ...stored.row, confidence: 0.5 } }] });
    expect(await trust()).toBe(0.75);
    await put(store, [rowOf({ id: 'b', content: 'knee' })], [0.9]);
    expect(await ranked(store, questionOf({ text: 'knee' }))).toEqual(['b', 'a']);
  });

  specify('an update keeps the text and the vector', async (store) => {
    await put(store, [rowOf({ id: 'a', content: 'knee', title: 'title', tags: ['x'] })], [0.9]);
    const stored = await read(store, 'a');
    await store.for(ANA).commit({ update: [{ ...stored, row: { ...stored.row, freshAt: NOW, supersedes: ['z'] } }] });
    const { ranked } = await store.for(ANA).rank(questionOf({ text: 'knee' }));
    expect(ranked).toMatchObject([
      { row: { id: 'a', content: 'knee', title: 'title', tags: ['x'], freshAt: NOW }, semantic: 1 },
    ]);
    expect(ranked[0]?.lexical).toBeGreaterThan(0);
  });

  specify('an update leaves alone what is written once', async (store) => {
    const row = rowOf({ id: 'a', content: 'knee', title: 'title', tags: ['x'], plannedTo: NOW + DAY });
    await put(store, [row], [0.9]);
    const stored = await read(store, 'a');
    const other = rowOf({
      id: 'a',
      kind: 'semantic',
      topic: 'fact',
      title: 'other',
      content: 'elbow',
      tags: ['y'],
      createdAt: T0 + 1,
      validFrom: T0 + 2,
      plannedTo: null,
      similarTo: ['z'],
    });
    await store.for(ANA).commit({ update: [{ ...stored, row: { ...other, freshAt: row.freshAt, confidence: 0.5 } }] });
    const { changedAt, heardAt } = other;
    const wanted = { ...row, confidence: 0.5, changedAt, heardAt };
    expect((await read(store, 'a')).row).toEqual(wanted);
    const [once] = await store.for(ANA).get(['a']);
    const more = rowOf({ id: 'b' });
    if (once) {
      const changed = { ...other, freshAt: row.freshAt, confidence: 0.4 };
      await store.for(ANA).commit({ insert: [{ row: more, vector: at(0.1) }], update: [{ ...once, row: changed }] });
    }
    expect((await read(store, 'a')).row).toEqual({ ...wanted, confidence: 0.4 });
    expect(
      (await store.for(ANA).find({ topic: row.topic, kind: row.kind, limit: 9 })).map(({ row }) => row.id),
    ).toEqual(['b', 'a']);
  });

  specify('an update changes what a memory was derived from', async (store) => {
    await put(store, [rowOf({ id: 'a', derivedFrom: ['s1', 's2'] })]);
    const stored = await read(store, 'a');
    await store.for(ANA).commit({ update: [{ ...stored, row: { ...stored.row, derivedFrom: ['s2', 's3'] } }] });
    const ids = async (derivedFrom: string) =>
      (await store.for(ANA).find({ derivedFrom, limit: 9 })).map(({ row }) => row.id);
    expect([await ids('s1'), await ids('s2'), await ids('s3')]).toEqual([[], ['a'], ['a']]);
  });

  specify('superseding is one commit: the new row comes and the old one closes', async (store) => {
    await put(store, [rowOf({ id: 'old' })]);
    const stored = await read(store, 'old');
    const row = { ...closed(stored.row, NOW, NOW, 'superseded'), supersededBy: 'new' };
    await store.for(ANA).commit({
      insert: [{ row: rowOf({ id: 'new', createdAt: NOW, supersedes: ['old'] }), vector: at(0.5) }],
      update: [{ row, version: stored.version }],
      audit: [entryOf({ id: '1', memory: 'old', before: stored.row, after: row })],
    });
    const result = await store.for(ANA).rank(questionOf());
    expect(result.ranked.map(({ row }) => row.id)).toEqual(['new']);
    expect(result.linked).toEqual([row]);
  });

  specify(
    'an erased memory is gone from everywhere, with its audit contents, and leaves a tombstone',
    async (store) => {
      const row = rowOf({ id: 'a', content: 'secret knee', derivedFrom: ['s'] });
      const other = rowOf({ id: 'b', content: 'knee' });
      const audit = [
        entryOf({ id: '1', memory: 'a', after: row, detail: { note: 'secret' } }),
        entryOf({ id: '2', memory: 'b', after: other }),
      ];
      await store.for(ANA).commit({ insert: [row, other].map((row) => ({ row, vector: at(0.95) })), audit });
      const stored = await read(store, 'a');
      await store.for(ANA).commit({
        erase: [{ ...stored, at: NOW }],
        audit: [entryOf({ id: '3', memory: 'a', verb: 'erase', at: NOW })],
      });
      const query = questionOf({ text: 'secret knee', includeHistory: true });
      expect(await ranked(store, query)).toEqual(['b']);
      expect((await store.for(ANA).nearest({ ...query, minCosine: 0 })).map(({ row }) => row.id)).toEqual(['b']);
      expect(await store.for(ANA).get(['a'])).toEqual([]);
      expect((await store.for(ANA).find({ limit: 9 })).map(({ row }) => row.id)).toEqual(['b']);
      expect(await store.for(ANA).find({ derivedFrom: 's', limit: 9 })).toEqual([]);
      expect(await store.for(ANA).tombstones(['a'])).toEqual([{ id: 'a', at: NOW }]);
      const entries = await store.for(ANA).audit({ limit: 9 });
      expect(entries.map(({ id, after, detail }) => [id, after?.id, detail])).toEqual([
        ['3', undefined, null],
        ['2', 'b', null],
        ['1', undefined, null],
      ]);
    },
  );

  specify('an erased id is not inserted again by its user, but by others', async (store) => {
    await put(store, [rowOf({ id: 'a' })]);
    await store.for(ANA).commit({ erase: [{ ...(await read(store, 'a')), at: NOW }] });
    await expect(put(store, [rowOf({ id: 'a' })])).rejects.toThrow(VersionConflict);
    await put(store, [rowOf({ id: 'a', scope: BEN })]);
    expect(await store.for(BEN).find({ limit: 9 })).toHaveLength(1);
  });

  specify('a memory that changed since it was read is not erased', async (store) => {
    await put(store, [rowOf({ id: 'a' })]);
    const stored = await read(store, 'a');
    await store.for(ANA).commit({ update: [{ ...stored, row: { ...stored.row, confirmedAt: NOW } }] });
    await expect(store.for(ANA).commit({ erase: [{ ...stored, at: NOW }] })).rejects.toThrow(VersionConflict);
    expect(await store.for(ANA).tombstones(['a'])).toEqual([]);
    expect((await read(store, 'a')).row.confirmedAt).toBe(NOW);
  });

  specify('a handle refuses rows of another scope', async (store) => {
    for (const scope of [BEN, SHARED] as const) {
      const insert = [{ row: rowOf({ id: 'a', scope }), vector: at(1) }];
      await expect(store.for(ANA).commit({ insert })).rejects.toThrow(SupersededError);
      expect(await store.for(scope).find({ limit: 9 })).toEqual([]);
    }
  });

  specify('a commit may hold a thousand rows', async (store) => {
    const rows = Array.from({ length: 1000 }, (_, n) => rowOf({ id: `m${n}`, content: `memory number ${n}` }));
    await put(
      store,
      rows,
      rows.map(() => 0),
    );
    expect(await store.for(ANA).find({ limit: 2000 })).toHaveLength(1000);
    expect((await ranked(store, questionOf({ text: 'number 777' })))[0]).toBe('m777');
  });

  specify('an empty commit changes nothing', async (store) => {
    await put(store, [rowOf({ id: 'a' })]);
    const before = await read(store, 'a');
    await store.for(ANA).commit({});
    await store.for(ANA).commit({ insert: [], update: [], erase: [], audit: [] });
    expect(await read(store, 'a')).toEqual(before);
  });

  specify('loading writes rows and audit entries of several scopes, all or none', async (store) => {
    const rows = [rowOf({ id: 'a' }), rowOf({ id: 'b', scope: BEN }), rowOf({ id: 'c', scope: SHARED })];
    const insert = rows.map((row) => ({ row, vector: at(0.5) }));
    const audit = rows.map((row, n) => entryOf({ id: `${n}`, memory: row.id, after: row, at: T0 + DAY }));
    await store.load({ insert, audit });
    for (const row of rows) {
      expect((await store.for(row.scope).find({ limit: 9 })).map((stored) => stored.row)).toEqual([row]);
      expect((await store.for(row.scope).audit({ limit: 9 })).map(({ memory }) => memory)).toEqual([row.id]);
    }
    const again = [rowOf({ id: 'new' }), rowOf({ id: 'b', scope: BEN })].map((row) => ({ row, vector: at(0.5) }));
    await expect(store.load({ insert: again })).rejects.toThrow(VersionConflict);
    expect(await store.for(ANA).get(['new'])).toEqual([]);
    expect((await ranked(store, questionOf())).sort()).toEqual(['a', 'c']);
  });
}
