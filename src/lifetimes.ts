import type { Scope } from './memory.ts';
import type { Changes, Lifetimes, ScopedStore } from './store.ts';

/**
 * The lifetimes of each scope's topics, kept and brought up to date: a commit made here has its own topics read again,
 * and all of them are read again after a while, for what other processes wrote.
 */

const KEEP_MS = 600_000;
const MOST_SCOPES = 1000;

interface Known {
  topics: Map<string, Lifetimes>;
  /** When all topics were read last. */
  readAt: number;
  /** Topics written since they were read. */
  written: Set<string>;
  /** The last reading, which the next one waits for. */
  reading: Promise<unknown>;
}

export class LifetimeCache {
  readonly #scopes = new Map<Scope, Known>();

  async read(store: ScopedStore, now: number): Promise<Lifetimes[]> {
    const known = this.#known(store.scope);
    const read = known.reading.then(() => update(known, store, now));
    known.reading = read.catch(() => null);
    await read;
    return [...known.topics.values()];
  }

  /** The same store; what is committed through it is read again when it is asked for next. */
  watching(store: ScopedStore): ScopedStore {
    return {
      ...store,
      commit: async (changes) => {
        await store.commit(changes);
        const known = this.#scopes.get(store.scope);
        for (const topic of topicsOf(changes)) known?.written.add(topic);
      },
    };
  }

  forget(scope: Scope): void {
    this.#scopes.delete(scope);
  }

  /** Most recently used last; the one unused for longest makes room. */
  #known(scope: Scope): Known {
    const known = this.#scopes.get(scope) ?? {
      topics: new Map(),
      readAt: Number.NEGATIVE_INFINITY,
      written: new Set(),
      reading: Promise.resolve(),
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
async function update(known: Known, store: ScopedStore, now: number): Promise<void> {
  const all = Math.abs(now - known.readAt) >= KEEP_MS;
  const written = [...known.written];
  if (!all && written.length === 0) return;
  known.written.clear();
  try {
    const lifetimes = await (all ? store.lifetimes(now) : store.lifetimes(now, written));
    for (const topic of all ? [...known.topics.keys()] : written) known.topics.delete(topic);
    for (const one of lifetimes) known.topics.set(one.topic, one);
    if (all) known.readAt = now;
  } catch (error) {
    for (const topic of written) known.written.add(topic);
    throw error;
  }
}
