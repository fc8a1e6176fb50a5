import { createHash } from 'node:crypto';

/** The nouns: what a memory is, and how its state is read off at two instants. */

export const KINDS = ['episodic', 'semantic', 'procedural'] as const;
export type Kind = (typeof KINDS)[number];

export const STATUSES = ['open', 'upcoming', 'expired', 'superseded', 'retired', 'denied'] as const;
export type Status = (typeof STATUSES)[number];

export const SHARED = 'shared';
/** `user:<id>` or `shared`: who owns a memory. */
export type Scope = `user:${string}` | typeof SHARED;

export const userScope = (user: string): Scope => `user:${user}`;

/** How a row ended; `held` is a write kept back for review, which never was open. */
export const CLOSINGS = ['superseded', 'retired', 'denied', 'held'] as const;
export type Closing = (typeof CLOSINGS)[number];

/** A memory as it is stored. Instants are UTC milliseconds since 1970; lists are empty rather than null. */
export interface MemoryRow {
  id: string;
  scope: Scope;
  kind: Kind;
  topic: string;
  title: string | null;
  content: string;
  tags: string[];
  /** Recorded: the start of transaction time. */
  createdAt: number;
  /** Became true: the start of valid time. */
  validFrom: number;
  /** The end given at the writing (exclusive). */
  plannedTo: number | null;
  /** Stopped being true (exclusive); set by the one closing, null before it. */
  validTo: number | null;
  /** We learned that it had stopped: the end of transaction time as the open row. */
  closedAt: number | null;
  closedAs: Closing | null;
  closedReason: string | null;
  /** Superseded by a person's different value: an event for the learned windows. */
  changedMind: boolean;
  /** Ids of what this replaced, sorted. */
  supersedes: string[];
  supersededBy: string | null;
  denies: string[];
  deniedBy: string | null;
  deniedAt: number | null;
  reopens: string | null;
  reopenedBy: string | null;
  reopenedAt: number | null;
  derivedFrom: string[];
  /** 0…1. */
  confidence: number;
  /** Sum of all outcomes, each in −1…1; the shown feedback is sum / (count + 1). */
  feedbackSum: number;
  feedbackCount: number;
  /** The later of valid_from, last confirmed, last used with success. Reading never moves it. */
  freshAt: number;
  confirmedAt: number | null;
  /** Hash of the normalised text, topic and kind; equal where the same thing is said again. */
  textKey: string;
  /** Open memories that were nearly the same when this one was written. */
  similarTo: string[];
  /** When a person last looked at it and let it stand. */
  reviewedAt: number | null;
  /** When it was last changed, by the service's instants: no later change is dated before it. */
  changedAt: number;
  /** When a person last spoke of it; null for what the service wrote by itself or what was derived from others. */
  heardAt: number | null;
  /** How often it was changed: the order of its audit entries at one instant. */
  changes: number;
}

/** What is said of a new memory; the rest of its row follows. */
export type Said = Pick<MemoryRow, 'id' | 'scope' | 'kind' | 'topic' | 'title' | 'content' | 'tags'>;

/** The row of a memory that was just recorded and is true from `validFrom` on. */
export const newRow = (said: Said, createdAt: number, validFrom = createdAt): MemoryRow => ({
  ...said,
  createdAt,
  validFrom,
  plannedTo: null,
  validTo: null,
  closedAt: null,
  closedAs: null,
  closedReason: null,
  changedMind: false,
  supersedes: [],
  supersededBy: null,
  denies: [],
  deniedBy: null,
  deniedAt: null,
  reopens: null,
  reopenedBy: null,
  reopenedAt: null,
  derivedFrom: [],
  confidence: 1,
  feedbackSum: 0,
  feedbackCount: 0,
  freshAt: validFrom,
  confirmedAt: null,
  textKey: textKeyOf(said),
  similarTo: [],
  reviewedAt: null,
  changedAt: createdAt,
  heardAt: createdAt,
  changes: 0,
});

/** When a person last spoke of a memory that does not say so itself, as one written before that was noted. */
export const heardOf = ({
  derivedFrom,
  createdAt,
  confirmedAt,
}: Pick<MemoryRow, 'derivedFrom' | 'createdAt' | 'confirmedAt'>): number | null =>
  derivedFrom.length > 0 ? null : Math.max(createdAt, confirmedAt ?? createdAt);

/** A memory as callers see it, with its state at the `asOf` and `knownAt` it was read for. */
export interface Memory {
  id: string;
  kind: Kind;
  topic: string;
  title: string | null;
  content: string;
  tags: string[];
  createdAt: string;
  validFrom: string;
  validTo: string | null;
  plannedTo: string | null;
  closedAt: string | null;
  closedReason: string | null;
  supersedes: string[];
  supersededBy: string | null;
  denies: string[];
  deniedBy: string | null;
  reopens: string | null;
  reopenedBy: string | null;
  derivedFrom: string[];
  confidence: number;
  feedback: number;
  feedbackCount: number;
  freshAt: string;
  confirmedAt: string | null;
  status: Status;
  scope: 'user' | 'shared';
}

/** The two clocks of a reading, in milliseconds: what was true at `asOf`, as known at `knownAt`. */
export interface Clocks {
  asOf: number;
  knownAt: number;
}

/** Average outcome, damped towards 0 by one imaginary neutral one: −1…1, 0 without any. */
export const feedbackOf = (row: Pick<MemoryRow, 'feedbackSum' | 'feedbackCount'>): number =>
  row.feedbackCount === 0 ? 0 : row.feedbackSum / (row.feedbackCount + 1);

/** Whether the row had been recorded and was true at the two clocks: the filter of every recall without history. */
export function holds(row: MemoryRow, { asOf, knownAt }: Clocks): boolean {
  return (
    row.createdAt <= knownAt &&
    row.validFrom <= asOf &&
    (row.plannedTo === null || row.plannedTo > asOf) &&
    (row.closedAt === null || row.closedAt > knownAt || (row.validTo !== null && row.validTo > asOf))
  );
}

/** The state of a row at the two clocks; a closing counts once it was known and its end has come. */
export function statusOf(row: MemoryRow, { asOf, knownAt }: Clocks): Status {
  if (row.closedAs !== null && row.closedAt !== null && row.closedAt <= knownAt && row.validTo !== null) {
    if (row.validTo <= asOf || row.validTo <= row.validFrom) return row.closedAs === 'held' ? 'retired' : row.closedAs;
  }
  if (row.plannedTo !== null && row.plannedTo <= asOf) return 'expired';
  return row.validFrom > asOf ? 'upcoming' : 'open';
}

export const iso = (instant: number): string => new Date(instant).toISOString();
export const isoOrNull = (instant: number | null): string | null => (instant === null ? null : iso(instant));

/**
 * The row as callers see it. Links and closings show as known at `knownAt`; confidence, feedback and freshness as now.
 * `known` decides which entries of `supersedes` had been linked by then (all, unless told).
 */
export function toMemory(row: MemoryRow, clocks: Clocks, known: (id: string) => boolean = () => true): Memory {
  const closed = row.closedAt !== null && row.closedAt <= clocks.knownAt;
  return {
    id: row.id,
    kind: row.kind,
    topic: row.topic,
    title: row.title,
    content: row.content,
    tags: [...row.tags],
    createdAt: iso(row.createdAt),
    validFrom: iso(row.validFrom),
    validTo: isoOrNull(closed ? row.validTo : row.plannedTo),
    plannedTo: isoOrNull(row.plannedTo),
    closedAt: closed ? isoOrNull(row.closedAt) : null,
    closedReason: closed ? row.closedReason : null,
    supersedes: row.supersedes.filter(known),
    supersededBy: closed ? row.supersededBy : null,
    denies: [...row.denies],
    deniedBy: row.deniedAt !== null && row.deniedAt <= clocks.knownAt ? row.deniedBy : null,
    reopens: row.reopens,
    reopenedBy: row.reopenedAt !== null && row.reopenedAt <= clocks.knownAt ? row.reopenedBy : null,
    derivedFrom: [...row.derivedFrom],
    confidence: row.confidence,
    feedback: feedbackOf(row),
    feedbackCount: row.feedbackCount,
    freshAt: iso(row.freshAt),
    confirmedAt: isoOrNull(row.confirmedAt),
    status: statusOf(row, clocks),
    scope: row.scope === SHARED ? 'shared' : 'user',
  };
}

/** The text that is embedded for a memory. */
export const passageOf = (memory: { title?: string | null | undefined; content: string }): string =>
  memory.title ? `${memory.title}\n${memory.content}` : memory.content;

/** A text as it counts when it is said again: NFC, lower-cased, white space collapsed. */
export const normalisedText = (text: string): string =>
  text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();

/** Equal for texts that say the same; topic and kind count too. */
export function textKeyOf(memory: { content: string; topic: string; kind: Kind }): string {
  const text = normalisedText(memory.content);
  return createHash('sha256').update(`${memory.kind}\n${memory.topic}\n${text}`).digest('hex');
}
