import type { Scope } from './memory.ts';
import type { Changes, Lifetimes, ScopedStore } from './store.ts';

/**
 * The lifetimes of each scope's topics, kept and brought up to date: a commit made here has its own topics read again,
 * and all of them are read again after a while, for what other processes wrote.
 */

const KEEP_MS = 600_000;
const MOST_SCOPES = 1000;
/** With more topics written than this, all are read. */
const MOST_TOPICS = 1000;

interface Known {
  topics: Map<string, Lifetimes>;
  /** All topics as one list, another one after each reading. */
  list: readonly Lifetimes[];
  /** When all topics were read last. */
  readAt: number;
  /** Topics written since they were read. */
  written: Set<string>;
  /** The reading under way, and whether it is of all topics. */
  reading: { all: boolean; done: Promise<void> } | null;
}

export class LifetimeCache {
  readonly #scopes = new Map<Scope, Known>();

  /** The same list until something was read; `anew` reads all of it. Throws what the store throws; the next call reads again. */
  async read(store: ScopedStore, now: number, { anew = false } = {}): Promise<readonly Lifetimes[]> {
    const known = this.#known(store.scope);
    const stale = () => Math.abs(now - known.readAt) >= KEEP_MS;
    let wanted = anew;
    // The first reading under way may have begun before this call, and what was written before it; the second did not.
    for (let waited = 0; known.reading && waited < 2; waited++) {
      const { all, done } = known.reading;
      await done;
      if (all && waited > 0) wanted = false;
    }
    while (wanted || known.written.size > 0 || stale()) {
      if (known.reading) {
        await known.reading.done;
        continue;
      }
      const all = wanted || known.written.size > MOST_TOPICS || stale();
      const done = update(known, store, all, now).finally(() => {
        known.reading = null;
      });
      known.reading = { all, done };
      await done;
      break;
    }
    return known.list;
  }

  /** What was read last, however long ago; empty where nothing was. */
  last(scope: Scope): readonly Lifetimes[] {
    return this.#scopes.get(scope)?.list ?? [];
  }

  /** The same store; what is committed through it, even where that ends in an error, is read again when asked for next. */
  watching(store: ScopedStore): ScopedStore {
    return {
      ...store,
      commit: async (changes) => {
        try {
          await store.commit(changes);
        } finally {
          const known = this.#scopes.get(store.scope);
          for (const topic of topicsOf(changes)) known?.written.add(topic);
        }
      },
    };
  }

  /** Most recently used last; the one unused for longest makes room. */
  #known(scope: Scope): Known {
    const known = this.#scopes.get(scope) ?? {
      topics: new Map(),
      list: [],
      readAt: Number.NEGATIVE_INFINITY,
      written: new Set(),
      reading: null,
    };
    this.#scopes.delete(scope);
    this.#scopes.set(scope, known);
    const [unused] = this.#scopes.keys();
    if (this.#scopes.size > MOST_SCOPES && unused !== undefined) this.#scopes.delete(unused);
    return known;
  }
}

const topicsOf = ({ insert = [], update = [], erase = [] }: Changes): string[] =>
  [...insert, ...update, ...erase].map(({ row }) => row.topic);

/** What is written while it is read stays marked, and a reading that fails leaves everything marked. */
async function update(known: Known, store: ScopedStore, all: boolean, now: number): Promise<void> {
  const written = [...known.written];
  known.written.clear();
  try {
    const lifetimes = await (all ? store.lifetimes(now) : store.lifetimes(now, written));
    for (const topic of all ? [...known.topics.keys()] : written) known.topics.delete(topic);
    for (const one of lifetimes) known.topics.set(one.topic, one);
    known.list = [...known.topics.values()];
    if (all) known.readAt = now;
  } catch (error) {
    for (const topic of written) known.written.add(topic);
    throw error;
  }
}
