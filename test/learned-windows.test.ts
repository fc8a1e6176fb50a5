import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureLearned } from '../scripts/evaluate/learned.ts';
import { DEFAULT_AGING, windowOf } from '../src/aging.ts';
import {
  DEFAULT_POLICY,
  exposuresOf,
  learnWindows,
  MOST_LEARNED,
  tableWith,
  type WindowPolicy,
} from '../src/learned-windows.ts';
import type { Lifetimes } from '../src/store.ts';

const NONE = { count: 0, hours: 0 };
const lifetimes = (overrides: Partial<Lifetimes> = {}): Lifetimes => ({
  scope: 'user:ann',
  topic: 'preference',
  open: NONE,
  changed: NONE,
  ended: NONE,
  heardAt: 0,
  readAt: 0,
  ...overrides,
});
const seen = (events: number, halfLifeHours: number) => ({
  events,
  exposureHours: (events * halfLifeHours) / Math.LN2,
  lives: 2 * events,
});
const learn = (
  own: Record<string, ReturnType<typeof seen>>,
  everyone: Record<string, ReturnType<typeof seen>> | null = null,
  policy: WindowPolicy = DEFAULT_POLICY,
) =>
  new Map(
    learnWindows(
      new Map(Object.entries(own)),
      everyone && new Map(Object.entries(everyone)),
      DEFAULT_AGING,
      policy,
    ).map((window) => [window.topic, window]),
  );

describe('exposure', () => {
  it('adds changes, and the hours of every life', () => {
    const one = lifetimes({
      open: { count: 2, hours: 100 },
      changed: { count: 3, hours: 30 },
      ended: { count: 1, hours: 5 },
    });
    expect(exposuresOf([one]).get('preference')).toEqual({ events: 3, exposureHours: 135, lives: 6 });
  });

  it('ends when the person was last heard, in any topic: silence is no evidence', () => {
    const hour = 3_600_000;
    const read = { open: { count: 2, hours: 40 }, readAt: 20 * hour };
    const quiet = lifetimes({ ...read, heardAt: 5 * hour });
    expect(exposuresOf([quiet]).get('preference')?.exposureHours).toBe(10);
    const talkative = lifetimes({ topic: 'plan', heardAt: 15 * hour, readAt: 20 * hour });
    expect(exposuresOf([quiet, talkative]).get('preference')?.exposureHours).toBe(30);
    const another = lifetimes({ scope: 'user:ben', topic: 'plan', heardAt: 15 * hour, readAt: 20 * hour });
    expect(exposuresOf([quiet, another]).get('preference')?.exposureHours).toBe(10);
  });

  it('grows by a confirmation, which is no change', () => {
    const hour = 3_600_000;
    const before = lifetimes({ open: { count: 1, hours: 9 }, heardAt: 0, readAt: 9 * hour });
    const after = { ...before, heardAt: 9 * hour };
    const [a, b] = [before, after].map((one) => exposuresOf([one]).get('preference'));
    expect(b?.events).toBe(a?.events);
    expect(b?.exposureHours).toBeGreaterThan(a?.exposureHours ?? 0);
  });
});

describe('the window of a topic', () => {
  it('is the table’s with no data', () => {
    for (const [topic, { source, halfLifeHours, floor }] of learn({})) {
      expect(source).toBe('table');
      expect(windowOf(DEFAULT_AGING, topic)).toMatchObject({ halfLifeHours, floor });
    }
    expect(tableWith([...learn({}).values()], DEFAULT_AGING)).toEqual(DEFAULT_AGING);
  });

  it('is learned from the 23rd change on, when the interval spans a factor of two', () => {
    expect(learn({ preference: seen(22, 300) }).get('preference')).toMatchObject({
      source: 'table',
      halfLifeHours: 1080,
      own: { events: 22, estimate: { narrow: false } },
    });
    const learned = learn({ preference: seen(23, 300) }).get('preference');
    expect(learned).toMatchObject({ source: 'own', floor: 0.25, own: { estimate: { narrow: true } } });
    expect(learned?.halfLifeHours).toBeGreaterThan(290);
    expect(learned?.halfLifeHours).toBeLessThan(330);
  });

  it('is learned for a topic of the caller’s own as for one of the table', () => {
    expect(learn({ lodging: seen(50, 5000) }).get('lodging')).toMatchObject({ source: 'own', floor: 0.25 });
  });

  it('stays “never” for what the table never ages, whatever was changed', () => {
    expect(learn({ constraint: seen(200, 24) }).get('constraint')).toMatchObject({
      source: 'table',
      halfLifeHours: null,
      own: { events: 200, estimate: null },
    });
  });

  it('comes from everyone where the own changes are too few, and only where that is configured', () => {
    const everyone: WindowPolicy = { learnFrom: 'everyone', pinned: new Map() };
    const few = { preference: seen(4, 100) };
    const many = { preference: seen(300, 500) };
    expect(learn(few, many, everyone).get('preference')).toMatchObject({ source: 'everyone', halfLifeHours: 501 });
    expect(learn(few).get('preference')).toMatchObject({ source: 'table', everyone: null });
    expect(learn({ preference: seen(60, 100) }, many, everyone).get('preference')).toMatchObject({ source: 'own' });
  });

  it('of others’ topics is not shown', () => {
    const everyone: WindowPolicy = { learnFrom: 'everyone', pinned: new Map() };
    expect(learn({}, { divorce: seen(300, 500) }, everyone).has('divorce')).toBe(false);
  });

  it('stays where it is pinned, and where learning is off', () => {
    const pinned = new Map<string, number | null | 'table'>([
      ['preference', 'table'],
      ['plan', 240],
      ['lodging', null],
      ['constraint', 5000],
    ]);
    const windows = learn({ preference: seen(90, 10), plan: seen(90, 10) }, null, { learnFrom: 'own', pinned });
    expect(windows.get('preference')).toMatchObject({ source: 'pinned', halfLifeHours: 1080, floor: 0.25 });
    expect(windows.get('plan')).toMatchObject({ source: 'pinned', halfLifeHours: 240, floor: 0.1 });
    expect(windows.get('lodging')).toMatchObject({ source: 'pinned', halfLifeHours: null, floor: 1 });
    expect(windows.get('constraint')).toMatchObject({ source: 'pinned', halfLifeHours: 5000, floor: 0.25 });
    expect(learn({ plan: seen(90, 10) }, null, { ...DEFAULT_POLICY, learnFrom: 'off' }).get('plan')?.source).toBe(
      'table',
    );
  });

  it('is in whole hours, from one hour to a hundred years', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 23, max: 1e6 }),
        fc.double({ min: 1e-3, max: 1e8, noNaN: true }),
        (events, hours) => {
          const learned = learn({ preference: seen(events, hours) }).get('preference')?.halfLifeHours ?? 0;
          expect(Number.isInteger(learned)).toBe(true);
          expect(learned).toBeGreaterThanOrEqual(1);
          expect(learned).toBeLessThanOrEqual(876_000);
        },
      ),
    );
  });

  it('is learned for the fifty topics with the most changes, since each is a branch of the query', () => {
    const topics = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`topic-${n}`, seen(30 + n, 500)]));
    const windows = learn(topics);
    expect([...windows.values()].filter(({ source }) => source === 'own')).toHaveLength(MOST_LEARNED);
    expect(windows.get('topic-79')?.source).toBe('own');
    expect(windows.get('topic-0')).toMatchObject({ source: 'table', halfLifeHours: 1440 });
  });

  it('takes the table’s place in a recall, topic by topic', () => {
    const table = tableWith([...learn({ plan: seen(90, 100), lodging: seen(90, 100) }).values()], DEFAULT_AGING);
    expect(windowOf(table, 'plan')).toMatchObject({ halfLifeHours: 103, floor: 0.1 });
    expect(windowOf(table, 'lodging')).toMatchObject({ halfLifeHours: 107, floor: 0.25 });
    expect(windowOf(table, 'preference')).toEqual(windowOf(DEFAULT_AGING, 'preference'));
    expect(windowOf(table, 'anything')).toEqual(DEFAULT_AGING.otherwise);
  });
});

describe('on made-up people with three topics of different pace', () => {
  const { asked, sources } = measureLearned(200, 1);

  it('windows by topic put the current value first more often than one learned window', () => {
    expect(asked.gains['one window, learned'].low).toBeGreaterThan(0.1);
  });

  it('and more often than the best single window that could have been chosen for these questions', () => {
    expect(asked.gains['one window, best of 15 on these questions'].low).toBeGreaterThan(0);
  });

  it('and they are the person’s own where it changes often, everyone’s elsewhere', () => {
    expect(sources.mood?.own).toBe(200);
    expect(sources.employer?.everyone).toBe(200);
  });
});
