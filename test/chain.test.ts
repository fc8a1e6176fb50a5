import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PRESET_NAMES } from '../src/aging.ts';
import { temporaryService } from './temporary.ts';

/** The chain guarantee, as a property: over ages, similarities, windows and limits. */

const topics = ['preference', 'plan', 'event', 'constraint', 'lodging'];
const words = ['tea', 'coffee', 'museum', 'harbour', 'walk', 'late', 'early'];

const memory = fc.record({
  said: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 }),
  topic: fc.constantFrom(...topics),
  gapHours: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 9000 })),
  follows: fc.array(fc.nat({ max: 9 }), { maxLength: 2 }),
});

it('a closed memory never precedes its successor, and is absent unless history is asked for', async () => {
  const service = temporaryService('2020-01-01T00:00:00Z');
  let run = 0;
  const life = fc.array(memory, { minLength: 2, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(
      life,
      fc.constantFrom(...words),
      fc.constantFrom(...PRESET_NAMES),
      fc.integer({ min: 1, max: 12 }),
      fc.option(fc.constantFrom(...topics), { nil: undefined }),
      async (memories, query, preset, limit, topic) => {
        const user = service.for(`u${run++}`);
        service.at('2020-01-01T00:00:00Z');
        for (const [index, { said, topic: about, gapHours, follows }] of memories.entries()) {
          service.now += gapHours * 3_600_000;
          const open = (await user.list({ limit: 100 })).memories.map(({ id }) => id);
          const supersedes = [...new Set(follows.flatMap((at) => open[at] ?? []))];
          await user.remember({
            id: `m${index}`,
            content: said.join(' '),
            topic: about,
            ...(supersedes.length > 0 ? { supersedes } : {}),
          });
        }
        const plain = await user.recall({ query, preset, limit, ...(topic ? { topics: [topic] } : {}) });
        for (const { memory } of plain.hits) expect(memory.status).toBe('open');
        const { hits } = await user.recall({
          query,
          preset,
          limit,
          includeHistory: true,
          ...(topic ? { topics: [topic] } : {}),
        });
        expect(hits.length).toBeLessThanOrEqual(limit);
        const order = hits.map(({ memory }) => memory.id);
        expect(new Set(order).size).toBe(order.length);
        for (const { memory } of hits) {
          if (memory.status !== 'superseded' || memory.supersededBy === null) continue;
          expect(order.indexOf(memory.supersededBy), `${order}: ${memory.id}`).toBeGreaterThanOrEqual(0);
          expect(order.indexOf(memory.supersededBy)).toBeLessThan(order.indexOf(memory.id));
        }
      },
    ),
    { numRuns: 40 },
  );
}, 120_000);

it('a successor that was retired before its time still comes before what it replaced', async () => {
  const service = temporaryService('2026-03-01T08:00:00Z');
  const user = service.for('ann');
  await user.remember({ id: 'a', content: 'A note on tea', validTo: '2026-03-01T09:00:00Z' });
  await user.remember({ id: 'b', content: 'A note', supersedes: ['a'], validFrom: '2026-03-01T10:00:00Z' });
  await user.close('b');
  service.at('2026-03-01T09:30:00Z');
  const { hits } = await user.recall({ query: 'tea note', includeHistory: true });
  expect(hits.map(({ memory }) => memory.id)).toEqual(['b', 'a']);
});

it('sixteen writers of one head leave one winner and fifteen conflicts that name it, of which nothing is visible', async () => {
  const user = temporaryService().for('ann');
  await user.remember({ id: 'head', content: 'Tea' });
  const writers = Array.from({ length: 16 }, (_, index) =>
    user.remember({ id: `w${index}`, content: `Drink ${index}`, supersedes: ['head'] }),
  );
  const results = await Promise.allSettled(writers);
  const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.memory.id] : []));
  expect(won).toHaveLength(1);
  for (const result of results)
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CONFLICT', head: won[0] });
  const all = (await user.list({ status: 'all', limit: 100 })).memories.map(({ id }) => id).sort();
  expect(all).toEqual(['head', won[0]].sort());
  expect((await user.audit({ limit: 100 })).entries).toHaveLength(3);
});
