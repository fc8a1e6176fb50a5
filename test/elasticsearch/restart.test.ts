import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { SupersededError } from '../../src/errors.ts';
import { createElasticsearchStore, type ElasticsearchStore } from '../../src/stores/elasticsearch.ts';
import { startNode, type TestNode } from '../elasticsearch-node/node.ts';
import { type StandIn, startStandIn } from '../esql-stand-in.ts';
import { ANA, at, entryOf, modelOf, questionOf, ranked, rowOf } from '../store-fixtures.ts';
import { newIndex, onWhat } from './stores.ts';

/** A node that is killed and comes back in the middle of writes; one of its own, which no other suite is using. */

const kind = inject('cluster')?.kind;

describe.skipIf(kind === undefined || kind === 'external')(`a node that restarts${onWhat()}`, () => {
  let node: TestNode;
  let standIn: StandIn | null = null;
  beforeAll(async () => {
    const started = await startNode({ heap: '512m' });
    if ('skipped' in started) throw new Error(started.skipped);
    node = started;
    if (node.kind === 'jars') standIn = await startStandIn({ target: node.url });
  });
  afterAll(async () => {
    await standIn?.stop();
    await node?.stop();
  });

  const opened = (clock = Date.now): ElasticsearchStore =>
    createElasticsearchStore({
      connection: { url: standIn?.url ?? node.url },
      index,
      inferenceId: null,
      model: async () => modelOf(8),
      refresh: true,
      requestTimeoutMs: 10_000,
      clock,
    });
  const index = newIndex();

  it('loses nothing that was acknowledged, fails with a code meanwhile, and goes on afterwards', async () => {
    const store = opened();
    await store.setup();
    const acknowledged: string[] = [];
    const failures: unknown[] = [];
    let over = false;
    const writer = async (name: string) => {
      for (let n = 0; !over; n++) {
        const row = rowOf({ id: `${name}-${n}` });
        const audit = [entryOf({ id: `e-${row.id}`, memory: row.id, after: row })];
        const insert = [{ row, vector: at(0.5) }];
        await store
          .for(ANA)
          .commit({ insert, audit })
          .then(
            () => acknowledged.push(row.id),
            (error: unknown) => failures.push(error),
          );
      }
    };
    const until = async (done: () => boolean) => {
      while (!done()) await new Promise((wait) => setTimeout(wait, 20));
    };
    const writers = Promise.all(['a', 'b', 'c'].map(writer));
    await until(() => acknowledged.length >= 12);
    node.kill();
    await until(() => failures.length >= 3);
    await node.restart();
    const before = acknowledged.length;
    await until(() => acknowledged.length >= before + 12);
    over = true;
    await writers;
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(SupersededError);
      expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE', hint: expect.any(String) });
    }
    // Long after: what the failed commits left is finished or undone, each as a whole.
    const later = opened(() => Date.now() + 60_000);
    await later.settleAll();
    expect(await later.settleAll()).toEqual({ finished: 0, undone: 0, busy: 0 });
    const rows = (await later.for(ANA).find({ limit: 5000 })).map(({ row }) => row.id);
    const entries = (await later.for(ANA).audit({ limit: 5000 })).map(({ memory }) => memory);
    expect(new Set(rows).size).toBe(rows.length);
    expect(acknowledged.filter((id) => !rows.includes(id))).toEqual([]);
    expect(entries.sort()).toEqual(rows.sort());
    expect((await ranked(later, questionOf())).length).toBe(Math.min(80, rows.length));
    await Promise.all([store.close(), later.close()]);
  });
});
