import type { ResultSet } from '@libsql/client/sqlite3';
import type { Scope } from '../memory.ts';
import { numberOf, type Statement, textOf } from './embedded-database.ts';
import { Dictionary } from './embedded-dictionary.ts';
import { PostingLists } from './embedded-postings.ts';

/**
 * One scope's rows in typed arrays: what filters and scores need, and the vectors. Brought up to date from the database
 * before every use, so that writes of other processes count; slots follow `seq`, which only grows.
 */

/** Rows a chunk of vectors holds: small, for stores of many users with few memories each. */
const CHUNK_ROWS = 128;
/** New rows read at once; between pages the event loop runs. */
const PAGE_ROWS = 256;
/** Share of erased rows from which the scope is read anew. */
const MOST_ERASED = 0.25;

const NUMBERS = [
  'seq',
  'revision',
  'createdAt',
  'validFrom',
  'plannedTo',
  'validTo',
  'closedAt',
  'freshAt',
  'confidence',
  'feedbackSum',
  'feedbackCount',
  'topic',
  'kind',
  'tags',
  'closed',
] as const;
type Column = (typeof NUMBERS)[number];

export class ScopeRows {
  readonly scope: Scope;
  readonly dimensions: number;
  readonly topics = new Dictionary();
  readonly kinds = new Dictionary();
  /** Whole lists of tags, as JSON. */
  readonly tagLists = new Dictionary();
  readonly ids: string[] = [];
  readonly postings = new PostingLists(this);
  /** Vectors, CHUNK_ROWS to a chunk. */
  readonly chunks: Float32Array[] = [];
  /** Whether every row was read at least once. */
  loaded = false;
  /** Slots in use, the erased ones among them. */
  size = 0;
  /** 1 for a row that exists. */
  alive = new Uint8Array(CHUNK_ROWS);
  /**
   * Missing instants are written so that every comparison gives what null must give: plannedTo and closedAt are
   * Infinity, validTo is NaN.
   */
  columns: Record<Column, Float64Array>;
  #lastSeq = 0;
  #lastRevision = 0;
  #erased = 0;

  constructor(scope: Scope, dimensions: number) {
    this.scope = scope;
    this.dimensions = dimensions;
    this.columns = Object.fromEntries(NUMBERS.map((name) => [name, new Float64Array(CHUNK_ROWS)])) as Record<
      Column,
      Float64Array
    >;
  }

  /** Highest `seq` read so far. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Whether so much was erased that reading the scope anew is better. */
  get worn(): boolean {
    return this.#erased > 1000 && this.#erased > this.size * MOST_ERASED;
  }

  /** Bytes held, roughly. */
  get bytes(): number {
    return this.chunks.length * CHUNK_ROWS * this.dimensions * 4 + this.alive.length * NUMBERS.length * 8;
  }

  /** Slot of a `seq`, or -1; starts looking at `from`. */
  slotOf(seq: number, from = 0): number {
    const seqs = this.columns.seq;
    let low = from;
    let high = this.size - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = seqs[middle] as number;
      if (found === seq) return middle;
      if (found < seq) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** Cosine of a unit vector (in double precision, which spares converting it for every row) and a row's. */
  cosine(slot: number, query: Float64Array): number {
    const chunk = this.chunks[(slot / CHUNK_ROWS) | 0] as Float32Array;
    const length = query.length;
    const whole = length - (length % 8);
    let at = (slot % CHUNK_ROWS) * this.dimensions;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let e = 0;
    let f = 0;
    let g = 0;
    let h = 0;
    let i = 0;
    for (; i < whole; i += 8, at += 8) {
      a += (query[i] as number) * (chunk[at] as number);
      b += (query[i + 1] as number) * (chunk[at + 1] as number);
      c += (query[i + 2] as number) * (chunk[at + 2] as number);
      d += (query[i + 3] as number) * (chunk[at + 3] as number);
      e += (query[i + 4] as number) * (chunk[at + 4] as number);
      f += (query[i + 5] as number) * (chunk[at + 5] as number);
      g += (query[i + 6] as number) * (chunk[at + 6] as number);
      h += (query[i + 7] as number) * (chunk[at + 7] as number);
    }
    for (; i < length; i++, at++) a += (query[i] as number) * (chunk[at] as number);
    return a + b + (c + d) + (e + f + (g + h));
  }

  /** Reads what this copy lacks: appended rows with their vectors, rows changed since, rows erased since. */
  changes(): Statement[] {
    const { scope } = this;
    return [
      {
        sql: `${SELECT_ROWS} JOIN vectors USING (seq) WHERE scope = ? AND seq > ? ORDER BY seq LIMIT ${PAGE_ROWS}`.replace(
          '/*vector*/',
          ', vector',
        ),
        args: [scope, this.#lastSeq],
      },
      {
        sql: `${SELECT_ROWS} WHERE scope = ? AND revision > ? AND +seq <= ?`,
        args: [scope, this.#lastRevision, this.#lastSeq],
      },
      { sql: 'SELECT seq FROM tombstones WHERE scope = ? AND revision > ?', args: [scope, this.#lastRevision] },
    ];
  }

  /** Takes the answers to `changes`, read at this revision of the store; false where more rows wait. */
  apply([appended, changed, erased]: ResultSet[], revision: number): boolean {
    for (const row of changed?.rows ?? []) {
      const fixed = JSON.parse(textOf(row, 'fixed')) as FixedColumns;
      const slot = this.slotOf(fixed[0]);
      if (slot >= 0) this.#write(slot, fixed, numberOf(row, 'confidence'), numberOf(row, 'feedback_sum'));
    }
    for (const row of appended?.rows ?? []) {
      const slot = this.#append(row.vector as ArrayBuffer);
      const fixed = JSON.parse(textOf(row, 'fixed')) as FixedColumns;
      this.#write(slot, fixed, numberOf(row, 'confidence'), numberOf(row, 'feedback_sum'));
      this.#lastSeq = fixed[0];
    }
    for (const row of erased?.rows ?? []) {
      const slot = this.slotOf(numberOf(row, 'seq'));
      if (slot < 0 || !this.alive[slot]) continue;
      this.alive[slot] = 0;
      this.ids[slot] = '';
      const place = (slot % CHUNK_ROWS) * this.dimensions;
      this.chunks[(slot / CHUNK_ROWS) | 0]?.fill(0, place, place + this.dimensions);
      this.#erased++;
    }
    this.#lastRevision = revision;
    this.loaded = (appended?.rows.length ?? 0) < PAGE_ROWS;
    return this.loaded;
  }

  #append(bytes: ArrayBuffer): number {
    const slot = this.size++;
    if (slot === this.alive.length) this.#grow();
    const place = slot % CHUNK_ROWS;
    if (place === 0) this.chunks.push(new Float32Array(CHUNK_ROWS * this.dimensions));
    this.chunks.at(-1)?.set(new Float32Array(bytes), place * this.dimensions);
    this.alive[slot] = 1;
    return slot;
  }

  #write(slot: number, fixed: FixedColumns, confidence: number, feedbackSum: number): void {
    const { columns } = this;
    const [seq, revision, createdAt, validFrom, plannedTo, validTo, closedAt, freshAt, count, closed] = fixed;
    columns.seq[slot] = seq;
    columns.revision[slot] = revision;
    columns.createdAt[slot] = createdAt;
    columns.validFrom[slot] = validFrom;
    columns.plannedTo[slot] = plannedTo ?? Number.POSITIVE_INFINITY;
    columns.validTo[slot] = validTo ?? Number.NaN;
    columns.closedAt[slot] = closedAt ?? Number.POSITIVE_INFINITY;
    columns.freshAt[slot] = freshAt;
    columns.feedbackCount[slot] = count;
    columns.closed[slot] = closed;
    columns.confidence[slot] = confidence;
    columns.feedbackSum[slot] = feedbackSum;
    this.ids[slot] = fixed[10];
    columns.kind[slot] = this.kinds.code(fixed[11]);
    columns.topic[slot] = this.topics.code(fixed[12]);
    columns.tags[slot] = this.tagLists.code(fixed[13]);
  }

  #grow(): void {
    const capacity = Math.ceil((this.alive.length * 1.25) / CHUNK_ROWS) * CHUNK_ROWS;
    const alive = new Uint8Array(capacity);
    alive.set(this.alive);
    this.alive = alive;
    for (const name of NUMBERS) {
      const column = new Float64Array(capacity);
      column.set(this.columns[name]);
      this.columns[name] = column;
    }
  }
}

type FixedColumns = [
  seq: number,
  revision: number,
  createdAt: number,
  validFrom: number,
  plannedTo: number | null,
  validTo: number | null,
  closedAt: number | null,
  freshAt: number,
  feedbackCount: number,
  closed: number,
  id: string,
  kind: string,
  topic: string,
  tags: string,
];
/** JSON for what it carries exactly; numbers with a fraction come as columns. */
const SELECT_ROWS = `SELECT json_array(seq, revision, created_at, valid_from, planned_to, valid_to, closed_at, fresh_at,
  feedback_count, closed_as IS NOT NULL, id, kind, topic, tags || '') AS fixed, confidence, feedback_sum /*vector*/ FROM memories`;
