import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { DEFAULT_AGING } from '../src/aging.ts';
import { createEmbeddedStore } from '../src/stores/embedded.ts';
import { createWindows } from '../src/windows.ts';
import { FAKE_MODEL } from './fake-embedder.ts';
import { changeOften, START, WINDOW_STORIES } from './stories/windows.ts';
import { afterThisTest, temporaryFolder, temporaryService } from './temporary.ts';

const DAY = 86_400_000;
const started = '2026-01-01T00:00:00Z';

describe('learned windows, on the embedded store', () => {
  it.each(Object.entries(WINDOW_STORIES))('%s', async (_, tell) => {
    await tell(temporaryService(started));
  });
});

describe('where counts of all users are in use', () => {
  const everyone = { learnFrom: 'everyone', pinned: new Map() } as const;

  it('a user with few changes of their own gets the window of all, and sees how it came about', async () => {
    const service = temporaryService(started, undefined, everyone);
    await changeOften(service, { user: 'ann', changes: 15 });
    await changeOften(service, { user: 'cleo', changes: 15, days: 6 });
    const ben = service.for('ben');
    await ben.remember({ content: 'calm', topic: 'mood' });
    const window = (await ben.aging()).windows.find(({ topic }) => topic === 'mood');
    expect(window).toMatchObject({ source: 'everyone', own: { events: 0 }, everyone: { events: 30, lives: 33 } });
    expect(window?.halfLifeHours).toBeGreaterThan(80);
    expect(window?.halfLifeHours).toBeLessThan(130);
  });

  it('nothing but counts is shown: no topic that a user does not have', async () => {
    const service = temporaryService(started, undefined, everyone);
    await changeOften(service, { user: 'ann', topic: 'divorce', changes: 40 });
    const shown = await service.for('ben').aging();
    expect(JSON.stringify(shown)).not.toContain('divorce');
  });
});

describe('windows that are not to be learned', () => {
  it('stay the table’s where learning is off, and a recall asks the store for no lifetimes', async () => {
    const service = temporaryService(started, undefined, { learnFrom: 'off', pinned: new Map([['plan', 24]]) });
    await changeOften(service);
    const asked = vi.fn();
    const { store } = service;
    const scoped = store.for('user:ann');
    const watching = { ...scoped, lifetimes: asked };
    const windows = createWindows(store, { learnFrom: 'off', pinned: new Map([['plan', 24]]) }, () => START);
    expect((await windows.inForce(watching)).windows[0]).toEqual({ topics: ['plan'], halfLifeHours: 24, floor: 0.1 });
    expect(asked).not.toHaveBeenCalled();
    const shown = await service.for('ann').aging();
    expect(shown.learnFrom).toBe('off');
    expect(shown.windows.find(({ topic }) => topic === 'mood')).toMatchObject({ source: 'table', own: { events: 30 } });
  });
});

describe('keeping up', () => {
  it('reads a topic again after a write to it, all of them after ten minutes, and nothing otherwise', async () => {
    const service = temporaryService(started);
    await changeOften(service, { changes: 3 });
    const scoped = service.store.for('user:ann');
    const asked: (readonly string[] | undefined)[] = [];
    const spied = {
      ...scoped,
      lifetimes: (now: number, topics?: readonly string[]) => {
        asked.push(topics);
        return scoped.lifetimes(now, topics);
      },
    };
    let now = service.now;
    const windows = createWindows(service.store, undefined, () => now);
    const watching = windows.watching(spied);
    await windows.inForce(watching);
    await windows.inForce(watching);
    expect(asked).toEqual([undefined]);
    const [first] = await scoped.find({ limit: 1 });
    if (!first) throw new Error('nothing was written');
    await watching.commit({ update: [first] });
    await windows.inForce(watching);
    await windows.inForce(watching);
    expect(asked).toEqual([undefined, ['mood']]);
    now += 600_000;
    await windows.inForce(watching);
    expect(asked).toEqual([undefined, ['mood'], undefined]);
  });

  it('sees what another process wrote once it is asked to show the windows', async () => {
    const file = join(temporaryFolder(), 'test.db');
    const reader = temporaryService(started, file);
    expect((await reader.for('ann').aging()).windows.some(({ topic }) => topic === 'mood')).toBe(false);
    await changeOften(temporaryService(started, file));
    reader.now = START + 150 * DAY;
    expect((await reader.for('ann').aging()).windows.find(({ topic }) => topic === 'mood')?.source).toBe('own');
  });

  it('asks again after a reading that failed', async () => {
    const store = createEmbeddedStore({ file: join(temporaryFolder(), 'test.db'), model: async () => FAKE_MODEL });
    afterThisTest(() => store.close());
    const scoped = store.for('user:ann');
    let broken = true;
    const flaky = {
      ...scoped,
      lifetimes: async (now: number) => {
        if (broken) throw new Error('unplugged');
        return scoped.lifetimes(now);
      },
    };
    const windows = createWindows(store, undefined, () => START);
    await expect(windows.inForce(flaky)).rejects.toThrow('unplugged');
    broken = false;
    expect(await windows.inForce(flaky)).toEqual(DEFAULT_AGING);
  });
});
