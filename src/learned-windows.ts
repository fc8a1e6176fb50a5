import { type AgingTable, type Pace, windowOf } from './aging.ts';
import { type Estimate, estimate, type Observed } from './hazard.ts';
import { SHARED } from './memory.ts';
import { MS_PER_HOUR } from './score.ts';
import type { Lifetimes } from './store.ts';

/** Which window each topic gets: pinned, learned from the user's own changes of mind, from everyone's, or the table's. */

export interface WindowPolicy {
  /** Whose changes of mind count. `everyone` lets counts, and nothing else, leave a user's scope. */
  learnFrom: LearnFrom;
  /** Topics that keep a window: hours, null for never ageing, or what the table says; at most MOST_PINNED. */
  pinned: ReadonlyMap<string, number | null | 'table'>;
}

export const LEARN_FROM = ['off', 'own', 'everyone'] as const;
export type LearnFrom = (typeof LEARN_FROM)[number];

export const DEFAULT_POLICY: WindowPolicy = { learnFrom: 'own', pinned: new Map() };

/** Memories of a topic that were counted, with what was seen of them. */
export interface Counted extends Observed {
  lives: number;
}

/** What was seen of a topic, and the half-life it speaks for; no estimate where the table says that it never ages. */
export interface Evidence extends Counted {
  estimate: (Omit<Estimate, 'priorShare'> & { usable: boolean }) | null;
}

export interface LearnedWindow extends Pace {
  topic: string;
  source: 'table' | 'pinned' | 'own' | 'everyone';
  own: Evidence;
  /** Of the other users together; null where it is not in use, or they are too few. */
  everyone: (Evidence & { users: number }) | null;
}

/** An estimate is usable once its interval spans no more than this factor, which takes 23 changes … */
const NARROW = 2;
/** … and the prior has no more than this share in it. */
const MOST_PRIOR = 0.1;

/** A recall query has a branch for each window. Of the learned ones, those with the most changes are kept. */
export const MOST_LEARNED = 50;
export const MOST_PINNED = 50;

/** The counts of fewer users with changes are neither used nor shown: one could be told from the others. */
export const FEWEST_USERS = 5;
/** A user with more memories of a topic counts as if with so many, at the same rate: nobody sets everyone's windows. */
const MOST_FROM_ONE = 25;

const SHORTEST_HOURS = 1;
const LONGEST_HOURS = 100 * 365 * 24;

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
      // What began after its user was last heard was not watched yet.
      exposureHours: changed.hours + ended.hours + Math.max(0, open.hours - unheard),
      lives: open.count + changed.count + ended.count,
    });
  }
  return scopes;
}

/** The users' counts as they stand together, by topic. */
export interface Pool {
  totals: ReadonlyMap<string, Pooled>;
  /** What each scope has in them. */
  parts: ReadonlyMap<string, Counts>;
}
type Pooled = Counted & {
  /** Users with changes of the topic. */
  users: number;
};

export function poolOf(scopes: ReadonlyMap<string, Counts>): Pool {
  const totals = new Map<string, Pooled>();
  const parts = new Map<string, Counts>();
  for (const [scope, counts] of scopes) {
    if (scope === SHARED) continue;
    const part = new Map([...counts].map(([topic, counted]) => [topic, atMost(counted)]));
    parts.set(scope, part);
    for (const [topic, counted] of part) totals.set(topic, sum(totals.get(topic) ?? NOBODY, alone(counted), 1));
  }
  return { totals, parts };
}

const atMost = ({ events, exposureHours, lives }: Counted): Counted => {
  const share = Math.min(1, MOST_FROM_ONE / Math.max(1, lives));
  return { events: events * share, exposureHours: exposureHours * share, lives };
};

const alone = (counted: Counted): Pooled => ({ ...counted, users: counted.events > 0 ? 1 : 0 });

const sum = (a: Pooled, b: Pooled, sign: 1 | -1): Pooled => ({
  events: a.events + sign * b.events,
  exposureHours: a.exposureHours + sign * b.exposureHours,
  lives: a.lives + sign * b.lives,
  users: a.users + sign * b.users,
});

/** What the other users have of a topic; null where they are too few. */
function others(pool: Pool, scope: string, topic: string): Pooled | null {
  const mine = pool.parts.get(scope)?.get(topic);
  const all = pool.totals.get(topic) ?? NOBODY;
  const rest = mine ? sum(all, alone(mine), -1) : all;
  return rest.users < FEWEST_USERS ? null : rest;
}

const NOTHING: Counted = { events: 0, exposureHours: 0, lives: 0 };
const NOBODY: Pooled = { ...NOTHING, users: 0 };

/** The windows of a scope: topics of the table, then those the user has, then those that are pinned. */
export function learnWindows(
  { scope, own, pool }: { scope: string; own: Counts; pool: Pool | null },
  table: AgingTable,
  policy: WindowPolicy,
): LearnedWindow[] {
  const named = table.windows.flatMap((window) => window.topics);
  const topics = new Set([...named, ...[...own.keys()].sort(), ...policy.pinned.keys()]);
  const windows = [...topics].map((topic) =>
    windowFor(topic, own.get(topic) ?? NOTHING, pool && others(pool, scope, topic), table, policy),
  );
  const learned = windows.filter(({ source }) => source === 'own' || source === 'everyone');
  const eventsOf = ({ own, everyone, source }: LearnedWindow) => (source === 'own' ? own : everyone)?.events ?? 0;
  const dropped = new Set(learned.sort((a, b) => eventsOf(b) - eventsOf(a)).slice(MOST_LEARNED));
  return windows.map((window) =>
    dropped.has(window) ? { ...window, ...paceOf(table, window.topic), source: 'table' } : window,
  );
}

function paceOf(table: AgingTable, topic: string): Pace {
  const { halfLifeHours, floor } = windowOf(table, topic);
  return { halfLifeHours, floor };
}

/**
 * The table is the prior of what the others' counts say, and that, once it is usable, the prior of the user's own; but
 * not where it, being far off, would keep enough changes of the user's own from being used.
 */
function windowFor(
  topic: string,
  own: Counted,
  rest: Pooled | null,
  table: AgingTable,
  policy: WindowPolicy,
): LearnedWindow {
  const given = paceOf(table, topic);
  const everyone = rest && { ...evidenceOf(rest, given.halfLifeHours), users: rest.users };
  const shared = everyone?.estimate?.usable ? everyone.estimate.halfLifeHours : null;
  const byOthers = evidenceOf(own, shared ?? given.halfLifeHours);
  const evidence = byOthers.estimate?.usable ? byOthers : evidenceOf(own, given.halfLifeHours);
  const window = { topic, ...given, own: evidence, everyone };
  const pinned = policy.pinned.get(topic);
  if (pinned !== undefined) return { ...window, ...pinnedPace(pinned, given, table), source: 'pinned' };
  if (policy.learnFrom === 'off') return { ...window, source: 'table' };
  if (evidence.estimate?.usable) {
    return { ...window, halfLifeHours: whole(evidence.estimate.halfLifeHours), source: 'own' };
  }
  return shared === null
    ? { ...window, source: 'table' }
    : { ...window, halfLifeHours: whole(shared), source: 'everyone' };
}

/** Hours for a topic that the table never ages come with the floor of any other topic. */
function pinnedPace(pinned: number | null | 'table', given: Pace, table: AgingTable): Pace {
  if (pinned === 'table') return given;
  if (pinned === null) return { halfLifeHours: null, floor: 1 };
  return { halfLifeHours: pinned, floor: given.halfLifeHours === null ? table.otherwise.floor : given.floor };
}

function evidenceOf({ events, exposureHours, lives }: Counted, priorHalfLifeHours: number | null): Evidence {
  const seen = { events, exposureHours, lives };
  if (priorHalfLifeHours === null) return { ...seen, estimate: null };
  const { priorShare, ...estimated } = estimate(seen, priorHalfLifeHours);
  const usable = estimated.highHours <= NARROW * estimated.lowHours && priorShare <= MOST_PRIOR;
  return { ...seen, estimate: { ...estimated, usable } };
}

const whole = (hours: number): number => Math.min(LONGEST_HOURS, Math.max(SHORTEST_HOURS, Math.round(hours)));

/** The table with the windows that differ from it put first. */
export const tableWith = (windows: readonly LearnedWindow[], table: AgingTable): AgingTable => ({
  windows: [
    ...windows
      .filter(({ topic, halfLifeHours, floor }) => {
        const given = windowOf(table, topic);
        return halfLifeHours !== given.halfLifeHours || floor !== given.floor;
      })
      .map(({ topic, halfLifeHours, floor }) => ({ topics: [topic], halfLifeHours, floor })),
    ...table.windows,
  ],
  otherwise: table.otherwise,
});
