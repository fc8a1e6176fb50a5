import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureLearned } from '../scripts/evaluate/learned.ts';
import { DEFAULT_AGING, windowOf } from '../src/aging.ts';
import { type Counted, countsOf, FEWEST_USERS, poolOf } from '../src/counts.ts';
import { DEFAULT_POLICY, learnWindows, MOST_LEARNED, tableWith, type WindowPolicy } from '../src/learned-windows.ts';
import type { Scope } from '../src/memory.ts';
import type { Lifetimes } from '../src/store.ts';

const HOUR = 3_600_000;
const NONE = { count: 0, hours: 0 };
const ANN: Scope = 'user:ann';
const lifetimes = (overrides: Partial<Lifetimes> = {}): Lifetimes => ({
  scope: ANN,
  topic: 'preference',
  open: NONE,
  changed: NONE,
  ended: NONE,
  heardAt: 0,
  readAt: 0,
  ...overrides,
});
const seen = (events: number, halfLifeHours: number): Counted => ({
  events,
  exposureHours: (events * halfLifeHours) / Math.LN2,
  lives: 2 * events,
});
const EVERYONE: WindowPolicy = { learnFrom: 'everyone', pinned: new Map() };

/** Windows of ann; `everyone` lists the counts of each other user. */
function learn(own: Record<string, Counted>, policy = DEFAULT_POLICY, everyone: Record<string, Counted>[] = []) {
  const scopes = new Map(
    [own, ...everyone].map((counts, at) => [at ? `user:u${at}` : ANN, new Map(Object.entries(counts))]),
  );
  const pool = policy.learnFrom === 'everyone' ? poolOf(scopes) : null;
  const windows = learnWindows({ scope: ANN, own: scopes.get(ANN) ?? new Map(), pool }, DEFAULT_AGING, policy);
  return new Map(windows.map((window) => [window.topic, window]));
}

describe('what was seen of a topic', () => {
  const of = (...some: Lifetimes[]) => countsOf(some).get(ANN)?.get('preference');

  it('adds changes, and the hours of every life', () => {
    const one = lifetimes({
      open: { count: 2, hours: 100 },
      changed: { count: 3, hours: 30 },
      ended: { count: 1, hours: 5 },
    });
    expect(of(one)).toEqual({ events: 3, exposureHours: 135, lives: 6 });
  });

  it('ends when the user was last heard, in any topic: silence is no evidence', () => {
    const read = { open: { count: 2, hours: 40 }, readAt: 20 * HOUR };
    const quiet = lifetimes({ ...read, heardAt: 5 * HOUR });
    expect(of(quiet)?.exposureHours).toBe(10);
    expect(of(quiet, lifetimes({ topic: 'plan', heardAt: 15 * HOUR, readAt: 20 * HOUR }))?.exposureHours).toBe(30);
    expect(of(quiet, lifetimes({ scope: 'user:ben', heardAt: 15 * HOUR, readAt: 20 * HOUR }))?.exposureHours).toBe(10);
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
      own: { events: 22, estimate: { usable: false } },
    });
    const learned = learn({ preference: seen(23, 300) }).get('preference');
    expect(learned).toMatchObject({ source: 'own', floor: 0.25, own: { estimate: { usable: true } } });
    expect(Math.abs((learned?.halfLifeHours ?? 0) / 300 - 1)).toBeLessThan(0.02);
  });

  it('is not learned while the prior has more than a tenth in it', () => {
    expect(learn({ event: seen(23, 168) }).get('event')?.source).toBe('table');
    const learned = learn({ event: seen(60, 168) }).get('event');
    expect(learned?.source).toBe('own');
    expect((learned?.halfLifeHours ?? 0) / 168).toBeLessThan(1.1);
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
    const few = { preference: seen(4, 100) };
    const everyone = Array.from({ length: 6 }, () => ({ preference: seen(20, 500) }));
    const window = learn(few, EVERYONE, everyone).get('preference');
    expect(window).toMatchObject({ source: 'everyone', everyone: { users: 6, events: 120 } });
    expect(Math.abs((window?.halfLifeHours ?? 0) / 500 - 1)).toBeLessThan(0.02);
    expect(learn(few, DEFAULT_POLICY, everyone).get('preference')).toMatchObject({ source: 'table', everyone: null });
    expect(learn({ preference: seen(60, 100) }, EVERYONE, everyone).get('preference')).toMatchObject({ source: 'own' });
  });

  it('takes nothing from so few others with changes that one could be told, and shows nothing of them', () => {
    const others = (users: number) => Array.from({ length: users }, () => ({ preference: seen(20, 500) }));
    const unchanged = { preference: { events: 0, exposureHours: 10, lives: 1 } };
    expect(learn({}, EVERYONE, others(FEWEST_USERS)).get('preference')?.source).toBe('everyone');
    const few = [...others(FEWEST_USERS - 1), unchanged, unchanged];
    expect(learn({}, EVERYONE, few).get('preference')).toMatchObject({ source: 'table', everyone: null });
  });

  it('is the user’s own where the others, far off, would keep it from being used', () => {
    const others = Array.from({ length: 20 }, () => ({ preference: seen(10, 900 * 24) }));
    const window = learn({ preference: seen(40, 5 * 24) }, EVERYONE, others).get('preference');
    expect(window?.source).toBe('own');
    expect(Math.abs((window?.halfLifeHours ?? 0) / 120 - 1)).toBeLessThan(0.1);
  });

  it('does not count the user’s own changes among everyone’s', () => {
    const others = Array.from({ length: 5 }, () => ({ preference: seen(3, 500) }));
    const window = learn({ preference: seen(9, 100) }, EVERYONE, others).get('preference');
    expect(window?.everyone).toMatchObject({ users: 5, events: 15 });
  });

  it('is not set for everyone by one user, with a thousand changes or with a memory of two thousand years', () => {
    const honest = Array.from({ length: 6 }, () => ({ preference: seen(20, 500) }));
    const found = (eve: Counted) =>
      learn({}, EVERYONE, [...honest, { preference: eve }]).get('preference')?.halfLifeHours;
    expect(found(seen(1000, 1))).toBeGreaterThan(500 / 2);
    expect(found({ events: 25, exposureHours: 443_841_600, lives: 25 })).toBeLessThan(500 * 2);
  });

  it('tells the others’ counts to two digits, so that a newcomer’s cannot be worked out', () => {
    const others = (users: number) => Array.from({ length: users }, () => ({ preference: seen(17, 531) }));
    const shown = (users: number) => learn({}, EVERYONE, others(users)).get('preference')?.everyone;
    expect(shown(9)).toMatchObject({ events: 150, exposureHours: 120_000 });
    expect(shown(9)).not.toHaveProperty('lives');
  });

  it('is not everyone’s because one user never changed their mind about a thousand memories', () => {
    const steady = { preference: { events: 0, exposureHours: 1000 * 8760, lives: 1000 } };
    const others = [steady, ...Array.from({ length: 9 }, () => ({ preference: seen(20, 500) }))];
    const found = learn({}, EVERYONE, others).get('preference')?.halfLifeHours ?? 0;
    expect(found).toBeLessThan(2 * 500);
  });

  it('never comes from shared memories', () => {
    const five = Array.from({ length: 5 }, () => ({ preference: seen(20, 500) }));
    const scopes = new Map(five.map((counts, at) => [at ? `user:u${at}` : 'shared', new Map(Object.entries(counts))]));
    expect(poolOf(scopes).totals.get('preference')?.users).toBe(4);
  });

  it('of others’ topics is not shown', () => {
    const others = Array.from({ length: 9 }, () => ({ divorce: seen(30, 500) }));
    expect(learn({}, EVERYONE, others).has('divorce')).toBe(false);
  });

  it('stays where it is pinned, and where learning is off', () => {
    const pinned = new Map<string, number | null | 'table'>([
      ['preference', 'table'],
      ['plan', 240],
      ['lodging', null],
      ['constraint', 5000],
    ]);
    const windows = learn({ preference: seen(90, 100), plan: seen(90, 100) }, { learnFrom: 'own', pinned });
    expect(windows.get('preference')).toMatchObject({ source: 'pinned', halfLifeHours: 1080, floor: 0.25 });
    expect(windows.get('plan')).toMatchObject({ source: 'pinned', halfLifeHours: 240, floor: 0.1 });
    expect(windows.get('lodging')).toMatchObject({ source: 'pinned', halfLifeHours: null, floor: 1 });
    expect(windows.get('constraint')).toMatchObject({ source: 'pinned', halfLifeHours: 5000, floor: 0.25 });
    expect(learn({ plan: seen(90, 100) }, { ...DEFAULT_POLICY, learnFrom: 'off' }).get('plan')?.source).toBe('table');
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
    expect(windowOf(table, 'plan')).toMatchObject({ halfLifeHours: 101, floor: 0.1 });
    expect(windowOf(table, 'lodging')).toMatchObject({ halfLifeHours: 101, floor: 0.25 });
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
