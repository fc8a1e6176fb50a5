import type { ResultSet } from '@libsql/client/sqlite3';
import { FIELDS, lengthFactors, postingScore, termWeight } from '../bm25.ts';
import type { Scope } from '../memory.ts';
import { numberOf, type Statement, textOf } from './embedded-database.ts';

/** The lexical branch: posting lists of one scope in typed arrays, and BM25 over them. */

/** Postings kept for the next question, per row of the scope; a list in use may go beyond it. */
const KEPT_PER_ROW = 8;
const KEPT_AT_LEAST = 65_536;

/** The rows of a scope as slots of arrays, in order of `seq`. */
export interface Slots {
  readonly scope: Scope;
  readonly size: number;
  readonly alive: Uint8Array;
  readonly lastSeq: number;
  /** The slot of a row from `from` on; negative where it is not here. */
  slotOf(seq: number, from?: number): number;
}

/** Where a term stands, in order of `seq`; each posting packs tf, length byte and field into one number. */
class PostingList {
  slots = new Int32Array(0);
  packed = new Int32Array(0);
  size = 0;
  /** Every posting up to this `seq` is in the list. */
  upTo = 0;

  append(rows: Slots, seqs: readonly number[], packed: readonly number[]): void {
    if (this.size + seqs.length > this.slots.length) {
      const room = this.size === 0 ? seqs.length : Math.ceil((this.size + seqs.length) * 1.25);
      this.slots = resized(this.slots, room);
      this.packed = resized(this.packed, room);
    }
    let from = 0;
    for (let i = 0; i < seqs.length; i++) {
      const slot = rows.slotOf(seqs[i] as number, from);
      if (slot < 0) continue;
      from = slot;
      this.slots[this.size] = slot;
      this.packed[this.size++] = packed[i] as number;
    }
    this.upTo = rows.lastSeq;
  }
}

function resized(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(array);
  return larger;
}

export class PostingLists {
  readonly #rows: Slots;
  readonly #lists = new Map<string, PostingList>();
  #kept = 0;
  #sums = new Float64Array(0);

  constructor(rows: Slots) {
    this.#rows = rows;
  }

  /** Reads the postings of these terms that are not here yet. */
  changes(terms: readonly string[]): Statement {
    const wanted = terms.map((term) => [term, this.#lists.get(term)?.upTo ?? 0]);
    return { sql: SELECT_POSTINGS, args: { wanted: JSON.stringify(wanted), scope: this.#rows.scope } };
  }

  /** Takes the answer to `changes`. */
  apply(answer: ResultSet | undefined): void {
    for (const row of answer?.rows ?? []) {
      const term = textOf(row, 'term');
      const list = this.#lists.get(term) ?? new PostingList();
      this.#kept -= list.size;
      list.append(
        this.#rows,
        JSON.parse(textOf(row, 'seqs')) as number[],
        JSON.parse(textOf(row, 'packed')) as number[],
      );
      this.#kept += list.size;
      this.#lists.delete(term);
      this.#lists.set(term, list);
    }
  }

  /** BM25 of every slot as a sum in double precision; 0 where no term stands. Valid until it is called again. */
  scores(terms: ReadonlyMap<string, number>, statistics: Statistics): Float64Array {
    if (this.#sums.length < this.#rows.size) this.#sums = new Float64Array(this.#rows.alive.length);
    const sums = this.#sums.fill(0);
    for (const [term, repeats] of terms) {
      const list = this.#lists.get(term);
      if (!list || list.size === 0) continue;
      const weights = FIELDS.map((_, field) =>
        termWeight(repeats, statistics.documents(field), statistics.documentsWith(term, field)),
      );
      const { slots, packed, size } = list;
      for (let i = 0; i < size; i++) {
        const posting = packed[i] as number;
        const field = posting & 3;
        const factor = (statistics.factors[field] as Float32Array)[(posting >>> 2) & 255] as number;
        const slot = slots[i] as number;
        sums[slot] = (sums[slot] as number) + postingScore(weights[field] as number, posting >>> 10, factor);
      }
    }
    return sums;
  }

  /** Drops the lists used longest ago beyond the bound. */
  evict(): void {
    const most = Math.max(KEPT_AT_LEAST, KEPT_PER_ROW * this.#rows.size);
    for (const [term, list] of this.#lists) {
      if (this.#kept <= most) return;
      this.#lists.delete(term);
      this.#kept -= list.size;
    }
  }
}

const OWN_POSTINGS = `FROM postings WHERE owner = (SELECT owner FROM owners WHERE scope = :scope)
  AND term = wanted.value ->> 0 AND seq > wanted.value ->> 1`;
const SELECT_POSTINGS = `SELECT wanted.value ->> 0 AS term, (SELECT json_group_array(seq) ${OWN_POSTINGS}) AS seqs,
  (SELECT json_group_array((tf * 256 + norm) * 4 + field) ${OWN_POSTINGS}) AS packed FROM json_each(:wanted) AS wanted`;

/** BM25's numbers over the whole store, for the terms of one question. */
export class Statistics {
  static statements(terms: readonly string[]): Statement[] {
    return [
      { sql: 'SELECT field, documents, tokens FROM field_statistics', args: [] },
      {
        sql: 'SELECT term, field, documents FROM term_statistics WHERE term IN (SELECT value FROM json_each(?))',
        args: [JSON.stringify(terms)],
      },
    ];
  }

  readonly #documents = FIELDS.map(() => 0);
  readonly #documentsWith = new Map<string, number>();
  /** For each field, what a term frequency is multiplied by, for each length byte. */
  readonly factors: Float32Array[] = FIELDS.map(() => new Float32Array(256));

  constructor(fields: ResultSet | undefined, terms: ResultSet | undefined) {
    for (const row of fields?.rows ?? []) {
      const field = numberOf(row, 'field');
      const documents = numberOf(row, 'documents');
      this.#documents[field] = documents;
      if (documents > 0) this.factors[field] = lengthFactors({ documents, tokens: numberOf(row, 'tokens') });
    }
    for (const row of terms?.rows ?? []) {
      this.#documentsWith.set(`${numberOf(row, 'field')}${textOf(row, 'term')}`, numberOf(row, 'documents'));
    }
  }

  documents(field: number): number {
    return this.#documents[field] ?? 0;
  }

  documentsWith(term: string, field: number): number {
    return this.#documentsWith.get(`${field}${term}`) ?? 0;
  }
}
