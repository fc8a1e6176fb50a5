import type { InValue, Row } from '@libsql/client/sqlite3';
import { CLOSINGS, KINDS, type Kind, type MemoryRow, type Scope, SHARED } from '../memory.ts';
import type { AuditEntry, Stored } from '../store.ts';
import { damaged, numberOf, numberOrNull, textOf, textOrNull } from './embedded-database.ts';

/** Rows of the tables to rows of the core and back: snake_case columns, lists as JSON. */

/** Columns written once. */
const FIXED = {
  scope: 'scope',
  id: 'id',
  kind: 'kind',
  topic: 'topic',
  title: 'title',
  content: 'content',
  tags: 'tags',
  createdAt: 'created_at',
  validFrom: 'valid_from',
  plannedTo: 'planned_to',
  textKey: 'text_key',
  similarTo: 'similar_to',
} as const satisfies Partial<Record<keyof MemoryRow, string>>;

/** Columns an update replaces. */
const CHANGING = {
  validTo: 'valid_to',
  closedAt: 'closed_at',
  closedAs: 'closed_as',
  closedReason: 'closed_reason',
  supersedes: 'supersedes',
  supersededBy: 'superseded_by',
  denies: 'denies',
  deniedBy: 'denied_by',
  deniedAt: 'denied_at',
  reopens: 'reopens',
  reopenedBy: 'reopened_by',
  reopenedAt: 'reopened_at',
  derivedFrom: 'derived_from',
  confidence: 'confidence',
  feedbackSum: 'feedback_sum',
  feedbackCount: 'feedback_count',
  freshAt: 'fresh_at',
  confirmedAt: 'confirmed_at',
  changedMind: 'changed_mind',
  reviewedAt: 'reviewed_at',
  changedAt: 'changed_at',
  heardAt: 'heard_at',
  changes: 'changes',
} as const satisfies Record<Exclude<keyof MemoryRow, keyof typeof FIXED>, string>;

const ALL = { ...FIXED, ...CHANGING };
const valuesOf = (row: MemoryRow, columns: Partial<Record<keyof MemoryRow, string>>): InValue[] =>
  (Object.keys(columns) as (keyof MemoryRow)[]).map((field) => {
    const value = row[field];
    return Array.isArray(value) ? JSON.stringify(value) : value;
  });

const ONE_ROW = `(${Object.keys(ALL).fill('?').join(', ')}, (SELECT revision FROM counter) + ?)`;
/** For each row takes `insertValues`, then how far its revision lies above the counter. */
export const insertRows = (count: number): string => `INSERT INTO memories (${Object.values(ALL).join(', ')}, revision)
  VALUES ${Array.from({ length: count }, () => ONE_ROW).join(', ')}`;
export const insertValues = (row: MemoryRow): InValue[] => valuesOf(row, ALL);

/** Takes `updateValues`, how far the revision lies above the counter, then scope and id. */
export const UPDATE_ROW = `UPDATE memories SET ${Object.values(CHANGING)
  .map((column) => `${column} = ?`)
  .join(', ')}, revision = (SELECT revision FROM counter) + ? WHERE scope = ? AND id = ?`;
export const updateValues = (row: MemoryRow): InValue[] => valuesOf(row, CHANGING);

export const ROW_COLUMNS = `${Object.values(ALL)
  .map((column) => `memories.${column}`)
  .join(', ')}, memories.revision, memories.seq`;

export function readStored(row: Row): Stored {
  return { row: readRow(row), version: String(numberOf(row, 'revision')) };
}

export function readRow(row: Row): MemoryRow {
  return {
    id: textOf(row, 'id'),
    scope: scopeOf(textOf(row, 'scope')),
    kind: kindOf(textOf(row, 'kind')),
    topic: textOf(row, 'topic'),
    title: textOrNull(row, 'title'),
    content: textOf(row, 'content'),
    tags: listOf(row, 'tags'),
    createdAt: numberOf(row, 'created_at'),
    validFrom: numberOf(row, 'valid_from'),
    plannedTo: numberOrNull(row, 'planned_to'),
    validTo: numberOrNull(row, 'valid_to'),
    closedAt: numberOrNull(row, 'closed_at'),
    closedAs: closedAsOf(textOrNull(row, 'closed_as')),
    closedReason: textOrNull(row, 'closed_reason'),
    supersedes: listOf(row, 'supersedes'),
    supersededBy: textOrNull(row, 'superseded_by'),
    denies: listOf(row, 'denies'),
    deniedBy: textOrNull(row, 'denied_by'),
    deniedAt: numberOrNull(row, 'denied_at'),
    reopens: textOrNull(row, 'reopens'),
    reopenedBy: textOrNull(row, 'reopened_by'),
    reopenedAt: numberOrNull(row, 'reopened_at'),
    derivedFrom: listOf(row, 'derived_from'),
    confidence: numberOf(row, 'confidence'),
    feedbackSum: numberOf(row, 'feedback_sum'),
    feedbackCount: numberOf(row, 'feedback_count'),
    freshAt: numberOf(row, 'fresh_at'),
    confirmedAt: numberOrNull(row, 'confirmed_at'),
    textKey: textOf(row, 'text_key'),
    similarTo: listOf(row, 'similar_to'),
    changedMind: numberOf(row, 'changed_mind') === 1,
    reviewedAt: numberOrNull(row, 'reviewed_at'),
    changedAt: numberOf(row, 'changed_at'),
    heardAt: numberOrNull(row, 'heard_at'),
    changes: numberOf(row, 'changes'),
  };
}

export const AUDIT_COLUMNS = ['id', 'at', 'actor', 'verb', 'memory', 'before', 'after', 'source', 'detail'];

export const auditValues = (entry: AuditEntry): (string | number | null)[] => [
  entry.id,
  entry.at,
  entry.actor,
  entry.verb,
  entry.memory,
  jsonOrNull(entry.before),
  jsonOrNull(entry.after),
  entry.source,
  jsonOrNull(entry.detail),
];

export const readAudit = (row: Row): AuditEntry => ({
  id: textOf(row, 'id'),
  at: numberOf(row, 'at'),
  actor: textOf(row, 'actor'),
  verb: textOf(row, 'verb'),
  memory: textOf(row, 'memory'),
  before: parsed<MemoryRow>(row, 'before'),
  after: parsed<MemoryRow>(row, 'after'),
  source: textOf(row, 'source'),
  detail: parsed<NonNullable<AuditEntry['detail']>>(row, 'detail'),
});

const jsonOrNull = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

/** What this store wrote itself, as JSON. */
function parsed<T>(row: Row, column: string): T | null {
  const text = textOrNull(row, column);
  return text === null ? null : (JSON.parse(text) as T);
}

const listOf = (row: Row, column: string): string[] => JSON.parse(textOf(row, column)) as string[];

export function scopeOf(value: string): Scope {
  if (value === SHARED || value.startsWith('user:')) return value as Scope;
  throw damaged(`${value} is not a scope`);
}

function kindOf(value: string): Kind {
  const kind = KINDS.find((known) => known === value);
  if (!kind) throw damaged(`${value} is not a kind`);
  return kind;
}

function closedAsOf(value: string | null): MemoryRow['closedAs'] {
  if (value === null) return null;
  const closing = CLOSINGS.find((known) => known === value);
  if (closing) return closing;
  throw damaged(`${value} is not a way to close`);
}
