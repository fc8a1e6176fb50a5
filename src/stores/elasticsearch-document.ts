import { z } from 'zod';
import { SupersededError } from '../errors.ts';
import { CLOSINGS, feedbackOf, iso, isoOrNull, KINDS, type MemoryRow, passageOf, type Scope } from '../memory.ts';

/** Memories as documents and back. Instants are ISO texts with milliseconds; absent and null mean the same. */

export interface DocumentRef {
  scope: Scope;
  id: string;
}

export const isId = (text: string): boolean => /^[A-Za-z0-9._:-]{1,128}$/.test(text);

/**
 * `<scope>|<id>`, at most 200 bytes of the 512 allowed. An id has no `|` (refused here, whoever made it), so the last
 * one parts the two, and no two memories share a document.
 */
export function documentIdOf({ scope, id }: DocumentRef): string {
  if (!isId(id)) {
    throw new SupersededError('INVALID_INPUT', `${JSON.stringify(id)} is not an id.`, {
      hint: 'Use 1 to 128 of the characters A–Z a–z 0–9 . _ : -',
    });
  }
  return `${scope}|${id}`;
}

/** Since when a change would have been seen, `Life.startedAt`; null where it was announced before it began. */
export function watchedFrom({ validFrom, validTo, createdAt }: MemoryRow): number | null {
  if (validFrom > createdAt) return null;
  return validTo !== null && validTo <= createdAt ? validFrom : createdAt;
}

/** What an update replaces; all else is written once. */
export const changingFields = (row: MemoryRow) => ({
  valid_to: isoOrNull(row.validTo),
  never_valid: row.validTo !== null && row.validTo <= row.validFrom,
  watched_from: isoOrNull(watchedFrom(row)),
  closed_at: isoOrNull(row.closedAt),
  closed_as: row.closedAs,
  closed_reason: row.closedReason,
  supersedes: row.supersedes,
  superseded_by: row.supersededBy,
  denies: row.denies,
  denied_by: row.deniedBy,
  denied_at: isoOrNull(row.deniedAt),
  reopens: row.reopens,
  reopened_by: row.reopenedBy,
  reopened_at: isoOrNull(row.reopenedAt),
  derived_from: row.derivedFrom,
  confidence: row.confidence,
  feedback: feedbackOf(row),
  feedback_sum: row.feedbackSum,
  feedback_count: row.feedbackCount,
  fresh_at: iso(row.freshAt),
  confirmed_at: isoOrNull(row.confirmedAt),
  changed_mind: row.changedMind,
  reviewed_at: isoOrNull(row.reviewedAt),
  changed_at: iso(row.changedAt),
  heard_at: isoOrNull(row.heardAt),
  changes: row.changes,
});

/** A row as fields, and nothing else; `rowOf` reads it back. */
export const rowFields = (row: MemoryRow) => ({
  id: row.id,
  scope: row.scope,
  kind: row.kind,
  topic: row.topic,
  title: row.title,
  content: row.content,
  tags: row.tags,
  created_at: iso(row.createdAt),
  valid_from: iso(row.validFrom),
  planned_to: isoOrNull(row.plannedTo),
  text_key: row.textKey,
  similar_to: row.similarTo,
  ...changingFields(row),
});

/** The whole document of a new row; without a vector, the database embeds the passage. */
export const documentOf = (row: MemoryRow, vector: Float32Array | null, writtenBy: string, batch: string | null) => ({
  ...rowFields(row),
  ...(vector === null ? { passage: passageOf(row) } : { vector: Array.from(vector) }),
  written_by: writtenBy,
  batch,
});

/**
 * What takes the place of an erased memory: nothing that was said, and no field that a search asks for. It keeps the
 * document's id, so that making the memory again meets a conflict.
 */
export const tombstoneOf = (ref: DocumentRef, at: string, writtenBy: string) => ({
  id: ref.id,
  scope: ref.scope,
  erased_at: at,
  written_by: writtenBy,
});

/** When the memory of this document was erased; null where it is a memory. */
export const erasedAt = (document: unknown): number | null => read(erasure, document, 'memory').erased_at;

const instant = z.string().transform((value, context) => {
  const parsed = Date.parse(value);
  if (!Number.isNaN(parsed)) return parsed;
  context.addIssue({ code: 'custom', message: 'is no instant' });
  return z.NEVER;
});
const orNull = <T extends z.ZodType>(type: T) =>
  type.nullish().transform((value): z.output<T> | null => (value as z.output<T> | undefined) ?? null);
const strings = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);

const source = z.object({
  id: z.string(),
  scope: z.string().transform((value) => value as Scope),
  kind: z.enum(KINDS),
  topic: z.string(),
  title: orNull(z.string()),
  content: z.string(),
  tags: strings,
  text_key: z.string(),
  created_at: instant,
  valid_from: instant,
  planned_to: orNull(instant),
  valid_to: orNull(instant),
  closed_at: orNull(instant),
  closed_as: orNull(z.enum(CLOSINGS)),
  closed_reason: orNull(z.string()),
  supersedes: strings,
  superseded_by: orNull(z.string()),
  denies: strings,
  denied_by: orNull(z.string()),
  denied_at: orNull(instant),
  reopens: orNull(z.string()),
  reopened_by: orNull(z.string()),
  reopened_at: orNull(instant),
  derived_from: strings,
  confidence: z.number(),
  feedback_sum: z.number(),
  feedback_count: z.number(),
  fresh_at: instant,
  confirmed_at: orNull(instant),
  changed_mind: z.boolean(),
  similar_to: strings,
  reviewed_at: orNull(instant),
  changed_at: instant,
  heard_at: orNull(instant),
  changes: z.number(),
});

/** What a commit leaves on a document beside the row. */
const marks = z.object({
  written_by: orNull(z.string()),
  batch: orNull(z.string()),
  claim: orNull(z.string()),
});
export type Marks = z.output<typeof marks>;

const erasure = z.object({ erased_at: orNull(instant) });

/** Throws STORE_FAILED, naming the fields, for what does not have this form. */
export function read<T>(schema: z.ZodType<T>, document: unknown, what: string): T {
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
  throw new SupersededError('STORE_FAILED', `A stored ${what} cannot be read: ${fields}.`, {
    hint: 'Something else wrote to the index, or a newer version did. Run `superseded doctor`.',
  });
}

export const marksOf = (document: unknown): Marks => read(marks, document, 'memory');

export function rowOf(document: unknown): MemoryRow {
  const fields = read(source, document, 'memory');
  return {
    id: fields.id,
    scope: fields.scope,
    kind: fields.kind,
    topic: fields.topic,
    title: fields.title,
    content: fields.content,
    tags: fields.tags,
    createdAt: fields.created_at,
    validFrom: fields.valid_from,
    plannedTo: fields.planned_to,
    validTo: fields.valid_to,
    closedAt: fields.closed_at,
    closedAs: fields.closed_as,
    closedReason: fields.closed_reason,
    supersedes: fields.supersedes,
    supersededBy: fields.superseded_by,
    denies: fields.denies,
    deniedBy: fields.denied_by,
    deniedAt: fields.denied_at,
    reopens: fields.reopens,
    reopenedBy: fields.reopened_by,
    reopenedAt: fields.reopened_at,
    derivedFrom: fields.derived_from,
    confidence: fields.confidence,
    feedbackSum: fields.feedback_sum,
    feedbackCount: fields.feedback_count,
    freshAt: fields.fresh_at,
    confirmedAt: fields.confirmed_at,
    textKey: fields.text_key,
    changedMind: fields.changed_mind,
    similarTo: fields.similar_to,
    reviewedAt: fields.reviewed_at,
    changedAt: fields.changed_at,
    heardAt: fields.heard_at,
    changes: fields.changes,
  };
}
