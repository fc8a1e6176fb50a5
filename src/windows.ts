import { type AgingTable, DEFAULT_AGING, type Pace } from './aging.ts';
import { drawCurve } from './curve.ts';
import { compareShapes, EVENTS_FOR_SHAPE, type WeibullFit } from './hazard.ts';
import {
  countsOf,
  DEFAULT_POLICY,
  type Evidence,
  type LearnedWindow,
  type LearnFrom,
  learnWindows,
  type Pool,
  poolOf,
  tableWith,
  type WindowPolicy,
} from './learned-windows.ts';
import { LifetimeCache } from './lifetimes.ts';
import { MS_PER_HOUR } from './score.ts';
import type { Life, Lifetimes, MemoryStore, ScopedStore } from './store.ts';

/** The ageing windows in force for each user: read off the store, kept up to date, shown with their evidence. */

export interface Windows {
  /**
   * For a recall: with all that was written here, and what other processes wrote, at most ten minutes late. Where the
   * store cannot count, the windows learned last.
   */
  inForce(store: ScopedStore): Promise<AgingTable>;
  /** From the user's counts as of now, with what they rest on; everyone's may be an hour old. */
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
  own: (Evidence & { weibull: WeibullFit | null }) | null;
  everyone: LearnedWindow['everyone'];
}

export interface WindowsOptions {
  store: MemoryStore;
  policy?: WindowPolicy | undefined;
  clock: () => number;
}

export function createWindows({ store, policy = DEFAULT_POLICY, clock }: WindowsOptions): Windows {
  const lifetimes = new LifetimeCache();
  const pool = createPool(store, policy);
  const learned = new WeakMap<readonly Lifetimes[], { pool: Pool | null; windows: LearnedWindow[] }>();

  /** The same windows while neither the lifetimes nor the pool was read again. */
  function windowsOf(scope: string, list: readonly Lifetimes[], current: Pool | null): LearnedWindow[] {
    const known = learned.get(list);
    if (known?.pool === current) return known.windows;
    const own = countsOf(list).get(scope) ?? new Map();
    const windows = learnWindows({ scope, own, pool: current }, DEFAULT_AGING, policy);
    learned.set(list, { pool: current, windows });
    return windows;
  }

  async function learn(scoped: ScopedStore): Promise<{ windows: LearnedWindow[]; list: readonly Lifetimes[] }> {
    const now = clock();
    const [list, current] = await Promise.all([lifetimes.read(scoped, now), pool.read(now)]);
    return { windows: windowsOf(scoped.scope, list, current), list };
  }

  return {
    async inForce(scoped) {
      const last = () => windowsOf(scoped.scope, lifetimes.last(scoped.scope), pool.last());
      if (policy.learnFrom === 'off') return tableWith(learnWindows(NOBODY, DEFAULT_AGING, policy), DEFAULT_AGING);
      const windows = await learn(scoped).then(({ windows }) => windows, last);
      return tableWith(windows, DEFAULT_AGING);
    },
    async shown(scoped) {
      lifetimes.forget(scoped.scope);
      const { windows: all, list } = await learn(scoped);
      const heardAt = Math.max(...list.map((one) => one.heardAt));
      const windows: ShownWindow[] = [];
      for (const window of all) windows.push(await show(scoped, window, heardAt));
      const { otherwise } = DEFAULT_AGING;
      const others = { topic: null, ...otherwise, source: 'table' as const, own: null, everyone: null };
      return { learnFrom: policy.learnFrom, windows: [...windows, { ...others, curve: drawCurve(otherwise) }] };
    },
    watching: (scoped) => lifetimes.watching(scoped),
  };
}

const NOBODY = { scope: '', own: new Map(), pool: null };

async function show(scoped: ScopedStore, window: LearnedWindow, heardAt: number): Promise<ShownWindow> {
  const { topic, own, everyone, source, ...pace } = window;
  const weibull = own.events > EVENTS_FOR_SHAPE ? await weibullOf(scoped, topic, heardAt) : null;
  return { topic, ...pace, source, curve: drawCurve(pace), own: { ...own, weibull }, everyone };
}

async function weibullOf(scoped: ScopedStore, topic: string, heardAt: number): Promise<WeibullFit | null> {
  const lives = await scoped.lives(topic, heardAt);
  const hours = ({ startedAt, endedAt }: Life) => ((endedAt ?? heardAt) - startedAt) / MS_PER_HOUR;
  return compareShapes(lives.map((life) => ({ hours: hours(life), changed: life.changed })));
}

const KEEP_POOL_MS = 3_600_000;

/** The counts of all users; read anew in the background once they are an hour old. */
function createPool(store: MemoryStore, { learnFrom }: WindowPolicy) {
  let known: { readAt: number; pool: Pool } | null = null;
  let reading: Promise<Pool> | null = null;
  const refresh = (now: number): Promise<Pool> => {
    reading ??= store
      .lifetimes(now)
      .then((lifetimes) => {
        known = { readAt: now, pool: poolOf(countsOf(lifetimes)) };
        return known.pool;
      })
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  return {
    async read(now: number): Promise<Pool | null> {
      if (learnFrom !== 'everyone') return null;
      if (known === null) return refresh(now);
      if (Math.abs(now - known.readAt) >= KEEP_POOL_MS) refresh(now).catch(() => null);
      return known.pool;
    },
    last: (): Pool | null => known?.pool ?? null,
  };
}
