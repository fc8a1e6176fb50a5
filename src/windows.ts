import { type AgingTable, DEFAULT_AGING, type Pace } from './aging.ts';
import { drawCurve } from './curve.ts';
import { compareShapes, EVENTS_FOR_SHAPE, type Shape } from './hazard.ts';
import {
  DEFAULT_POLICY,
  type Evidence,
  exposuresOf,
  type LearnedWindow,
  type LearnFrom,
  learnWindows,
  tableWith,
  type WindowPolicy,
} from './learned-windows.ts';
import { LifetimeCache } from './lifetimes.ts';
import { MS_PER_HOUR } from './score.ts';
import type { Life, Lifetimes, MemoryStore, ScopedStore } from './store.ts';

/** The ageing windows in force for each user: read off the store, kept for a while, shown with their evidence. */

export interface Windows {
  /** For a recall: with what was written here, and what other processes wrote up to ten minutes ago. */
  inForce(store: ScopedStore): Promise<AgingTable>;
  /** As of now, with what they rest on. */
  shown(store: ScopedStore): Promise<ShownWindows>;
  /** The same store; the windows follow what is written through it. */
  watching(store: ScopedStore): ScopedStore;
}

export interface ShownWindows {
  learnFrom: LearnFrom;
  windows: ShownWindow[];
}

export interface ShownWindow extends Pace {
  /** Null stands for every topic that has no window of its own. */
  topic: string | null;
  source: LearnedWindow['source'];
  /** The age weight over a year, in 24 steps. */
  curve: string;
  /** Null for the last entry, which stands for topics not seen. */
  own: (Evidence & { shape: Shape | null }) | null;
  everyone: Evidence | null;
}

/** How long the counts of all users are kept; they leave the store as sums by scope and topic. */
const KEEP_EVERYONE_MS = 3_600_000;

export function createWindows(store: MemoryStore, policy: WindowPolicy = DEFAULT_POLICY, clock: () => number): Windows {
  const lifetimes = new LifetimeCache();
  let everyone: { readAt: number; lifetimes: Promise<Lifetimes[]> } | undefined;

  const everyones = (now: number): Promise<Lifetimes[]> | null => {
    if (policy.learnFrom !== 'everyone') return null;
    if (!everyone || Math.abs(now - everyone.readAt) >= KEEP_EVERYONE_MS) {
      everyone = { readAt: now, lifetimes: store.lifetimes(now) };
      everyone.lifetimes.catch(() => {
        everyone = undefined;
      });
    }
    return everyone.lifetimes;
  };

  async function learn(scoped: ScopedStore) {
    const now = clock();
    const [own, all] = await Promise.all([lifetimes.read(scoped, now), everyones(now)]);
    const windows = learnWindows(exposuresOf(own), all && exposuresOf(all), DEFAULT_AGING, policy);
    return { windows, heardAt: Math.max(...own.map(({ heardAt }) => heardAt)) };
  }

  return {
    async inForce(scoped) {
      const fixed = policy.learnFrom === 'off';
      const windows = fixed ? learnWindows(new Map(), null, DEFAULT_AGING, policy) : (await learn(scoped)).windows;
      return tableWith(windows, DEFAULT_AGING);
    },
    async shown(scoped) {
      lifetimes.forget(scoped.scope);
      const { windows: learned, heardAt } = await learn(scoped);
      const windows = await Promise.all(learned.map((window) => show(scoped, window, heardAt)));
      const { otherwise } = DEFAULT_AGING;
      const others = { topic: null, ...otherwise, source: 'table' as const, own: null, everyone: null };
      return { learnFrom: policy.learnFrom, windows: [...windows, { ...others, curve: drawCurve(otherwise) }] };
    },
    watching: (scoped) => lifetimes.watching(scoped),
  };
}

async function show(scoped: ScopedStore, window: LearnedWindow, heardAt: number): Promise<ShownWindow> {
  const { topic, own, everyone, source, ...pace } = window;
  const shape = own.events > EVENTS_FOR_SHAPE ? await shapeOf(scoped, topic, heardAt) : null;
  return { topic, ...pace, source, curve: drawCurve(pace), own: { ...own, shape }, everyone };
}

async function shapeOf(scoped: ScopedStore, topic: string, heardAt: number): Promise<Shape | null> {
  const lives = await scoped.lives(topic, heardAt);
  const hours = ({ startedAt, endedAt }: Life) => ((endedAt ?? heardAt) - startedAt) / MS_PER_HOUR;
  return compareShapes(lives.map((life) => ({ hours: hours(life), changed: life.changed })));
}
