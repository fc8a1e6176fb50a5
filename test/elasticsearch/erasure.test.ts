import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { MemoryRow } from '../../src/memory.ts';
import type { MemoryStore } from '../../src/store.ts';
import type { ElasticsearchStore } from '../../src/stores/elasticsearch.ts';
import { ANA, at, closed, entryOf, NOW, rowOf } from '../store-fixtures.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { ask, clusterOfRun, newIndex, newStore, onWhat, storeOn } from './stores.ts';

/** Row and audit entry are one: no entry without its row, and none that outlives an erasure with what was said. */

const SECRET = 'kryptonite';
const ROW = rowOf({ id: 'a', content: `allergic to ${SECRET}` });
const HARMED: MemoryRow = { ...ROW, confidence: 0.4 };

/** Everything the node holds in both indices, read past the product. */
async function stored(index: string): Promise<string> {
  await ask(`/${index}*/_refresh`, 'POST');
  return ask(`/${index}*/_search?size=1000`);
}

const isAudit = (id: string) => id.startsWith('audit|');

describe.skipIf(inject('cluster') === null)(`erasing while others write${onWhat()}`, () => {
  let proxy: FaultProxy;
  beforeAll(async () => {
    proxy = await startFaultProxy(clusterOfRun().url);
  });
  afterAll(() => proxy?.stop());

  async function opened() {
    proxy.fault = () => 'pass';
    const index = newIndex();
    return { index, near: await newStore({ index }), far: storeOn({ index, url: proxy.url }) };
  }

  /** Erases the memory as soon as it shows; false where it does not before the other commit is over. */
  async function eraseSoon(store: MemoryStore, over: () => boolean): Promise<boolean> {
    for (let last = false; ; last = over()) {
      const [found] = await store.for(ANA).get(['a']);
      const changes = found && { erase: [{ ...found, at: NOW }], audit: [entryOf({ id: 'e9', memory: 'a', at: NOW })] };
      const done =
        changes &&
        (await store
          .for(ANA)
          .commit(changes)
          .then(
            () => true,
            () => false,
          ));
      if (done || last) return done ?? false;
    }
  }

  async function expectErased(index: string, store: ElasticsearchStore): Promise<void> {
    expect(await store.for(ANA).get(['a'])).toEqual([]);
    const entries = await store.for(ANA).audit({ memory: 'a', limit: 9 });
    expect(entries.filter(({ before, after, detail }) => before ?? after ?? detail)).toEqual([]);
    expect(await stored(index)).not.toContain(SECRET);
  }

  /** An overloaded node takes the rows of a bulk and refuses its audit entries, for some attempts. */
  const refuseAudit = (times: number) => {
    let left = times;
    proxy.fault = ({ path, body }) => {
      if (!path.startsWith('/_bulk') || !body.includes('"audit|') || left-- <= 0) return 'pass';
      return { busy: isAudit };
    };
  };

  it('a new memory whose audit entry comes late leaves no text behind', async () => {
    const { index, near, far } = await opened();
    refuseAudit(4);
    let over = false;
    const audit = [entryOf({ id: 'e1', memory: 'a', after: ROW, detail: { note: SECRET } })];
    const write = far.for(ANA).commit({ insert: [{ row: ROW, vector: at(0.5) }], audit });
    const erased = eraseSoon(near, () => over);
    await write;
    over = true;
    expect(await erased).toBe(true);
    await expectErased(index, near);
    await Promise.all([near.close(), far.close()]);
  });

  it('a changed memory whose audit entry comes late leaves no text behind', async () => {
    const { index, near, far } = await opened();
    await near.load({ insert: [{ row: ROW, vector: at(0.5) }] });
    const [read] = await far.for(ANA).get(['a']);
    if (!read) throw new Error('the fixture is missing');
    refuseAudit(4);
    let over = false;
    const audit = [entryOf({ id: 'e1', memory: 'a', before: ROW, after: HARMED, detail: { note: SECRET } })];
    const write = far.for(ANA).commit({ update: [{ row: HARMED, version: read.version }], audit });
    const settled = write.then(
      () => 'written',
      () => 'refused',
    );
    const erased = eraseSoon(near, () => over);
    await settled;
    over = true;
    expect(await erased).toBe(true);
    await expectErased(index, near);
    await Promise.all([near.close(), far.close()]);
  });

  it('an erasure that cannot reach the audit trail hides what was said, says so, and is finished by a repeat', async () => {
    const { index, near, far } = await opened();
    const audit = [entryOf({ id: 'e1', memory: 'a', after: ROW })];
    await near.for(ANA).commit({ insert: [{ row: ROW, vector: at(0.5) }], audit });
    const [read] = await far.for(ANA).get(['a']);
    if (!read) throw new Error('the fixture is missing');
    proxy.fault = ({ path, body }) =>
      path.startsWith('/_bulk') && body.includes('"before":null') && !body.includes('"create"')
        ? { busy: isAudit }
        : 'pass';
    const erasing = far.for(ANA).commit({ erase: [{ ...read, at: NOW }] });
    await expect(erasing).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    proxy.fault = () => 'pass';
    const entries = await near.for(ANA).audit({ memory: 'a', limit: 9 });
    expect(entries.map(({ id, after }) => [id, after])).toEqual([['e1', null]]);
    expect(await near.for(ANA).get(['a'])).toEqual([]);
    expect(await near.for(ANA).tombstones(['a'])).toEqual([{ id: 'a', at: NOW }]);
    await expectErased(index, near);
    await Promise.all([near.close(), far.close()]);
  });

  it('a writer that dies when its row met a conflict leaves no entry of what never was', async () => {
    const { index, near, far } = await opened();
    await near.load({ insert: [{ row: ROW, vector: at(0.5) }] });
    const [read] = await far.for(ANA).get(['a']);
    if (!read) throw new Error('the fixture is missing');
    // Reads pass until the write, so that only the write meets the conflict.
    const died = new Promise<void>((resolve) => {
      proxy.fault = ({ path }) => {
        if (!path.startsWith('/_bulk')) return 'pass';
        proxy.fault = () => 'hold';
        setTimeout(resolve, 500);
        return 'swallow';
      };
    });
    const audit = [entryOf({ id: 'e1', memory: 'a', after: ROW })];
    const write = far.for(ANA).commit({ insert: [{ row: ROW, vector: at(0.5) }], audit });
    write.catch(() => undefined);
    await died;
    const later = storeOn({ index, clock: () => Date.now() + 60_000 });
    for (const store of [near, later]) expect(await store.for(ANA).audit({ limit: 9 })).toEqual([]);
    await later.settleAll();
    expect(await near.for(ANA).audit({ limit: 9 })).toEqual([]);
    expect((await near.for(ANA).get(['a'])).map(({ row }) => row)).toEqual([ROW]);
    // The writer is dead: nobody closes it.
    await Promise.all([near, later].map((store) => store.close()));
  });

  it('one row and its audit entry are written together or not at all', async () => {
    const { near, far } = await opened();
    refuseAudit(99);
    const audit = [entryOf({ id: 'e1', memory: 'a', after: ROW })];
    const insert = [{ row: ROW, vector: at(0.5) }];
    const failure = await far
      .for(ANA)
      .commit({ insert, audit })
      .catch((error) => error);
    expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE', hint: expect.stringContaining('Nothing was written') });
    expect(await near.for(ANA).get(['a'])).toEqual([]);
    proxy.fault = () => 'pass';
    await far.for(ANA).commit({ insert, audit });
    const [read] = await near.for(ANA).get(['a']);
    if (read) await near.for(ANA).commit({ update: [{ ...read, row: closed(ROW, NOW) }] });
    expect(await near.for(ANA).audit({ limit: 9 })).toEqual(audit);
    await Promise.all([near.close(), far.close()]);
  });
});
