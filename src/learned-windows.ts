import { type AgingTable, type Pace, windowOf } from './aging.ts';
import { type Counted, type Counts, others, type Pool, type Pooled } from './counts.ts';
import { type Estimate, estimate, type Observed } from './hazard.ts';

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

/** What was seen of a topic, and the half-life it speaks for; no estimate where the table says that it never ages. */
export interface Evidence extends Counted {
  estimate: Judged | null;
}

/** To two digits, so that the counts of one user cannot be worked out from those of all. */
export interface EvidenceOfOthers extends Observed {
  /** Users with changes of the topic. */
  users: number;
  estimate: Judged | null;
}

type Judged = Omit<Estimate, 'priorShare'> & { usable: boolean };

export interface LearnedWindow extends Pace {
  topic: string;
  source: 'table' | 'pinned' | 'own' | 'everyone';
  own: Evidence;
  /** Of the other users together; null where it is not in use, or they are too few. */
  everyone: EvidenceOfOthers | null;
}

/** An estimate is usable once its interval spans no more than this factor, which takes 23 changes … */
const NARROW = 2;
/** … and the prior has no more than this share in it. */
const MOST_PRIOR = 0.1;

/** A recall query has a branch for each window. Of the learned ones, those with the most changes are kept. */
export const MOST_LEARNED = 50;
export const MOST_PINNED = 50;

const SHORTEST_HOURS = 1;
const LONGEST_HOURS = 100 * 365 * 24;

const NOTHING: Counted = { events: 0, exposureHours: 0, lives: 0 };

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
  const everyone = rest && rounded({ ...rest, estimate: judged(rest, given.halfLifeHours) });
  const shared = everyone?.estimate?.usable ? everyone.estimate.halfLifeHours : null;
  const byOthers = judged(own, shared ?? given.halfLifeHours);
  const estimated = byOthers?.usable ? byOthers : judged(own, given.halfLifeHours);
  const evidence = { ...own, estimate: estimated };
  const window = { topic, ...given, own: evidence, everyone };
  const pinned = policy.pinned.get(topic);
  if (pinned !== undefined) return { ...window, ...pinnedPace(pinned, given, table), source: 'pinned' };
  if (policy.learnFrom === 'off') return { ...window, source: 'table' };
  if (estimated?.usable) return { ...window, halfLifeHours: whole(estimated.halfLifeHours), source: 'own' };
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

function judged(seen: Observed, priorHalfLifeHours: number | null): Judged | null {
  if (priorHalfLifeHours === null) return null;
  const { priorShare, ...estimated } = estimate(seen, priorHalfLifeHours);
  const usable = estimated.highHours <= NARROW * estimated.lowHours && priorShare <= MOST_PRIOR;
  return { ...estimated, usable };
}

const twoDigits = (value: number): number => Number(value.toPrecision(2));

function rounded({ users, events, exposureHours, estimate }: EvidenceOfOthers): EvidenceOfOthers {
  return {
    users,
    events: twoDigits(events),
    exposureHours: twoDigits(exposureHours),
    estimate: estimate && {
      halfLifeHours: twoDigits(estimate.halfLifeHours),
      lowHours: twoDigits(estimate.lowHours),
      highHours: twoDigits(estimate.highHours),
      usable: estimate.usable,
    },
  };
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
