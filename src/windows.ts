import { type AgingTable, DEFAULT_AGING, type Pace } from './aging.ts';
import { countsOf, type Pool, poolOf } from './counts.ts';
import { drawCurve } from './curve.ts';
import { compareShapes, EVENTS_FOR_SHAPE, type WeibullFit } from './hazard.ts';
import {
  DEFAULT_POLICY,
  type Evidence,
  type LearnedWindow,
  type LearnFrom,
  learnWindows,
  tableWith,
  type WindowPolicy,
} from './learned-windows.ts';
import { LifetimeCache } from './lifetimes.ts';
import { MS_PER_HOUR } from './score.ts';
import type { Life, Lifetimes, MemoryStore, ScopedStore } from './store.ts';
import { latest } from './verb.ts';

/** The ageing windows in force for each user: read off the store, kept up to date, shown with their evidence. */

export interface Windows {
  /**
   * For a recall: with all that was written here; at most ten minutes late what other processes wrote, and a change that
   * was announced and has come true. Where the
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
  const memo = new WeakMap<readonly Lifetimes[], { pool: Pool | null; windows: LearnedWindow[] }>();

  /** The same windows while neither the lifetimes nor the pool was read again. */
  function windowsOf(scope: string, list: readonly Lifetimes[], current: Pool | null): LearnedWindow[] {
    const known = memo.get(list);
    if (known?.pool === current) return known.windows;
    const own = countsOf(list).get(scope) ?? new Map();
    const windows = learnWindows({ scope, own, pool: current }, DEFAULT_AGING, policy);
    memo.set(list, { pool: current, windows });
    return windows;
  }

  async function learn(scoped: ScopedStore, options = {}) {
    const now = clock();
    const [list, current] = await Promise.all([lifetimes.read(scoped, now, options), pool.read(now)]);
    return { windows: windowsOf(scoped.scope, list, current), list, now };
  }

  const unlearned = tableWith(learnWindows(NOBODY, DEFAULT_AGING, policy), DEFAULT_AGING);

  return {
    async inForce(scoped) {
      if (policy.learnFrom === 'off') return unlearned;
      const last = () => windowsOf(scoped.scope, lifetimes.last(scoped.scope), pool.last());
      const windows = await learn(scoped).then(({ windows }) => windows, last);
      return tableWith(windows, DEFAULT_AGING);
    },
    async shown(scoped) {
      const { windows: learned, list, now } = await learn(scoped, { anew: true });
      const clocks = { now, heardAt: latest(list, ({ heardAt }) => heardAt) };
      const windows: ShownWindow[] = [];
      for (const window of learned) windows.push(await show(scoped, window, clocks));
      const { otherwise } = DEFAULT_AGING;
      const others = { topic: null, ...otherwise, source: 'table' as const, own: null, everyone: null };
      return { learnFrom: policy.learnFrom, windows: [...windows, { ...others, curve: drawCurve(otherwise) }] };
    },
    watching(scoped) {
      const watched = lifetimes.watching(scoped);
      const commit: ScopedStore['commit'] = async (changes) => {
        await watched.commit(changes);
        if (changes.erase?.length) pool.forget();
      };
      return { ...watched, commit };
    },
  };
}

const NOBODY = { scope: '', own: new Map(), pool: null };

interface Heard {
  now: number;
  heardAt: number;
}

async function show(scoped: ScopedStore, window: LearnedWindow, clocks: Heard): Promise<ShownWindow> {
  const { topic, own, everyone, source, ...pace } = window;
  const weibull = own.events > EVENTS_FOR_SHAPE ? await weibullOf(scoped, topic, clocks) : null;
  return { topic, ...pace, source, curve: drawCurve(pace), own: { ...own, weibull }, everyone };
}

async function weibullOf(scoped: ScopedStore, topic: string, { now, heardAt }: Heard): Promise<WeibullFit | null> {
  const lives = await scoped.lives(topic, now);
  const hours = ({ startedAt, endedAt }: Life) => ((endedAt ?? heardAt) - startedAt) / MS_PER_HOUR;
  return compareShapes(lives.map((life) => ({ hours: hours(life), changed: life.changed })));
}

const KEEP_POOL_MS = 3_600_000;
/** How long nobody waits again for a store that could not count. */
const PAUSE_MS = 60_000;

/** The counts of all users; read anew in the background once they are an hour old. Null while they cannot be read. */
function createPool(store: MemoryStore, { learnFrom }: WindowPolicy) {
  let pool: Pool | null = null;
  let dueAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const refresh = async (now: number): Promise<void> => {
    try {
      pool = poolOf(countsOf(await store.lifetimes(now)));
      dueAt = now + KEEP_POOL_MS;
    } catch {
      dueAt = now + PAUSE_MS;
    }
  };
  return {
    async read(now: number): Promise<Pool | null> {
      if (learnFrom !== 'everyone') return null;
      const due = now >= dueAt || dueAt - now > KEEP_POOL_MS;
      if (due) {
        reading ??= refresh(now).finally(() => {
          reading = null;
        });
      }
      if (pool === null) await reading;
      return pool;
    },
    last: (): Pool | null => pool,
    /** What was erased counts no more. */
    forget(): void {
      pool = null;
      dueAt = Number.NEGATIVE_INFINITY;
    },
  };
}
