import { describe, expect, inject, it } from 'vitest';
import { ANA, DAY, HOUR, NOW, read, T0 } from '../store-fixtures.ts';
import { ask, newIndex, newStore, onWhat, storeOn } from './stores.ts';

/** Indices that an older version of this product made. */

/** The newest mapping, less what schema 2 added. */
async function indexOfSchema1(): Promise<string> {
  const modern = newIndex();
  const store = await newStore({ index: modern });
  const answer = JSON.parse(await ask(`/${modern}/_mapping`)) as Record<
    string,
    { mappings: { properties: Record<string, object>; _meta: { superseded: object } } }
  >;
  const [mappings] = Object.values(answer).map((index) => index.mappings);
  if (!mappings) throw new Error('The index has no mapping.');
  const { heard_at: _heard, watched_from: _watched, ...properties } = mappings.properties;
  const _meta = { superseded: { ...mappings._meta.superseded, schema: 1 } };
  const index = newIndex();
  await ask(`/${index}-000001`, 'PUT', {
    aliases: { [index]: { is_write_index: true } },
    settings: { number_of_shards: 1 },
    mappings: { dynamic: 'strict', properties, _meta },
  });
  await store.close();
  return index;
}

describe.skipIf(inject('cluster') === null)(`an index of schema 1${onWhat()}`, () => {
  it('gets the fields that are new, and what belongs into them: its memories count for windows', async () => {
    const index = await indexOfSchema1();
    const document = { id: 'old', scope: ANA, kind: 'episodic', topic: 'preference', content: 'tea', text_key: 'k' };
    const instants = { created_at: T0, valid_from: T0 - DAY, fresh_at: T0, confirmed_at: T0 + DAY, changed_at: T0 };
    const times = Object.fromEntries(Object.entries(instants).map(([name, at]) => [name, new Date(at).toISOString()]));
    const counts = { confidence: 1, feedback: 0, feedback_sum: 0, feedback_count: 0, changes: 0 };
    await ask(`/${index}/_doc/${encodeURIComponent(`${ANA}|old`)}?refresh=true`, 'PUT', {
      ...document,
      ...times,
      ...counts,
      ...{ changed_mind: false, never_valid: false, vector: [1, 0, 0, 0, 0, 0, 0, 0] },
    });
    const store = storeOn({ index });
    await store.setup();
    expect(JSON.parse(await ask(`/${index}/_mapping`))).toMatchObject({
      [`${index}-000001`]: { mappings: { _meta: { superseded: { schema: 2 } }, properties: { heard_at: {} } } },
    });
    expect((await read(store, 'old')).row.heardAt).toBe(T0 + DAY);
    expect((await store.for(ANA).lifetimes(NOW))[0]).toMatchObject({
      open: { count: 1, hours: (NOW - T0) / HOUR },
      heardAt: T0 + DAY,
    });
    const again = storeOn({ index });
    await again.setup();
    await Promise.all([store.close(), again.close()]);
  });
});
