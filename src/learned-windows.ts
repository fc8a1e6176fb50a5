import { type AgingTable, type Pace, windowOf } from './aging.ts';
import { type Estimate, type Exposure, estimate } from './hazard.ts';
import { MS_PER_HOUR } from './score.ts';
import type { Lifetimes } from './store.ts';

/** Which window each topic gets: pinned, learned from the user's own changes of mind, from everyone's, or the table's. */

export interface WindowPolicy {
  /** Whose changes of mind count. `everyone` lets counts, and nothing else, leave a user's scope. */
  learnFrom: LearnFrom;
  /** Topics that keep a window: hours, null for never ageing, or what the table says. */
  pinned: ReadonlyMap<string, number | null | 'table'>;
}

export const LEARN_FROM = ['off', 'own', 'everyone'] as const;
export type LearnFrom = (typeof LEARN_FROM)[number];

export const DEFAULT_POLICY: WindowPolicy = { learnFrom: 'own', pinned: new Map() };

/** What was seen of a topic, and the half-life it speaks for; no estimate where the table says that it never ages. */
export interface Evidence extends Exposure {
  /** Memories that were counted. */
  lives: number;
  estimate: (Estimate & { narrow: boolean }) | null;
}

export interface LearnedWindow extends Pace {
  topic: string;
  source: 'table' | 'pinned' | 'own' | 'everyone';
  own: Evidence;
  /** Null unless counts of all users are in use. */
  everyone: Evidence | null;
}

type Seen = Exposure & { lives: number };

/** A window is learned once the credible interval of its half-life spans no more than this factor: from 23 changes on. */
export const NARROW = 2;

/** Learned windows of one user: a recall query has a branch for each. Those with the most changes are kept. */
export const MOST_LEARNED = 50;

const SHORTEST_HOURS = 1;
const LONGEST_HOURS = 100 * 365 * 24;

/**
 * Changes and exposure by topic. A memory that is still open was watched until its user was last heard, not until
 * now: silence is no evidence that nothing changed.
 */
export function exposuresOf(lifetimes: readonly Lifetimes[]): Map<string, Seen> {
  const heard = new Map<string, number>();
  for (const { scope, heardAt } of lifetimes) heard.set(scope, Math.max(heardAt, heard.get(scope) ?? heardAt));
  const topics = new Map<string, Seen>();
  for (const { scope, topic, open, changed, ended, readAt } of lifetimes) {
    const unheard = (open.count * (readAt - (heard.get(scope) ?? readAt))) / MS_PER_HOUR;
    const seen = topics.get(topic) ?? NOTHING;
    topics.set(topic, {
      events: seen.events + changed.count,
      exposureHours: seen.exposureHours + changed.hours + ended.hours + open.hours - unheard,
      lives: seen.lives + open.count + changed.count + ended.count,
    });
  }
  return topics;
}

const NOTHING: Seen = { events: 0, exposureHours: 0, lives: 0 };

/** The window of every topic that the table names or the user has, in that order. `everyone` is null unless in use. */
export function learnWindows(
  own: ReadonlyMap<string, Seen>,
  everyone: ReadonlyMap<string, Seen> | null,
  table: AgingTable,
  policy: WindowPolicy,
): LearnedWindow[] {
  const topics = new Set([...table.windows.flatMap((window) => window.topics), ...[...own.keys()].sort()]);
  for (const topic of policy.pinned.keys()) topics.add(topic);
  const windows = [...topics].map((topic) =>
    windowFor(topic, own.get(topic) ?? NOTHING, everyone && (everyone.get(topic) ?? NOTHING), table, policy),
  );
  const learned = windows.filter(({ source }) => source === 'own' || source === 'everyone');
  const kept = new Set(learned.sort((a, b) => eventsOf(b) - eventsOf(a)).slice(0, MOST_LEARNED));
  return windows.map((window) =>
    kept.has(window) || !learned.includes(window)
      ? window
      : { ...window, ...windowOf(table, window.topic), source: 'table' },
  );
}

const eventsOf = ({ own, everyone }: LearnedWindow): number => own.events + (everyone?.events ?? 0);

/** The table is the prior of what everyone's counts say, and that, once it is narrow, the prior of the user's own. */
function windowFor(
  topic: string,
  own: Seen,
  everyone: Seen | null,
  table: AgingTable,
  policy: WindowPolicy,
): LearnedWindow {
  const { halfLifeHours, floor } = windowOf(table, topic);
  const ofEveryone = everyone && evidenceOf(everyone, halfLifeHours);
  const shared = ofEveryone?.estimate?.narrow ? ofEveryone.estimate.halfLifeHours : null;
  const ofOwn = evidenceOf(own, shared ?? halfLifeHours);
  const window = { topic, floor, own: ofOwn, everyone: ofEveryone };
  const pinned = policy.pinned.get(topic);
  if (pinned !== undefined) {
    return { ...window, ...pinnedPace(pinned, { halfLifeHours, floor }, table), source: 'pinned' };
  }
  if (policy.learnFrom !== 'off') {
    if (ofOwn.estimate?.narrow) return { ...window, halfLifeHours: whole(ofOwn.estimate.halfLifeHours), source: 'own' };
    if (shared !== null) return { ...window, halfLifeHours: whole(shared), source: 'everyone' };
  }
  return { ...window, halfLifeHours, source: 'table' };
}

/** Hours for a topic that the table never ages come with the floor of any other topic. */
function pinnedPace(pinned: number | null | 'table', own: Pace, table: AgingTable): Pace {
  if (pinned === 'table') return own;
  if (pinned === null) return { halfLifeHours: null, floor: 1 };
  return { halfLifeHours: pinned, floor: own.halfLifeHours === null ? table.otherwise.floor : own.floor };
}

function evidenceOf(seen: Seen, priorHalfLifeHours: number | null): Evidence {
  if (priorHalfLifeHours === null) return { ...seen, estimate: null };
  const estimated = estimate(seen, priorHalfLifeHours);
  return { ...seen, estimate: { ...estimated, narrow: estimated.high <= NARROW * estimated.low } };
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
