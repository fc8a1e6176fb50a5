import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { DEFAULT_AGING } from '../src/aging.ts';
import { createWindows } from '../src/windows.ts';
import { changeOften, START, WINDOW_STORIES } from './stories/windows.ts';
import { temporaryFolder, temporaryService } from './temporary.ts';

const DAY = 86_400_000;
const started = '2026-01-01T00:00:00Z';

describe('learned windows, on the embedded store', () => {
  it.each(Object.entries(WINDOW_STORIES))('%s', async (_, tell) => {
    await tell(temporaryService(started));
  });
});

describe('where counts of all users are in use', () => {
  const everyone = { learnFrom: 'everyone', pinned: new Map() } as const;

  it('a user with few changes of their own gets the window of the others, and sees how it came about', async () => {
    const service = temporaryService(started, undefined, everyone);
    for (const user of ['a', 'b', 'c', 'd', 'e']) await changeOften(service, { user, changes: 6, days: 5 });
    const ben = service.for('ben');
    await ben.remember({ content: 'calm', topic: 'mood' });
    const window = (await ben.aging()).windows.find(({ topic }) => topic === 'mood');
    expect(window).toMatchObject({
      source: 'everyone',
      own: { events: 0 },
      everyone: { users: 5, events: 30 },
    });
    expect(window?.halfLifeHours).toBeGreaterThan(80);
    expect(window?.halfLifeHours).toBeLessThan(95);
    const { hits } = await ben.recall({ query: 'calm', explain: true });
    expect(hits[0]?.memory.content).toBe('calm');
  });

  it('nothing is shown of a topic that a user does not have, nor of four others who do', async () => {
    const service = temporaryService(started, undefined, everyone);
    for (const user of ['a', 'b', 'c', 'd']) await changeOften(service, { user, topic: 'divorce', changes: 8 });
    const ben = service.for('ben');
    expect(JSON.stringify(await ben.aging())).not.toContain('divorce');
    await ben.remember({ content: 'no plans to', topic: 'divorce' });
    const window = (await ben.aging()).windows.find(({ topic }) => topic === 'divorce');
    expect(window).toMatchObject({ source: 'table', everyone: null, own: { events: 0 } });
  });

  it('nothing of a user is shown any more once they have erased everything', async () => {
    const service = temporaryService(started, undefined, everyone);
    for (const user of ['a', 'b', 'c', 'd', 'e', 'f']) await changeOften(service, { user, changes: 3 });
    const ben = service.for('ben');
    await ben.remember({ content: 'calm', topic: 'mood' });
    const users = async () => (await ben.aging()).windows.find(({ topic }) => topic === 'mood')?.everyone?.users;
    expect(await users()).toBe(6);
    await service.for('a').eraseAll({ confirm: 'a' });
    expect(await users()).toBe(5);
    await service.for('b').eraseAll({ confirm: 'b' });
    expect(await users()).toBeUndefined();
  });

  it('the counts of all are read once an hour, in the background, and a user’s own changes count at once', async () => {
    const service = temporaryService(started, undefined, everyone);
    for (const user of ['a', 'b', 'c', 'd', 'e', 'ben']) await changeOften(service, { user, changes: 2 });
    const { store } = service;
    const lifetimes = vi.fn(store.lifetimes);
    const spied = { ...store, lifetimes };
    let now = service.now;
    const windows = createWindows({ store: spied, policy: everyone, clock: () => now });
    const ben = store.for('user:ben');
    const learned = async () => (await windows.inForce(ben)).windows[0]?.topics;
    expect(await learned()).not.toEqual(['mood']);
    for (const user of ['a', 'b', 'c', 'd', 'e']) await changeOften(service, { user, changes: 6 });
    expect(await learned()).not.toEqual(['mood']);
    expect(lifetimes).toHaveBeenCalledTimes(1);
    now = START + 40 * DAY;
    expect(await learned()).not.toEqual(['mood']);
    await vi.waitFor(async () => expect(await learned()).toEqual(['mood']));
    expect(lifetimes).toHaveBeenCalledTimes(2);
  });
});

describe('where the counts of all users cannot be read', () => {
  it('a recall goes on without them, and a minute passes before they are asked for again', async () => {
    const service = temporaryService(started);
    const lifetimes = vi.fn(async () => {
      throw new Error('unplugged');
    });
    let now = service.now;
    await service.for('ben').remember({ content: 'calm', topic: 'mood' });
    const policy = { learnFrom: 'everyone', pinned: new Map() } as const;
    const windows = createWindows({ store: { ...service.store, lifetimes }, policy, clock: () => now });
    const ben = service.store.for('user:ben');
    expect(await windows.inForce(ben)).toEqual(DEFAULT_AGING);
    expect((await windows.shown(ben)).windows.every(({ everyone }) => everyone === null)).toBe(true);
    expect(lifetimes).toHaveBeenCalledTimes(1);
    now += 60_000;
    await windows.inForce(ben);
    expect(lifetimes).toHaveBeenCalledTimes(2);
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
    const windows = createWindows({
      store,
      policy: { learnFrom: 'off', pinned: new Map([['plan', 24]]) },
      clock: () => START,
    });
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
    const windows = createWindows({ store: service.store, clock: () => now });
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

  it('lets a recall that has nothing to read pass those who ask for everything', async () => {
    const service = temporaryService(started);
    await changeOften(service, { changes: 3 });
    const windows = createWindows({ store: service.store, clock: () => service.now });
    const store = service.store.for('user:ann');
    await windows.inForce(store);
    const ended: string[] = [];
    const asking = Array.from({ length: 50 }, () => windows.shown(store).then(() => ended.push('shown')));
    await windows.inForce(store).then(() => ended.push('recalled'));
    await Promise.all(asking);
    expect(ended.indexOf('recalled')).toBeLessThan(10);
  });

  it('sees what another process wrote once it is asked to show the windows', async () => {
    const file = join(temporaryFolder(), 'test.db');
    const reader = temporaryService(started, file);
    expect((await reader.for('ann').aging()).windows.some(({ topic }) => topic === 'mood')).toBe(false);
    await changeOften(temporaryService(started, file));
    reader.now = START + 150 * DAY;
    expect((await reader.for('ann').aging()).windows.find(({ topic }) => topic === 'mood')?.source).toBe('own');
  });

  it('ages by what was learned last where the store cannot count, and reads again', async () => {
    const service = temporaryService(started);
    await changeOften(service);
    const scoped = service.store.for('user:ann');
    let broken = true;
    const lifetimes = async (now: number, topics?: readonly string[]) => {
      if (broken) throw new Error('unplugged');
      return scoped.lifetimes(now, topics);
    };
    let now = service.now;
    const windows = createWindows({ store: service.store, clock: () => now });
    const flaky = windows.watching({ ...scoped, lifetimes });
    expect(await windows.inForce(flaky)).toEqual(DEFAULT_AGING);
    await expect(windows.shown(flaky)).rejects.toThrow('unplugged');
    broken = false;
    const learned = await windows.inForce(flaky);
    expect(learned.windows[0]?.topics).toEqual(['mood']);
    broken = true;
    now += 600_000;
    expect(await windows.inForce(flaky)).toEqual(learned);
    await expect(windows.shown(flaky)).rejects.toThrow('unplugged');
    expect(await windows.inForce(flaky)).toEqual(learned);
    broken = false;
    await windows.inForce(flaky);
    const last = await scoped.find({ limit: 10 });
    await flaky.commit({ erase: last.map((stored) => ({ ...stored, at: now })) });
    broken = true;
    expect(await windows.inForce(flaky)).toEqual(learned);
    broken = false;
    expect(await windows.inForce(flaky)).not.toEqual(learned);
  });

  it('reads again after a commit that ended in an error, for it may have been written', async () => {
    const service = temporaryService(started);
    await changeOften(service, { changes: 3 });
    const scoped = service.store.for('user:ann');
    const asked: unknown[] = [];
    const lifetimes = (now: number, topics?: readonly string[]) => {
      asked.push(topics);
      return scoped.lifetimes(now, topics);
    };
    const commit = async () => {
      throw new Error('the answer was lost');
    };
    const windows = createWindows({ store: service.store, clock: () => service.now });
    const store = windows.watching({ ...scoped, lifetimes, commit });
    await windows.inForce(store);
    const [row] = await scoped.find({ limit: 1 });
    if (!row) throw new Error('nothing was written');
    await expect(store.commit({ update: [row] })).rejects.toThrow('lost');
    await windows.inForce(store);
    expect(asked).toEqual([undefined, ['mood']]);
  });

  it('has everyone who asks meanwhile wait for one reading, and sees what was committed during it', async () => {
    const service = temporaryService(started);
    await changeOften(service, { changes: 3 });
    const scoped = service.store.for('user:ann');
    const asked: unknown[] = [];
    let go = () => {};
    const lifetimes = async (now: number, topics?: readonly string[]) => {
      asked.push(topics);
      const read = await scoped.lifetimes(now, topics);
      if (asked.length === 1) await new Promise<void>((resolve) => (go = resolve));
      return read;
    };
    const windows = createWindows({ store: service.store, clock: () => service.now });
    const store = windows.watching({ ...scoped, lifetimes });
    const waiting = [windows.inForce(store), windows.inForce(store), windows.inForce(store)];
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    const [row] = await scoped.find({ limit: 1 });
    if (!row) throw new Error('nothing was written');
    await store.commit({ update: [row] });
    go();
    await Promise.all(waiting);
    expect(asked).toEqual([undefined, ['mood']]);
  });
});
