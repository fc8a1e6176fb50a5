import type { AgingTable } from './aging.ts';
import type { EmbeddingModel } from './embedder.ts';
import type { Clocks, Kind, MemoryRow, Scope } from './memory.ts';
import type { Calibration, Parts } from './score.ts';

/**
 * The seam between the core and a database. Drivers know storage; only the core knows rules.
 * A handle is made for one scope: it reads that scope and `shared`, and writes that scope alone.
 */
export interface MemoryStore {
  /** `embedded` or `elasticsearch`; shown to people. */
  readonly name: string;
  /** Who embeds: the core (`client`), or the database from the text itself (`server`). */
  readonly embeds: 'client' | 'server';
  /** Prepares the schema; safe to repeat and to run twice at once. Fails where the data belongs to another model or schema. */
  setup(): Promise<void>;
  /** The model whose vectors the store holds. */
  model(): Promise<EmbeddingModel>;
  for(scope: Scope): ScopedStore;
  /** As `commit`, over rows of several scopes at once: for seeding alone. Each audit entry belongs to its row's scope. */
  load(changes: Pick<Changes, 'insert' | 'audit'>): Promise<void>;
  /** As in a scope, over all scopes: counts and sums, and no memory. */
  lifetimes(now: number): Promise<Lifetimes[]>;
  /** What `doctor` examines of this store, in order. */
  checks(): readonly Check[];
  /** The database's own vectors of texts, of unit length; only where it embeds. */
  embed(kind: 'query' | 'passage', texts: readonly string[]): Promise<Float32Array[]>;
  /** Removes the store's data for good, where it was made to be thrown away. */
  drop(): Promise<void>;
  close(): Promise<void>;
}

/** One line of `doctor`: answers with what it found; throws a SupersededError whose hint is the recommendation. */
export interface Check {
  title: string;
  run(): Promise<string>;
}

export interface ScopedStore {
  readonly scope: Scope;
  /** Ranks own and shared memories; the rows their links name come along, in one look-up at most. */
  rank(query: RankQuery): Promise<Ranking>;
  /** Own open memories at a cosine of at least `minCosine`, nearest first. */
  nearest(query: NearestQuery): Promise<{ row: MemoryRow; cosine: number }[]>;
  /** Own and shared memories by id, in no fixed order; own ones win where both have the id. Unknown ids are left out. */
  get(ids: readonly string[]): Promise<Stored[]>;
  /**
   * Own memories, newest first (createdAt, then id, both descending). By link or text key it sees whatever `get` sees:
   * what is written next rests on it.
   */
  find(filter: Filter): Promise<Stored[]>;
  /** Which of these own ids were erased, and when. */
  tombstones(ids: readonly string[]): Promise<Tombstone[]>;
  /** Own audit entries, newest first. */
  audit(filter: AuditFilter): Promise<AuditEntry[]>;
  /** How long own memories held, added up by topic, of all topics unless named; in no fixed order. */
  lifetimes(now: number, topics?: readonly string[]): Promise<Lifetimes[]>;
  /** The own memories of a topic that `lifetimes` adds up, one by one; in no fixed order. */
  lives(topic: string, now: number): Promise<Life[]>;
  /** Writes all of it or none; throws VersionConflict where a row changed since it was read, or a new id exists. */
  commit(changes: Changes): Promise<void>;
}

/** Opaque; equal while the row is unchanged. */
export type Version = string;

export interface Stored {
  row: MemoryRow;
  version: Version;
}

export interface Changes {
  /** New rows with their vectors (null where the database embeds). */
  insert?: readonly { row: MemoryRow; vector: Float32Array | null }[];
  /** Rows that replace what was read; text and vector stay as they are. */
  update?: readonly Stored[];
  /** Own rows that must still be what was read, and stay as they are. */
  guard?: readonly Stored[];
  /** Rows whose text, vector, postings and audit contents go for good, leaving a tombstone. */
  erase?: readonly (Stored & { at: number })[];
  audit?: readonly AuditEntry[];
}

export interface Tombstone {
  id: string;
  at: number;
}

/** One verb on one memory: what the row was before and after it, null where there was none. */
export interface AuditEntry {
  id: string;
  at: number;
  /** The user who acted. */
  actor: string;
  verb: string;
  memory: string;
  before: MemoryRow | null;
  after: MemoryRow | null;
  /** The surface it came through: `cli`, `http`, `tool`, `mcp`, `import`, `library`. */
  source: string;
  /** What came with the verb and is not in the row: a reason, a note, the question feedback was given for. */
  detail: Record<string, string | number | boolean> | null;
}

export interface AuditFilter {
  memory?: string;
  limit: number;
  /** Entries older than this one only. */
  after?: { at: number; id: string };
}

export interface RankQuery extends Clocks {
  text: string;
  /** The embedded question; null where the database embeds. */
  vector: Float32Array | null;
  calibration: Calibration;
  aging: AgingTable;
  limit: number;
  /** Memories whose validity has ended count too. */
  includeHistory: boolean;
  /** Only confident, unharmed memories within one half-life. */
  strict: boolean;
  /** Any of these; empty means all. */
  kinds: readonly Kind[];
  topics: readonly string[];
  tags: readonly string[];
  signal?: AbortSignal;
}

export interface Ranked extends Parts {
  row: MemoryRow;
  score: number;
}

export interface Ranking {
  /** By score, then freshAt, both descending, then id and scope. */
  ranked: Ranked[];
  /** Rows that the ranked ones name as superseded or as successor and that are not ranked themselves. */
  linked: MemoryRow[];
}

export interface NearestQuery extends Clocks {
  text: string;
  vector: Float32Array | null;
  minCosine: number;
  limit: number;
  signal?: AbortSignal;
}

export interface Filter {
  /** Rows whose text, topic and kind have this key. */
  textKey?: string;
  /** Rows that name this id as one they were derived from. */
  derivedFrom?: string;
  /** Rows that name this id as one they deny. */
  denies?: string;
  kind?: Kind;
  topic?: string;
  tag?: string;
  /** `open`: open and upcoming at the clocks; `closed`: recorded by then, and neither. */
  status?: 'open' | 'closed' | 'all';
  /** Needed with a status other than `all`; rows recorded after knownAt never count. */
  clocks?: Clocks;
  limit: number;
  /** Rows older than this one only. */
  after?: { createdAt: number; id: string };
}

/**
 * How long the memories of a topic held. Counted are those that a person spoke of and that were recorded by `now`, true by
 * then and without a planned end (their pace is given); not those never true or held for review.
 */
export interface Lifetimes {
  scope: Scope;
  topic: string;
  /** Not ended by `readAt`: from their start until then. */
  open: Lived;
  /** Superseded by a person's different value. */
  changed: Lived;
  /** Ended in another way; where the service ended it by itself, counted until then. */
  ended: Lived;
  /** The last time by `readAt` that a person spoke of one of them. */
  heardAt: number;
  /** The `now` of the reading. */
  readAt: number;
}

export interface Lived {
  count: number;
  hours: number;
}

/** The time over which one memory's end would have been seen. */
export interface Life {
  /** When it was recorded, or became true where it had ended by then. */
  startedAt: number;
  /** Null where it had not ended by the `now` of the reading. */
  endedAt: number | null;
  changed: boolean;
}
