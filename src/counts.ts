import type { Observed } from './hazard.ts';
import { SHARED } from './memory.ts';
import { MS_PER_HOUR } from './score.ts';
import type { Lifetimes } from './store.ts';

/** What was seen of each topic: by user, and of all users together. */

/** Memories of a topic that were counted, with what was seen of them. */
export interface Counted extends Observed {
  lives: number;
}

/** The counts of fewer users with changes are neither used nor shown: one could be told from the others. */
export const FEWEST_USERS = 5;
/** Nobody sets everyone's windows: a user has at most so many times the changes and the hours of the median one. */
const MOST_FROM_ONE = 3;

/** Counts of one user by topic. */
export type Counts = ReadonlyMap<string, Counted>;

/**
 * The counts of each scope. A memory that has not ended was watched until its user was last heard, not until now:
 * silence is no evidence that nothing changed.
 */
export function countsOf(lifetimes: readonly Lifetimes[]): Map<string, Counts> {
  const heard = new Map<string, number>();
  for (const { scope, heardAt } of lifetimes) heard.set(scope, Math.max(heardAt, heard.get(scope) ?? heardAt));
  const scopes = new Map<string, Map<string, Counted>>();
  for (const { scope, topic, open, changed, ended, readAt } of lifetimes) {
    const unheard = (open.count * (readAt - (heard.get(scope) ?? readAt))) / MS_PER_HOUR;
    const counts = scopes.get(scope) ?? new Map<string, Counted>();
    scopes.set(scope, counts);
    counts.set(topic, {
      events: changed.count,
      exposureHours: changed.hours + ended.hours + open.hours - unheard,
      lives: open.count + changed.count + ended.count,
    });
  }
  return scopes;
}

/** The users' counts as they stand together, by topic. */
export interface Pool {
  totals: ReadonlyMap<string, Pooled>;
  /** What each scope has in them, by topic. */
  parts: ReadonlyMap<string, ReadonlyMap<string, Pooled>>;
}

export interface Pooled extends Observed {
  /** Users with changes of the topic. */
  users: number;
}

export function poolOf(scopes: ReadonlyMap<string, Counts>): Pool {
  const topics = new Map<string, Map<string, Pooled>>();
  for (const [scope, counts] of scopes) {
    if (scope === SHARED) continue;
    for (const [topic, { events, exposureHours }] of counts) {
      const users = topics.get(topic) ?? new Map<string, Pooled>();
      topics.set(topic, users.set(scope, { events, exposureHours, users: events > 0 ? 1 : 0 }));
    }
  }
  const totals = new Map<string, Pooled>();
  const parts = new Map<string, Map<string, Pooled>>();
  for (const [topic, users] of topics) {
    const most = mostOf([...users.values()]);
    for (const [scope, one] of users) {
      const part = {
        ...one,
        events: Math.min(one.events, most.events),
        exposureHours: Math.min(one.exposureHours, most.exposureHours),
      };
      totals.set(topic, sum(totals.get(topic) ?? NOBODY, part, 1));
      parts.set(scope, (parts.get(scope) ?? new Map<string, Pooled>()).set(topic, part));
    }
  }
  return { totals, parts };
}

/** MOST_FROM_ONE times the medians, among the users with changes. */
function mostOf(users: readonly Pooled[]): Observed {
  const changing = users.filter(({ events }) => events > 0);
  const median = (of: (one: Pooled) => number) =>
    changing.map(of).sort((a, b) => a - b)[Math.floor((changing.length - 1) / 2)] ?? 0;
  return {
    events: MOST_FROM_ONE * median(({ events }) => events),
    exposureHours: MOST_FROM_ONE * median(({ exposureHours }) => exposureHours),
  };
}

const sum = (a: Pooled, b: Pooled, sign: 1 | -1): Pooled => ({
  events: a.events + sign * b.events,
  exposureHours: a.exposureHours + sign * b.exposureHours,
  users: a.users + sign * b.users,
});

/** What the other users have of a topic; null where they are too few. */
export function others(pool: Pool, scope: string, topic: string): Pooled | null {
  const mine = pool.parts.get(scope)?.get(topic);
  const all = pool.totals.get(topic) ?? NOBODY;
  const rest = mine ? sum(all, mine, -1) : all;
  return rest.users < FEWEST_USERS ? null : rest;
}

const NOBODY: Pooled = { events: 0, exposureHours: 0, users: 0 };
