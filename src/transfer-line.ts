import { z } from 'zod';
import * as field from './fields.ts';
import { CLOSINGS, heardOf, KINDS, type MemoryRow, type Scope, STATUSES, textKeyOf } from './memory.ts';

/** One line of an import: how it is checked, alone and beside the others, and the row it becomes. */

const instantOrNull = field.instant.nullish().transform((value) => value ?? null);
const idOrNull = field.id.nullish().transform((value) => value ?? null);
const ids = z.array(field.id).default([]);
/** Far below what a store can count to, so that an imported count can still grow. */
const count = z.int().min(0).max(1_000_000_000).default(0);

export const importedLine = z
  .strictObject({
    id: field.id,
    kind: z.enum(KINDS),
    topic: field.topic,
    title: field.title,
    content: field.text(field.LIMITS.content, 1),
    tags: field.tags.default([]),
    createdAt: field.instant,
    validFrom: field.instant,
    validTo: instantOrNull,
    plannedTo: instantOrNull,
    closedAt: instantOrNull,
    closedReason: field.reason,
    supersedes: ids,
    supersededBy: idOrNull,
    denies: ids,
    deniedBy: idOrNull,
    reopens: idOrNull,
    reopenedBy: idOrNull,
    derivedFrom: ids,
    confidence: field.confidence.default(1),
    feedback: z.number().min(-1).max(1).default(0),
    feedbackCount: count,
    freshAt: instantOrNull,
    confirmedAt: instantOrNull,
    status: z.enum(STATUSES).optional(),
    scope: z.literal('user', { error: 'is not user: only own memories can be imported' }).default('user'),
    closedAs: z.enum(CLOSINGS).nullish(),
    feedbackSum: z.number().optional(),
    changedMind: z.boolean().default(false),
    changedAt: instantOrNull,
    heardAt: field.instant.nullish(),
    changes: count,
    similarTo: ids,
    reviewedAt: instantOrNull,
    deniedAt: instantOrNull,
    reopenedAt: instantOrNull,
  })
  .superRefine((line, context) => {
    const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (Math.abs(line.feedbackSum ?? 0) > line.feedbackCount)
      wrong('feedbackSum', 'is more than feedbackCount outcomes can give');
    if (namesOf(line).includes(line.id)) wrong('id', 'is named in a link of its own');
    if (line.closedAt !== null && line.validTo === null) wrong('validTo', 'is missing: a closed memory has an end');
    if (line.closedAt !== null && line.closedAt < line.createdAt) wrong('closedAt', 'is before createdAt');
    if (line.validTo !== null && line.validTo < line.validFrom) wrong('validTo', 'is before validFrom');
    if (line.supersededBy !== null && line.closedAt === null)
      wrong('closedAt', 'is missing: a superseded memory is closed');
    if (line.heardAt != null && line.heardAt < line.createdAt) wrong('heardAt', 'is before createdAt');
    if (line.changedMind && line.closedAt === null)
      wrong('closedAt', 'is missing: a memory given up for another value is closed');
    if (line.plannedTo !== null && line.plannedTo < line.validFrom) wrong('plannedTo', 'is before validFrom');
  });
export type ImportedLine = z.output<typeof importedLine>;

type Links = Pick<
  MemoryRow,
  'supersedes' | 'supersededBy' | 'denies' | 'deniedBy' | 'reopens' | 'reopenedBy' | 'derivedFrom'
>;

/** Every id that a row names. */
export const namesOf = (row: Links): string[] =>
  [
    ...row.supersedes,
    ...row.denies,
    ...row.derivedFrom,
    row.supersededBy,
    row.deniedBy,
    row.reopens,
    row.reopenedBy,
  ].filter((id) => id !== null);

/** The instants that say when something was recorded; none of them may lie in the future. */
export const recordedInstants = (row: MemoryRow): [string, number | null][] => [
  ['createdAt', row.createdAt],
  ['closedAt', row.closedAt],
  ['confirmedAt', row.confirmedAt],
  ['deniedAt', row.deniedAt],
  ['reopenedAt', row.reopenedAt],
  ['reviewedAt', row.reviewedAt],
  ['changedAt', row.changedAt],
  ['heardAt', row.heardAt],
];

/** What is wrong between a row and the one it names, as sentences; both sides of a link must say the same. */
export function disagreements(row: MemoryRow, other: (id: string) => MemoryRow | undefined): string[] {
  const wrong: string[] = [];
  for (const id of row.supersedes) {
    const old = other(id);
    if (!old) continue;
    if (old.supersededBy !== row.id || old.closedAt === null) wrong.push(`supersedes ${id}, which does not say so`);
    if (old.createdAt > row.createdAt || old.validFrom > row.validFrom)
      wrong.push(`supersedes ${id}, which came later`);
  }
  const next = row.supersededBy === null ? undefined : other(row.supersededBy);
  if (next && !next.supersedes.includes(row.id)) wrong.push(`is superseded by ${next.id}, which does not say so`);
  const copy = row.reopenedBy === null ? undefined : other(row.reopenedBy);
  if (copy && copy.reopens !== row.id) wrong.push(`is reopened by ${copy.id}, which does not say so`);
  const original = row.reopens === null ? undefined : other(row.reopens);
  if (original && original.closedAt === null) wrong.push(`reopens ${original.id}, which is open`);
  return wrong;
}

/** The row without links to ids that are gone. */
export const withoutLinksTo = (row: MemoryRow, gone: ReadonlySet<string>): MemoryRow => {
  const kept = (ids: readonly string[]) => ids.filter((id) => !gone.has(id));
  const keptOne = (id: string | null) => (id !== null && gone.has(id) ? null : id);
  return {
    ...row,
    supersedes: kept(row.supersedes),
    supersededBy: keptOne(row.supersededBy),
    denies: kept(row.denies),
    deniedBy: keptOne(row.deniedBy),
    reopens: keptOne(row.reopens),
    reopenedBy: keptOne(row.reopenedBy),
    derivedFrom: kept(row.derivedFrom),
  };
};

export function rowOf(scope: Scope, line: ImportedLine): MemoryRow {
  const { status: _status, feedback, scope: _scope, freshAt, closedAs, feedbackSum, ...memory } = line;
  const closed = line.closedAt !== null;
  const sum = feedbackSum ?? feedback * (line.feedbackCount + 1);
  return {
    ...memory,
    scope,
    validTo: closed ? line.validTo : null,
    plannedTo: closed ? line.plannedTo : (line.plannedTo ?? line.validTo),
    closedAs: closed ? (closedAs ?? closingOf(line)) : null,
    deniedAt: line.deniedAt ?? (line.deniedBy === null ? null : line.createdAt),
    reopenedAt: line.reopenedAt ?? (line.reopenedBy === null ? null : line.closedAt),
    feedbackSum: line.feedbackCount === 0 ? 0 : sum,
    freshAt: freshAt ?? line.validFrom,
    changedAt: line.changedAt ?? lastKnown(line),
    // Absent in files of other programs, and of versions before it was told.
    heardAt: line.heardAt === undefined ? heardOf(line) : line.heardAt,
    textKey: textKeyOf(line),
  };
}

const lastKnown = ({ createdAt, closedAt, confirmedAt, deniedAt, reopenedAt }: ImportedLine): number =>
  Math.max(...[createdAt, closedAt, confirmedAt, deniedAt, reopenedAt].filter((at) => at !== null));

const closingOf = ({ status, supersededBy }: ImportedLine): MemoryRow['closedAs'] =>
  supersededBy !== null || status === 'superseded' ? 'superseded' : status === 'denied' ? 'denied' : 'retired';
