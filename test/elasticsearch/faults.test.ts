import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { SupersededError } from '../../src/errors.ts';
import type { MemoryStore } from '../../src/store.ts';
import { ANA, at, NOW, questionOf, rowOf } from '../store-fixtures.ts';
import { type Fault, type FaultProxy, type Seen, startFaultProxy } from './fault-proxy.ts';
import { ask, clusterOfRun, newIndex, newStore, onWhat, storeOn } from './stores.ts';

const rows = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ row: rowOf({ id: `m${String(n).padStart(4, '0')}` }), vector: at(0.5) }));
const entryOf = (memory: string) => ({
  id: `e-${memory}`,
  at: NOW,
  actor: 'ana',
  verb: 'seed',
  memory,
  before: null,
  after: null,
  source: 'library',
  detail: null,
});
const idsIn = async (store: MemoryStore) =>
  (await store.for(ANA).find({ limit: 5000 })).map(({ row }) => row.id).sort();
const isBulk = ({ path }: Seen) => path.startsWith('/_bulk');

describe.skipIf(inject('cluster') === null)(`a store behind a bad connection${onWhat()}`, () => {
  let proxy: FaultProxy;
  beforeAll(async () => {
    proxy = await startFaultProxy(clusterOfRun().url);
  });
  afterAll(() => proxy?.stop());

  const opened = async (requestTimeoutMs = 30_000) => {
    proxy.fault = () => 'pass';
    const index = newIndex();
    const near = await newStore({ index });
    return { index, near, far: storeOn({ index, url: proxy.url, requestTimeoutMs }) };
  };
  /** This fault for the first requests of the kind, so many times. */
  const first = (times: number, kind: (request: Seen) => boolean, fault: Fault) => {
    let left = times;
    proxy.fault = (request) => (kind(request) && left-- > 0 ? fault : 'pass');
  };

  const passing: [string, Fault, number, number?][] = [
    ['a connection that breaks', 'drop', 2],
    ['an answer that is lost', 'lose', 2],
    ['an answer that is cut short', 'cut', 2],
    ['a 503', { status: 503, body: { error: { type: 'unavailable_shards_exception', reason: '' }, status: 503 } }, 2],
    [
      'a 429',
      { status: 429, body: { error: { type: 'es_rejected_execution_exception', reason: '' }, status: 429 } },
      2,
    ],
    ['a bulk that does not answer in time', 'swallow', 1, 5000],
  ];
  it.each(passing)('writes all once, in spite of %s', async (_, fault, times, timeout) => {
    const { near, far } = await opened(timeout);
    first(times, isBulk, fault);
    await far.for(ANA).commit({ insert: rows(1), audit: [entryOf('m0000')] });
    first(times, isBulk, fault);
    const more = rows(1200).slice(1);
    await far.for(ANA).commit({ insert: more, audit: more.map(({ row }) => entryOf(row.id)) });
    expect(await idsIn(near)).toEqual(rows(1200).map(({ row }) => row.id));
    expect(await near.for(ANA).audit({ limit: 5000 })).toHaveLength(1200);
    await Promise.all([near.close(), far.close()]);
  });

  it('sends an item again that a bulk did not take, and no other', async () => {
    const { near, far } = await opened();
    const refused = (answer: string) => {
      const body = JSON.parse(answer) as { errors: boolean; items: Record<string, object>[] };
      const error = { type: 'es_rejected_execution_exception', reason: 'busy' };
      body.items[1] = { create: { _id: 'x', status: 429, error } };
      return JSON.stringify({ ...body, errors: true });
    };
    first(1, isBulk, { change: refused });
    const start = proxy.seen.length;
    await far.for(ANA).commit({ insert: rows(3) });
    const sent = proxy.seen.slice(start).filter(isBulk);
    expect(sent.map(({ body }) => body.trim().split('\n').length)).toEqual([6, 2]);
    expect(await idsIn(near)).toEqual(['m0000', 'm0001', 'm0002']);
    await Promise.all([near.close(), far.close()]);
  });

  it('one item that fails for good undoes the commit, and is named', async () => {
    const { near, far } = await opened();
    const refused = (answer: string) => {
      const body = JSON.parse(answer) as { items: Record<string, object>[] };
      body.items[1] = {
        create: { _id: 'x', status: 400, error: { type: 'document_parsing_exception', reason: 'private' } },
      };
      return JSON.stringify({ ...body, errors: true });
    };
    first(1, isBulk, { change: refused });
    const failure = await far
      .for(ANA)
      .commit({ insert: rows(3) })
      .catch((error) => error);
    expect(failure).toBeInstanceOf(SupersededError);
    expect(failure).toMatchObject({ code: 'STORE_FAILED', hint: expect.stringContaining('Nothing was written') });
    expect(failure.issues).toEqual([{ path: `${ANA}|m0001`, message: '400 document_parsing_exception' }]);
    expect(JSON.stringify([failure.message, failure.hint])).not.toContain('private');
    expect(await idsIn(near)).toEqual([]);
    await near.settleAll();
    await far.for(ANA).commit({ insert: rows(3) });
    expect(await idsIn(near)).toEqual(['m0000', 'm0001', 'm0002']);
    await Promise.all([near.close(), far.close()]);
  });

  it('a cluster that goes away in the middle of a load leaves nothing that shows, and the load can be repeated', async () => {
    const { index, near, far } = await opened();
    let bulks = 0;
    proxy.fault = (request) => ((isBulk(request) && ++bulks > 1) || bulks > 1 ? 'drop' : 'pass');
    const failure = await far.load({ insert: rows(1200) }).catch((error) => error);
    expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await idsIn(near)).toEqual([]);
    const later = storeOn({ index, clock: () => Date.now() + 60_000 });
    expect(await later.settleAll()).toMatchObject({ undone: 1, busy: 0 });
    await later.load({ insert: rows(1200) });
    expect(await idsIn(near)).toHaveLength(1200);
    await Promise.all([near.close(), far.close(), later.close()]);
  });

  it('setup refuses another model, a newer schema and an index that is not ours', async () => {
    const { index, near } = await opened();
    const other = storeOn({ index, embedding: { ...(await near.model()), name: 'another' } });
    await expect(other.setup()).rejects.toMatchObject({
      code: 'MODEL_MISMATCH',
      hint: expect.stringContaining('export'),
    });
    await ask(`/${index}/_mapping`, 'PUT', { _meta: { superseded: { schema: 99 } } });
    await expect(storeOn({ index }).setup()).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' });
    const foreign = newIndex();
    await ask(`/${foreign}`, 'PUT', {});
    await expect(storeOn({ index: foreign }).setup()).rejects.toMatchObject({ code: 'CONFIGURATION' });
    await near.close();
  });

  it('an answer that lacks a part is refused, not ranked', async () => {
    const { near, far } = await opened();
    await near.load({ insert: rows(1) });
    expect((await far.for(ANA).rank(questionOf())).ranked).toHaveLength(1);
    const partial = (answer: string) => JSON.stringify({ ...(JSON.parse(answer) as object), is_partial: true });
    proxy.fault = ({ path }) => (path.startsWith('/_query') ? { change: partial } : 'pass');
    const start = proxy.seen.length;
    const failure = await far
      .for(ANA)
      .rank(questionOf())
      .catch((error) => error);
    expect(failure).toBeInstanceOf(SupersededError);
    expect(failure).toMatchObject({ code: 'STORE_FAILED', hint: expect.stringContaining('health') });
    for (const { path } of proxy.seen.slice(start)) {
      if (path.startsWith('/_query')) expect(path).toContain('allow_partial_results=false');
    }
    await Promise.all([near.close(), far.close()]);
  });

  it('a write before setup makes no index of its own', async () => {
    const store = storeOn();
    const write = store.for(ANA).commit({ insert: rows(1) });
    await expect(write).rejects.toMatchObject({
      code: 'CONFIGURATION',
      hint: expect.stringContaining('superseded setup'),
    });
    await expect(store.for(ANA).get(['m0000'])).rejects.toMatchObject({ code: 'CONFIGURATION' });
    await store.close();
  });
});
