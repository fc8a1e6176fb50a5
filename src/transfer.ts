import { z } from 'zod';
import { everything } from './erasure.ts';
import { type Issue, SupersededError } from './errors.ts';
import * as field from './fields.ts';
import {
  CLOSINGS,
  iso,
  KINDS,
  type Memory,
  type MemoryRow,
  passageOf,
  STATUSES,
  textKeyOf,
  toMemory,
} from './memory.ts';
import { saysTheSame } from './remember.ts';
import { issuesOf } from './validation.ts';
import { type Actor, entryOf, transact } from './verb.ts';

/** The verbs that carry memories out of and into a store, as one JSON document a line, with ids, links and instants kept. */

/** A line of an export: the memory, and what the shown form leaves open. */
export type Line = Memory &
  Pick<MemoryRow, 'closedAs' | 'feedbackSum' | 'changedMind' | 'changes' | 'similarTo'> & {
    deniedAt: string | null;
    reopenedAt: string | null;
  };

const END_OF_TIME = Number.MAX_SAFE_INTEGER;

/** All own memories, oldest first. */
export async function exportLines(actor: Actor): Promise<Line[]> {
  const now = actor.clock();
  return (await everything(actor)).reverse().map(({ row }) => ({
    ...toMemory(row, { asOf: now, knownAt: END_OF_TIME }),
    status: toMemory(row, { asOf: Math.max(now, row.createdAt), knownAt: Math.max(now, row.createdAt) }).status,
    closedAs: row.closedAs,
    feedbackSum: row.feedbackSum,
    changedMind: row.changedMind,
    changes: row.changes,
    similarTo: row.similarTo,
    reviewedAt: row.reviewedAt === null ? null : iso(row.reviewedAt),
    deniedAt: row.deniedAt === null ? null : iso(row.deniedAt),
    reopenedAt: row.reopenedAt === null ? null : iso(row.reopenedAt),
  }));
}

const instantOrNull = field.instant.nullish().transform((value) => value ?? null);
const idOrNull = field.id.nullish().transform((value) => value ?? null);
const ids = z.array(field.id).default([]);

const importedLine = z
  .strictObject({
    id: field.id,
    kind: z.enum(KINDS),
    topic: field.topic,
    title: field
      .text(field.LIMITS.title)
      .nullish()
      .transform((value) => value || null),
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
    feedbackCount: z.int().min(0).default(0),
    freshAt: instantOrNull,
    confirmedAt: instantOrNull,
    status: z.enum(STATUSES).optional(),
    scope: z.literal('user', { error: 'is not user: only own memories can be imported' }).default('user'),
    closedAs: z.enum(CLOSINGS).nullish(),
    feedbackSum: z.number().optional(),
    changedMind: z.boolean().default(false),
    changes: z.int().min(0).default(0),
    similarTo: ids,
    reviewedAt: instantOrNull,
    deniedAt: instantOrNull,
    reopenedAt: instantOrNull,
  })
  .superRefine((line, context) => {
    const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (line.closedAt !== null && line.validTo === null) wrong('validTo', 'is missing: a closed memory has an end');
    if (line.closedAt !== null && line.closedAt < line.createdAt) wrong('closedAt', 'is before createdAt');
    if (line.validTo !== null && line.validTo < line.validFrom) wrong('validTo', 'is before validFrom');
    if (line.supersededBy !== null && line.closedAt === null)
      wrong('closedAt', 'is missing: a superseded memory is closed');
    if (line.plannedTo !== null && line.plannedTo <= line.validFrom) wrong('plannedTo', 'is not after validFrom');
  });
type ImportedLine = z.output<typeof importedLine>;

export interface Imported {
  imported: number;
  unchanged: number;
  /** Ids that the store holds with other words; left as they are. */
  collisions: { id: string; line: number }[];
  /** Ids that were erased here and stay so. */
  erased: string[];
}

/** Checks the whole file, then writes all of it that is new in one commit. INVALID_INPUT names every bad line. */
export async function importLines(
  actor: Actor,
  ndjson: string,
  onProgress?: (done: number, total: number) => void,
): Promise<Imported> {
  const rows = parseLines(actor, ndjson);
  await refuseDangling(actor, rows);
  return transact(actor, async () => {
    const wanted = [...rows.keys()];
    const found = await inPages(wanted, (page) => actor.store.get(page));
    const stored = new Map(found.filter(({ row }) => row.scope === actor.store.scope).map(({ row }) => [row.id, row]));
    const erased = new Set((await inPages(wanted, (page) => actor.store.tombstones(page))).map(({ id }) => id));
    const fresh = [...rows.values()].filter(({ row }) => !stored.has(row.id) && !erased.has(row.id));
    const collisions = [...rows.values()].flatMap(({ row, line }) => {
      const other = stored.get(row.id);
      return other && !saysTheSame(other, row) ? [{ id: row.id, line }] : [];
    });
    const options = onProgress ? { onProgress } : {};
    const vectors = await actor.embedder?.embedPassages(
      fresh.map(({ row }) => passageOf(row)),
      options,
    );
    const insert = fresh.map(({ row }, index) => ({ row, vector: vectors?.[index] ?? null }));
    const at = actor.clock();
    const audit = fresh.map(({ row }) => entryOf(actor, 'import', Math.max(at, row.createdAt), null, row));
    const unchanged = rows.size - fresh.length - collisions.length - erased.size;
    const result = { imported: fresh.length, unchanged, collisions, erased: [...erased] };
    return { changes: fresh.length === 0 ? null : { insert, audit }, result };
  });
}

type Numbered = { row: MemoryRow; line: number };

function parseLines(actor: Actor, ndjson: string): Map<string, Numbered> {
  const rows = new Map<string, Numbered>();
  const issues: Issue[] = [];
  const wrong = (line: number, message: string) => issues.push({ path: `line ${line}`, message });
  for (const [index, text] of ndjson.split('\n').entries()) {
    if (text.trim() === '') continue;
    const line = index + 1;
    const parsed = importedLine.safeParse(jsonOf(text));
    if (!parsed.success) {
      for (const issue of issuesOf(parsed.error)) wrong(line, `${issue.path} ${issue.message}`.trim());
      continue;
    }
    const { id, createdAt, closedAt } = parsed.data;
    const earlier = rows.get(id);
    if (earlier) wrong(line, `id ${id} is that of line ${earlier.line} too`);
    if (createdAt > actor.clock()) wrong(line, 'createdAt lies in the future');
    if (closedAt !== null && closedAt > actor.clock()) wrong(line, 'closedAt lies in the future');
    rows.set(id, { row: rowOf(actor, parsed.data), line });
  }
  if (issues.length > 0) throw invalidFile(issues);
  return rows;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return 'not JSON';
  }
}

const invalidFile = (issues: Issue[]): SupersededError => {
  const list = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new SupersededError('INVALID_INPUT', `The import is not valid; nothing was written. ${list}.`, { issues });
};

const linksOf = (row: MemoryRow): string[] =>
  [
    ...row.supersedes,
    ...row.denies,
    ...row.derivedFrom,
    row.supersededBy,
    row.deniedBy,
    row.reopens,
    row.reopenedBy,
  ].filter((id) => id !== null);

/** Every link leads to a line of the file, to a memory of the store, or to one that was erased here. */
async function refuseDangling(actor: Actor, rows: ReadonlyMap<string, Numbered>): Promise<void> {
  const outside = [...new Set([...rows.values()].flatMap(({ row }) => linksOf(row)))].filter((id) => !rows.has(id));
  const found = await inPages(outside, (page) => actor.store.get(page));
  const gone = await inPages(outside, (page) => actor.store.tombstones(page));
  const known = new Set([...found.map(({ row }) => row.id), ...gone.map(({ id }) => id)]);
  const issues = [...rows.values()].flatMap(({ row, line }) =>
    linksOf(row)
      .filter((id) => !rows.has(id) && !known.has(id))
      .map((id) => ({
        path: `line ${line}`,
        message: `links to ${id}, which is neither in the file nor in the store`,
      })),
  );
  if (issues.length > 0) throw invalidFile(issues);
}

async function inPages<T>(ids: readonly string[], read: (page: string[]) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let start = 0; start < ids.length; start += 500) all.push(...(await read(ids.slice(start, start + 500))));
  return all;
}

function rowOf(actor: Actor, line: ImportedLine): MemoryRow {
  const { status: _, feedback, scope: __, freshAt, closedAs, feedbackSum, ...memory } = line;
  const closed = line.closedAt !== null;
  const sum = feedbackSum ?? feedback * (line.feedbackCount + 1);
  return {
    ...memory,
    scope: actor.store.scope,
    validTo: closed ? line.validTo : null,
    plannedTo: closed ? line.plannedTo : (line.plannedTo ?? line.validTo),
    closedAs: closed ? (closedAs ?? closingOf(line)) : null,
    deniedAt: line.deniedAt ?? (line.deniedBy === null ? null : line.createdAt),
    reopenedAt: line.reopenedAt ?? (line.reopenedBy === null ? null : line.closedAt),
    feedbackSum: line.feedbackCount === 0 ? 0 : sum,
    freshAt: freshAt ?? line.validFrom,
    textKey: textKeyOf(line),
  };
}

const closingOf = ({ status, supersededBy }: ImportedLine): MemoryRow['closedAs'] =>
  supersededBy !== null || status === 'superseded' ? 'superseded' : status === 'denied' ? 'denied' : 'retired';

/** The bullets of a Markdown or plain-text list, one memory each; lines indented below a bullet belong to it. */
export function bulletsOf(text: string): string[] {
  const bullets: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const bullet = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*\S)\s*$/.exec(line)?.[1];
    if (bullet) bullets.push(bullet);
    else if (/^\s+\S/.test(line) && bullets.length > 0) bullets.push(`${bullets.pop()} ${line.trim()}`);
  }
  return bullets;
}
