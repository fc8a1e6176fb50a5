import type { Admission } from './admission.ts';
import { PRESETS } from './aging.ts';
import { type Audited, audit } from './audit.ts';
import type { Embedder, EmbeddingModel } from './embedder.ts';
import { erase, eraseAll, type Receipt } from './erasure.ts';
import { id as idField, user as userId } from './fields.ts';
import { history } from './history.ts';
import type { WindowPolicy } from './learned-windows.ts';
import * as lifecycle from './lifecycle.ts';
import { list, type Page } from './list.ts';
import { type Memory, type MemoryRow, type Scope, toMemory, userScope } from './memory.ts';
import { type AgingOf, type Recalled, recall } from './recall.ts';
import { type Remembered, remember } from './remember.ts';
import { type ReviewItem, resolveReview, review } from './review.ts';
import type { Similar } from './similar.ts';
import type { MemoryStore } from './store.ts';
import { exportLines, type Imported, importLines } from './transfer.ts';
import * as trust from './trust.ts';
import { check } from './validation.ts';
import { type Actor, notFound, refuseErased, timeOrderedId } from './verb.ts';
import { createWindows, type ShownWindows, type Windows } from './windows.ts';

/** The service: every verb of one user, over one store, answering in the shapes of the HTTP contract. */

export interface SupersededOptions {
  store: MemoryStore;
  /** Needed where the store does not embed by itself. */
  embedder: Embedder | null;
  /** Milliseconds since 1970; the system's clock unless given. */
  clock?: () => number;
  newId?: (at: number) => string;
  /** New memories with an admission score below this are held for review; null (the default) lets everything in. */
  admission?: number | null;
  /** How ageing windows are learned; from each user's own changes of mind unless given. */
  windows?: WindowPolicy;
}

export interface Superseded {
  readonly store: MemoryStore;
  /** Null where the store embeds. */
  readonly embedder: Embedder | null;
  /**
   * The verbs of one user; `source` names the surface in the audit, `automatic` what no person asked for: it counts for
   * no window. Throws INVALID_INPUT for what is no user id.
   */
  for(user: string, source?: string): UserMemories;
  /** What a verb works with, for code beside the verbs (seeding, comparing). */
  actor(scope: Scope, user: string, source: string): Promise<Actor>;
  close(): Promise<void>;
}

export interface RememberAnswer {
  memory: Memory;
  /** False where nothing new was written. */
  stored: boolean;
  reason?: Remembered['reason'];
  superseded: string[];
  similar: Similar[];
  admission?: Admission;
}

/** Inputs are checked here, so they may come straight from a request; every verb throws SupersededError. */
export interface UserMemories {
  readonly user: string;
  remember(input: unknown): Promise<RememberAnswer>;
  recall(input: unknown, options?: { signal?: AbortSignal }): Promise<Recalled>;
  list(input?: unknown): Promise<Page>;
  get(id: string): Promise<Memory>;
  history(id: string): Promise<{ memories: Memory[] }>;
  supersede(id: string, input: unknown): Promise<{ memory: Memory; superseded: string[] }>;
  close(id: string, input?: unknown): Promise<{ memory: Memory }>;
  reopen(id: string, input?: unknown): Promise<{ memory: Memory; openSuccessor: Memory | null }>;
  confirm(id: string, input?: unknown): Promise<{ memory: Memory }>;
  deny(id: string, input?: unknown): Promise<{ memory: Memory }>;
  feedback(id: string, input: unknown): Promise<{ memory: Memory }>;
  erase(id: string, input?: unknown): Promise<Receipt>;
  eraseAll(input: unknown): Promise<{ erased: number; at: string }>;
  audit(input?: unknown): Promise<{ entries: Audited[]; nextCursor: string | null }>;
  review(): Promise<{ items: ReviewItem[] }>;
  resolveReview(id: string, input: unknown): Promise<{ id: string; action: string; memory: Memory }>;
  /** The windows in force for this user, with what they rest on. */
  aging(): Promise<ShownWindows>;
  /** All own memories, one JSON document a line, oldest first. */
  exportNdjson(): Promise<string>;
  importNdjson(text: string, onProgress?: (done: number, total: number) => void): Promise<Imported>;
}

export function createSuperseded(options: SupersededOptions): Superseded {
  const { store, embedder, admission = null, clock = Date.now, newId = timeOrderedId } = options;
  const windows = createWindows({ store, policy: options.windows, clock });
  let ready: Promise<EmbeddingModel> | undefined;

  /** Prepares the store once; a failed attempt is made again by the next verb. */
  const prepare = (): Promise<EmbeddingModel> => {
    ready ??= store.setup().then(() => store.model());
    ready.catch(() => {
      ready = undefined;
    });
    return ready;
  };

  async function actor(scope: Scope, user: string, source: string): Promise<Actor> {
    const model = await prepare();
    return { store: windows.watching(store.for(scope)), embedder, model, user, source, admission, clock, newId };
  }

  return {
    store,
    embedder,
    actor,
    for: (user, source = 'library') => {
      const name = check(userId, user, 'The user');
      return userMemories(name, windows, () => actor(userScope(name), name, source));
    },
    async close() {
      await store.close();
      await embedder?.close();
    },
  };
}

function userMemories(user: string, windows: Windows, open: () => Promise<Actor>): UserMemories {
  /** A verb on one memory: checks the id before anything is read. */
  const on =
    <R extends { row: MemoryRow } | MemoryRow>(verb: (actor: Actor, id: string, input: unknown) => Promise<R>) =>
    async (id: string, input: unknown = {}): Promise<{ actor: Actor; result: R }> => {
      check(idField, id, 'The id');
      const actor = await open();
      return { actor, result: await verb(actor, id, input) };
    };

  const changed = (verb: (actor: Actor, id: string, input: unknown) => Promise<MemoryRow>) => {
    const run = on(verb);
    return async (id: string, input?: unknown) => {
      const { actor, result } = await run(id, input);
      return { memory: shown(actor, result) };
    };
  };

  return {
    user,
    async remember(input) {
      const actor = await open();
      const { row, ...rest } = await remember(actor, input);
      return { memory: shown(actor, row), ...rest };
    },
    async recall(input, { signal } = {}) {
      const actor = await open();
      const aging: AgingOf = (preset) => (preset === 'default' ? windows.inForce(actor.store) : PRESETS[preset]);
      return recall(actor, input, { aging, ...(signal ? { signal } : {}) });
    },
    async list(input = {}) {
      return list(await open(), input);
    },
    async get(id) {
      check(idField, id, 'The id');
      const actor = await open();
      await refuseErased(actor, id);
      const [stored] = await actor.store.get([id]);
      if (!stored) throw notFound(id);
      return shown(actor, stored.row);
    },
    async history(id) {
      check(idField, id, 'The id');
      return { memories: await history(await open(), id) };
    },
    async supersede(id, input) {
      const { actor, result } = await on(lifecycle.supersede)(id, input);
      return { memory: shown(actor, result.row), superseded: result.superseded };
    },
    close: changed(lifecycle.close),
    async reopen(id, input) {
      const { actor, result } = await on(lifecycle.reopen)(id, input);
      const { row, openSuccessor } = result;
      return { memory: shown(actor, row), openSuccessor: openSuccessor && shown(actor, openSuccessor) };
    },
    confirm: changed(trust.confirm),
    deny: changed(trust.deny),
    feedback: changed(trust.feedback),
    async erase(id, input = {}) {
      check(idField, id, 'The id');
      return erase(await open(), id, input);
    },
    async eraseAll(input) {
      return eraseAll(await open(), input);
    },
    async audit(input = {}) {
      return audit(await open(), input);
    },
    async review() {
      const actor = await open();
      return review(actor, await windows.inForce(actor.store));
    },
    async resolveReview(id, input) {
      const { actor, result } = await on(resolveReview)(id, input);
      return { id: result.id, action: result.action, memory: shown(actor, result.row) };
    },
    async aging() {
      return windows.shown((await open()).store);
    },
    async exportNdjson() {
      const lines = await exportLines(await open());
      return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    },
    async importNdjson(text, onProgress) {
      return importLines(await open(), text, onProgress);
    },
  };
}

/** The row as of now, or of the last thing recorded about it where that is later. */
function shown(actor: Actor, row: MemoryRow): Memory {
  const now = Math.max(actor.clock(), row.changedAt);
  return toMemory(row, { asOf: now, knownAt: now });
}
