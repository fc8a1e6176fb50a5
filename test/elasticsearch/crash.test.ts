import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { VersionConflict } from '../../src/errors.ts';
import type { MemoryRow } from '../../src/memory.ts';
import type { AuditEntry, Changes, MemoryStore } from '../../src/store.ts';
import type { ElasticsearchStore } from '../../src/stores/elasticsearch.ts';
import { ANA, at, closed, DAY, questionOf, rowOf, T0 } from '../store-fixtures.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { clusterOfRun, newIndex, newStore, onWhat, storeOn } from './stores.ts';

const entry = (id: string, memory: string, before: MemoryRow | null, after: MemoryRow | null): AuditEntry => ({
  id,
  at: T0 + DAY,
  actor: 'ana',
  verb: 'remember',
  memory,
  before,
  after,
  source: 'library',
  detail: null,
});

const OLD = rowOf({ id: 'old' });
const NEW = rowOf({ id: 'new', createdAt: T0 + DAY, supersedes: ['old'] });
const CLOSED: MemoryRow = { ...closed(OLD, T0 + DAY, T0 + DAY, 'superseded'), supersededBy: 'new' };
const OTHER = rowOf({ id: 'other' });

/** What every reader sees: each look-up must tell the same story. */
async function story(store: MemoryStore): Promise<'before' | 'after'> {
  const ana = store.for(ANA);
  const got = new Map((await ana.get(['old', 'new'])).map(({ row }) => [row.id, row]));
  const found = (await ana.find({ limit: 9 })).map(({ row }) => row);
  const ranking = await ana.rank(questionOf({ text: 'memory', limit: 9 }));
  const ranked = ranking.ranked.map(({ row }) => row.id).sort();
  const audit = (await ana.audit({ limit: 9 })).map(({ id }) => id).sort();
  if (got.has('new')) {
    expect(got).toEqual(
      new Map([
        ['old', CLOSED],
        ['new', NEW],
      ]),
    );
    expect(found).toEqual([NEW, OTHER, CLOSED]);
    expect(audit).toEqual(['e1', 'e2']);
    expect(ranked).toEqual(['new', 'other']);
    return 'after';
  }
  expect(got).toEqual(new Map([['old', OLD]]));
  expect(found).toEqual([OTHER, OLD]);
  expect(audit).toEqual([]);
  expect(ranked).toEqual(['old', 'other']);
  return 'before';
}

const supersession = async (store: MemoryStore): Promise<Changes> => {
  const [old] = await store.for(ANA).get(['old']);
  if (!old) throw new Error('the fixture is missing');
  return {
    insert: [{ row: NEW, vector: at(0.9) }],
    update: [{ row: CLOSED, version: old.version }],
    audit: [entry('e1', 'new', null, NEW), entry('e2', 'old', OLD, CLOSED)],
  };
};

const isWrite = ({ method, path }: { method: string; path: string }) =>
  method === 'PUT' || path.startsWith('/_bulk') || /\/_(doc|create)\//.test(path);

describe.skipIf(inject('cluster') === null)(`a writer that dies in the middle of a supersession${onWhat()}`, () => {
  let proxy: FaultProxy;
  beforeAll(async () => {
    proxy = await startFaultProxy(clusterOfRun().url);
  });
  afterAll(() => proxy?.stop());

  /** Rows old and other, and a store that writes through the proxy. */
  async function prepared(): Promise<{
    index: string;
    writer: ElasticsearchStore;
    now: ElasticsearchStore;
    later: ElasticsearchStore;
  }> {
    const index = newIndex();
    const now = await newStore({ index });
    await now.load({ insert: [OLD, OTHER].map((row) => ({ row, vector: at(0.5) })) });
    const later = storeOn({ index, clock: () => Date.now() + 60_000 });
    proxy.fault = () => 'pass';
    return { index, now, later, writer: storeOn({ index, url: proxy.url }) };
  }

  for (const [fault, when] of [
    ['hold', 'before'],
    ['swallow', 'after'],
  ] as const) {
    for (const write of [1, 2, 3, 4, 5]) {
      it(`${when} write ${write}: readers see all of it or nothing, now and once it is settled`, async () => {
        const { writer, now, later } = await prepared();
        const changes = await supersession(writer);
        let writes = 0;
        const died = new Promise<void>((resolve) => {
          proxy.fault = (request) => {
            if (!isWrite(request) || ++writes < write) return 'pass';
            proxy.fault = () => 'hold';
            // Long enough for what is carried out to reach the searches.
            setTimeout(resolve, fault === 'swallow' ? 1500 : 100);
            return fault;
          };
        });
        const done = writer
          .for(ANA)
          .commit(changes)
          .then(
            () => 'written',
            () => 'failed',
          );
        await Promise.race([died, done]);
        const first = await story(now);
        const settled = await story(later);
        if (first === 'after') expect(settled).toBe('after');
        // The fourth write and the fifth come after the decision, which the third is.
        expect(settled).toBe(write > 3 || (write === 3 && fault === 'swallow') ? 'after' : 'before');
        expect(await story(now)).toBe(settled);
        // What the dead writer had sent arrives in the end, and changes nothing.
        await proxy.release();
        expect(await story(later)).toBe(settled);
        if (settled === 'before') await later.for(ANA).commit(await supersession(later));
        expect(await story(now)).toBe('after');
        // A record may be left that no row waits for any more.
        expect(await later.settleAll()).toMatchObject({ busy: 0 });
        expect(await later.settleAll()).toEqual({ finished: 0, undone: 0, busy: 0 });
        expect(await story(now)).toBe('after');
        // The writer is dead: nobody closes it.
        await Promise.all([now, later].map((store) => store.close()));
      });
    }
  }

  it('doctor settles what nobody reads', async () => {
    const { writer, now, later } = await prepared();
    const changes = await supersession(writer);
    let writes = 0;
    const died = new Promise<void>((resolve) => {
      proxy.fault = (request) => {
        if (!isWrite(request) || ++writes < 3) return 'pass';
        proxy.fault = () => 'hold';
        resolve();
        return 'hold';
      };
    });
    writer
      .for(ANA)
      .commit(changes)
      .catch(() => undefined);
    await died;
    expect(await now.settleAll()).toEqual({ finished: 0, undone: 0, busy: 1 });
    expect(await later.settleAll()).toMatchObject({ finished: 0, busy: 0 });
    expect(await story(now)).toBe('before');
    // The writer is dead: nobody closes it.
    await Promise.all([now, later].map((store) => store.close()));
  });

  it('a commit whose every answer is lost once is written once', async () => {
    const { writer, now } = await prepared();
    const changes = await supersession(writer);
    const lost = new Set<string>();
    proxy.fault = (request) => {
      const key = `${request.method} ${request.path} ${request.body}`;
      if (!isWrite(request) || lost.has(key)) return 'pass';
      lost.add(key);
      return 'lose';
    };
    await writer.for(ANA).commit(changes);
    proxy.fault = () => 'pass';
    expect(lost.size).toBeGreaterThanOrEqual(5);
    expect(await story(now)).toBe('after');
    await Promise.all([writer, now].map((store) => store.close()));
  });

  it('of 8 writers on one chain each wins in its turn, and one head stays open', async () => {
    const index = newIndex();
    const stores = await Promise.all(Array.from({ length: 8 }, () => newStore({ index })));
    const [first] = stores;
    if (!first) throw new Error('no store');
    await first.for(ANA).commit({ insert: [{ row: rowOf({ id: 'm0' }), vector: at(0.5) }] });
    const conflicts = { count: 0 };
    const write = async (store: MemoryStore, name: string): Promise<void> => {
      for (let attempt = 0; attempt < 200; attempt++) {
        let head = (await store.for(ANA).get(['m0']))[0];
        while (head?.row.supersededBy) head = (await store.for(ANA).get([head.row.supersededBy]))[0];
        if (!head) throw new Error('the chain is broken');
        const row = rowOf({ id: name, createdAt: T0 + DAY, supersedes: [head.row.id] });
        const old: MemoryRow = { ...closed(head.row, T0 + DAY, T0 + DAY, 'superseded'), supersededBy: name };
        const audit = [entry(`${name}-1`, name, null, row), entry(`${name}-2`, old.id, head.row, old)];
        try {
          await store
            .for(ANA)
            .commit({ insert: [{ row, vector: at(0.5) }], update: [{ row: old, version: head.version }], audit });
          return;
        } catch (error) {
          if (!(error instanceof VersionConflict)) throw error;
          conflicts.count++;
          await new Promise((done) => setTimeout(done, Math.random() * 50));
        }
      }
      throw new Error('never won');
    };
    await Promise.all(stores.map((store, n) => write(store, `w${n}`)));
    const rows = (await first.for(ANA).find({ limit: 99 })).map(({ row }) => row);
    expect(rows).toHaveLength(9);
    expect(rows.filter(({ closedAt }) => closedAt === null)).toHaveLength(1);
    expect(new Set(rows.flatMap(({ supersedes }) => supersedes)).size).toBe(8);
    expect(await first.for(ANA).audit({ limit: 99 })).toHaveLength(16);
    expect(conflicts.count).toBeGreaterThan(0);
    await Promise.all(stores.map((store) => store.close()));
  });
});
