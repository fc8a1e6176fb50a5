import { tokenize } from './analyzer.ts';
import type { MemoryRow } from './memory.ts';

/**
 * Lucene's BM25 with Elasticsearch's settings, in the same 32-bit steps, so that a score here is a score there.
 * A question is a `match` on each of the fields; a row's score is the sum over all fields and terms.
 */

/** Searched fields; a posting names one by its position here. */
export const FIELDS = ['title', 'content', 'tags'] as const;

const f32 = Math.fround;
const K1 = f32(1.2);
const B = f32(0.75);

/** What one term does in one field of one row. */
export interface Posting {
  term: string;
  /** Position in FIELDS. */
  field: number;
  /** How often the term stands in the field. */
  tf: number;
  /** The field's length in tokens, as Lucene's one byte. */
  norm: number;
}

export interface Indexed {
  postings: Posting[];
  /** Tokens of each field. */
  lengths: number[];
}

/** Numbers over the whole store that a score depends on. */
export interface FieldStatistics {
  /** Rows with at least one token in the field. */
  documents: number;
  /** Tokens of the field over all rows. */
  tokens: number;
}

/** Splits a row's text into postings; the tags count as one text. */
export function indexRow(row: Pick<MemoryRow, 'title' | 'content' | 'tags'>): Indexed {
  const texts = [row.title === null ? [] : [row.title], [row.content], row.tags];
  const postings: Posting[] = [];
  const lengths: number[] = [];
  texts.forEach((values, field) => {
    const tokens = values.flatMap(tokenize);
    const norm = encodeLength(tokens.length);
    lengths.push(tokens.length);
    for (const [term, tf] of countTerms(tokens)) postings.push({ term, field, tf, norm });
  });
  return { postings, lengths };
}

/** How often each term stands in a list, in order of first appearance. */
export function countTerms(tokens: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}

/** Lengths up to this are kept exactly, plus the four significant bits that start here. */
const FREE_VALUES = 24;

/** Lucene's SmallFloat.intToByte4: exact to 40, then four significant bits. */
export function encodeLength(length: number): number {
  if (length < FREE_VALUES) return length;
  const rest = length - FREE_VALUES;
  const bits = 32 - Math.clz32(rest);
  if (bits < 4) return FREE_VALUES + rest;
  const shift = bits - 4;
  return FREE_VALUES + (((rest >>> shift) & 0x07) | ((shift + 1) << 3));
}

/** The length a byte of `encodeLength` stands for. */
export function decodeLength(byte: number): number {
  if (byte < FREE_VALUES) return byte;
  const rest = byte - FREE_VALUES;
  const shift = (rest >>> 3) - 1;
  return FREE_VALUES + (shift < 0 ? rest & 0x07 : ((rest & 0x07) | 0x08) * 2 ** shift);
}

const DECODED = Float32Array.from({ length: 256 }, (_, byte) => decodeLength(byte));

/** For every length byte of a field, the factor that a term frequency is multiplied by. */
export function lengthFactors({ documents, tokens }: FieldStatistics): Float32Array {
  const average = f32(tokens / documents);
  return DECODED.map((length) => f32(1 / f32(K1 * f32(f32(1 - B) + f32(f32(B * length) / average)))));
}

/** A term's weight in a field: how often the question has it, by how rare it is among the field's documents. */
export function termWeight(repeats: number, documents: number, documentsWithTerm: number): number {
  const idf = f32(Math.log(1 + (documents - documentsWithTerm + 0.5) / (documentsWithTerm + 0.5)));
  return f32(f32(f32(repeats) * f32(1 + K1)) * idf);
}

/** What one posting adds to its row; the sum is made in double precision and rounded to 32 bits once, at the end. */
export const postingScore = (weight: number, tf: number, lengthFactor: number): number =>
  f32(weight - f32(weight / f32(1 + f32(tf * lengthFactor))));
