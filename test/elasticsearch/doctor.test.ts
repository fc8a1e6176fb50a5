import { describe, expect, inject, it } from 'vitest';
import { newStore, onWhat, storeOn } from './stores.ts';

/** What doctor finds that a healthy cluster does not show. */

describe.skipIf(inject('cluster') === null)(`doctor's checks of a cluster${onWhat()}`, () => {
  const clocks = (offsetMs: number) => {
    const store = storeOn({ clock: () => Date.now() + offsetMs });
    const check = store.checks().find(({ title }) => title === 'clocks');
    return { store, answer: check?.run() };
  };

  it.each([-8000, 8000, 3_600_000])('tell a clock that is %d ms off, and how to set it right', async (offset) => {
    const { store, answer } = clocks(offset);
    await expect(answer).rejects.toMatchObject({ code: 'CONFIGURATION', hint: expect.stringContaining('NTP') });
    await store.close();
  });

  it('take clocks that go together', async () => {
    const { store, answer } = clocks(0);
    expect(await answer).toMatch(/less than [1-5] s apart/);
    await store.close();
  });

  it('all pass on a healthy cluster', async () => {
    const store = await newStore();
    for (const { run } of store.checks()) expect(await run()).toBeTypeOf('string');
    await store.close();
  });
});
