import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { createEmbeddedStore } from '../../src/stores/embedded.ts';
import { createSuperseded } from '../../src/superseded.ts';
import { createFakeEmbedder, FAKE_MODEL } from '../fake-embedder.ts';
import { live, lives } from '../model/lives.ts';
import { CLOCKS } from '../stories/clocks.ts';
import { ENDINGS } from '../stories/endings.ts';
import { SAYING } from '../stories/saying.ts';
import { SUPERSESSION } from '../stories/supersession.ts';
import { tell } from '../stories/tell.ts';
import { WINDOW_STORIES } from '../stories/windows.ts';
import { afterThisTest, type TestService, temporaryFolder } from '../temporary.ts';
import { newStore, onWhat } from './stores.ts';

/** The life of a memory on Elasticsearch: the stories, random lives against the plain model, writers at once. */

/** As in continuous integration; each life is some forty requests to the node. */
const RUNS = Number(process.env.MODEL_RUNS_ELASTICSEARCH ?? 25);

async function service(start = '2026-03-01T09:00:00Z'): Promise<TestService> {
  const embedder = createFakeEmbedder();
  const state = { now: Date.parse(start) };
  const store = await newStore({ embedding: FAKE_MODEL });
  const opened = createSuperseded({ store, embedder, clock: () => state.now });
  afterThisTest(() => opened.close());
  const at = (instant: string) => {
    made.now = Date.parse(instant);
  };
  const made: TestService = Object.assign(state, opened, { embedder, at });
  return made;
}

describe.skipIf(inject('cluster') === null)(`the life of a memory on Elasticsearch${onWhat()}`, () => {
  for (const [kind, stories] of Object.entries({ SUPERSESSION, ENDINGS, CLOCKS, SAYING })) {
    it(`has all ${stories.length} stories of ${kind.toLowerCase()}`, { timeout: 600_000 }, async () => {
      const cluster = await service();
      for (const [index, story] of stories.entries()) {
        const users = { ann: `ann-${index}`, ben: `ben-${index}` } as Record<string, string>;
        const renamed: TestService = Object.assign(Object.create(cluster), {
          for: (user: string, source?: string) => cluster.for(users[user] ?? user, source),
        });
        await tell(renamed, story);
      }
    });
  }

  // The others differ in what a verb notes, not in what a store adds up; its contract has that for any rows.
  const told = [
    'a value that changes every five days gets a window of its own, and recall ages by it',
    'what the service does by itself is no change of mind',
    'saying the same again or elsewhere, merging, closing, denying and planned ends are no changes of mind',
    'a confirmation adds exposure, reading none, and silence none',
    'what is known to end later has not ended yet',
    'an erased memory leaves the counts',
  ];
  it.each(told)('learns windows: %s', { timeout: 120_000 }, async (name) => {
    const story = WINDOW_STORIES[name];
    if (!story) throw new Error('There is no such story.');
    await story(await service('2026-01-01T00:00:00Z'));
  });

  it(`agrees with a plain model over ${RUNS} random lives`, { timeout: 1_200_000 }, async () => {
    const cluster = await service();
    let user = 0;
    const told = async (life: Parameters<typeof live>[2]) =>
      live(cluster.for(`user-${user++}`), (at) => cluster.at(new Date(at).toISOString()), life);
    await fc.assert(fc.asyncProperty(lives, told), { numRuns: RUNS });
  });

  it('leaves one winner of sixteen writers of one head, and nothing of the others', async () => {
    const user = (await service()).for('ann');
    await user.remember({ id: 'head', content: 'Tea' });
    const writers = Array.from({ length: 16 }, (_, index) =>
      user.remember({ id: `w${index}`, content: `Drink ${index}`, supersedes: ['head'] }),
    );
    const results = await Promise.allSettled(writers);
    const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.memory.id] : []));
    expect(won).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CONFLICT' });
    }
    const all = (await user.list({ status: 'all', limit: 100 })).memories.map(({ id }) => id).sort();
    expect(all).toEqual(['head', won[0]].sort());
    expect((await user.recall({ query: 'drink tea', includeHistory: true })).hits).toHaveLength(2);
    expect((await user.audit({ limit: 100 })).entries).toHaveLength(3);
  });

  it('carries memories over to the embedded store and back with the same recall', async () => {
    const cluster = await service();
    const user = cluster.for('ann');
    await user.remember({ id: 'a', content: 'Tea in the morning', tags: ['z', 'a'], confidence: 0.7 });
    await user.remember({ id: 'b', content: 'Coffee in the morning', supersedes: ['a'], title: 'Drink' });
    await user.feedback('b', { outcome: 0.4 });
    const file = await user.exportNdjson();
    const folder = temporaryFolder();
    const store = createEmbeddedStore({ file: `${folder}/a.db`, model: async () => FAKE_MODEL });
    const embedded = createSuperseded({ store, embedder: createFakeEmbedder(), clock: () => cluster.now });
    const copy = embedded.for('ann');
    await copy.importNdjson(file);
    expect(await copy.exportNdjson()).toBe(file);
    const { hits } = await copy.recall({ query: 'morning', includeHistory: true });
    const there = (await user.recall({ query: 'morning', includeHistory: true })).hits;
    expect(there.map(({ memory }) => memory)).toEqual(hits.map(({ memory }) => memory));
    await embedded.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
