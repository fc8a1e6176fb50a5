import { type Issue, SupersededError } from './errors.ts';
import { everything } from './list.ts';
import { iso, type Memory, type MemoryRow, passageOf, toMemory } from './memory.ts';
import { saysTheSame } from './remember.ts';
import type { Stored } from './store.ts';
import { disagreements, importedLine, namesOf, recordedInstants, rowOf, withoutLinksTo } from './transfer-line.ts';
import { issuesOf } from './validation.ts';
import { type Actor, entryOf, transact } from './verb.ts';

/** The verbs that carry memories out of and into a store, as one JSON document a line, with ids, links and instants kept. */

/** A line of an export: the memory, and what the shown form leaves open. */
export type Line = Memory &
  Pick<MemoryRow, 'closedAs' | 'feedbackSum' | 'changedMind' | 'changes' | 'similarTo'> & {
    changedAt: string;
    heardAt: string | null;
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
    changedAt: iso(row.changedAt),
    heardAt: row.heardAt === null ? null : iso(row.heardAt),
    changes: row.changes,
    similarTo: row.similarTo,
    reviewedAt: row.reviewedAt === null ? null : iso(row.reviewedAt),
    deniedAt: row.deniedAt === null ? null : iso(row.deniedAt),
    reopenedAt: row.reopenedAt === null ? null : iso(row.reopenedAt),
  }));
}

export interface Imported {
  imported: number;
  unchanged: number;
  /** Ids that the store holds with other words; left as they are. */
  collisions: { id: string; line: number }[];
  /** Ids that were erased here and stay so. */
  erased: string[];
}

/**
 * Checks the whole file, then writes all of it that is new in one commit. A memory that the store still holds open and
 * the file holds closed is closed as the file says. INVALID_INPUT names the bad lines; then nothing is written.
 */
export async function importLines(
  actor: Actor,
  ndjson: string,
  onProgress?: (done: number, total: number) => void,
): Promise<Imported> {
  const lines = parseLines(actor, ndjson);
  const vectors = await vectorsOf(actor, lines, onProgress);
  return transact(actor, async () => {
    const known = await knownBeside(actor, lines);
    const taken = [...lines.values()].filter(({ row }) => isTaken(row, known.stored.get(row.id)?.row));
    const advanced = advancedRows(lines, known.stored);
    refuseInconsistent(lines, known, advanced);
    const gone = new Set([...known.erased, ...taken.map(({ row }) => row.id)]);
    const kept = [...lines.values()].filter(({ row }) => !gone.has(row.id)).map(({ row }) => withoutLinksTo(row, gone));
    const fresh = kept.filter((row) => !known.stored.has(row.id));
    const named = new Set([...fresh, ...advanced.values()].flatMap(namesOf));
    const at = actor.clock();
    const here = (id: string) => known.stored.get(id);
    const changes = {
      insert: fresh.map((row) => ({ row, vector: vectors?.get(row.id) ?? null })),
      update: [...advanced.values()].map((row) => ({ row, version: here(row.id)?.version ?? '' })),
      guard: [...named].flatMap((id) => (advanced.has(id) ? [] : (here(id) ?? []))),
      audit: [
        ...fresh.map((row) => entryOf(actor, 'import', Math.max(at, row.createdAt), null, row)),
        ...[...advanced.values()].map((row) =>
          entryOf(actor, 'import', Math.max(at, row.changedAt), here(row.id)?.row ?? null, row),
        ),
      ],
    };
    const imported = fresh.length + advanced.size;
    const erased = [...known.erased].filter((id) => lines.has(id));
    const unchanged = lines.size - imported - taken.length - erased.length;
    const collisions = taken.map(({ row, line }) => ({ id: row.id, line }));
    return { changes: imported === 0 ? null : changes, result: { imported, unchanged, collisions, erased } };
  });
}

/** Vectors of the lines that are new, made before anything is planned: that takes long, and a plan may be made anew. */
async function vectorsOf(
  actor: Actor,
  lines: Lines,
  onProgress?: (done: number, total: number) => void,
): Promise<Map<string, Float32Array> | null> {
  if (actor.embedder === null) return null;
  const known = await knownBeside(actor, lines);
  const fresh = [...lines.values()].filter(({ row }) => !known.stored.has(row.id) && !known.erased.has(row.id));
  const passages = fresh.map(({ row }) => passageOf(row));
  const vectors = await actor.embedder.embedPassages(passages, onProgress ? { onProgress } : {});
  return new Map(fresh.flatMap(({ row }, index) => (vectors[index] ? [[row.id, vectors[index]]] : [])));
}

const isTaken = (row: MemoryRow, here: MemoryRow | undefined): boolean => here !== undefined && !saysTheSame(here, row);

/** Rows that the store holds open and the file holds closed, with the closing of the file. */
function advancedRows(lines: Lines, stored: Known['stored']): Map<string, MemoryRow> {
  const advanced = new Map<string, MemoryRow>();
  for (const { row } of lines.values()) {
    const here = stored.get(row.id)?.row;
    if (!here || isTaken(row, here) || here.closedAt !== null || row.closedAt === null) continue;
    const { validTo, closedAt, closedAs, closedReason, supersededBy, changedMind } = row;
    const heardAt = here.heardAt === null ? null : Math.max(here.heardAt, row.heardAt ?? here.heardAt);
    advanced.set(row.id, { ...here, validTo, closedAt, closedAs, closedReason, supersededBy, changedMind, heardAt });
  }
  return advanced;
}

type Numbered = { row: MemoryRow; line: number };
type Lines = ReadonlyMap<string, Numbered>;

function parseLines(actor: Actor, ndjson: string): Lines {
  const rows = new Map<string, Numbered>();
  const issues: Issue[] = [];
  const now = actor.clock();
  for (const [index, text] of ndjson
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (text.trim() === '') continue;
    const line = index + 1;
    const wrong = (message: string) => issues.push({ path: `line ${line}`, message });
    const json = jsonOf(text);
    if (json === undefined) {
      wrong('is not JSON');
      continue;
    }
    const parsed = importedLine.safeParse(json, { reportInput: true });
    if (!parsed.success) {
      for (const issue of issuesOf(parsed.error)) wrong(`${issue.path} ${issue.message}`.trim());
      continue;
    }
    const row = rowOf(actor.store.scope, parsed.data);
    const earlier = rows.get(row.id);
    if (earlier) wrong(`id ${row.id} is that of line ${earlier.line} too`);
    for (const [field, at] of recordedInstants(row)) if (at !== null && at > now) wrong(`${field} lies in the future`);
    if (row.freshAt > Math.max(now, row.validFrom)) wrong('freshAt lies in the future');
    rows.set(row.id, { row, line });
  }
  if (issues.length > 0) throw invalidFile(issues);
  return rows;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MOST_SHOWN = 20;

function invalidFile(issues: Issue[]): SupersededError {
  const shown = issues.slice(0, MOST_SHOWN).map(({ path, message }) => `${path}: ${message}`);
  const more = issues.length > MOST_SHOWN ? [`and ${issues.length - MOST_SHOWN} more`] : [];
  const message = `The import is not valid; nothing was written. ${[...shown, ...more].join('; ')}.`;
  return new SupersededError('INVALID_INPUT', message, { issues: issues.slice(0, 1000) });
}

interface Known {
  /** Own rows of the store that the file holds or names. */
  stored: ReadonlyMap<string, Stored>;
  /** Ids that the file holds or names and that were erased here. */
  erased: ReadonlySet<string>;
  /** Shared ids that the file names. */
  shared: ReadonlySet<string>;
}

async function knownBeside(actor: Actor, lines: Lines): Promise<Known> {
  const ids = [...new Set([...lines.values()].flatMap(({ row }) => [row.id, ...namesOf(row)]))];
  const found = await inPages(ids, (page) => actor.store.get(page));
  const own = found.filter(({ row }) => row.scope === actor.store.scope);
  const erased = await inPages(ids, (page) => actor.store.tombstones(page));
  return {
    stored: new Map(own.map((stored) => [stored.row.id, stored])),
    erased: new Set(erased.map(({ id }) => id)),
    shared: new Set(found.filter(({ row }) => row.scope !== actor.store.scope).map(({ row }) => row.id)),
  };
}

/** Every link leads to a line, to an own memory or to one erased here, and both of its sides agree. */
function refuseInconsistent(
  lines: Lines,
  { stored, erased, shared }: Known,
  advanced: ReadonlyMap<string, MemoryRow>,
): void {
  const issues: Issue[] = [];
  const rowOf = (id: string) => advanced.get(id) ?? stored.get(id)?.row ?? lines.get(id)?.row;
  const circles = inCircles(lines);
  for (const { row, line } of lines.values()) {
    const wrong = (message: string) => issues.push({ path: `line ${line}`, message });
    for (const id of namesOf(row)) {
      const readable = row.derivedFrom.includes(id) && shared.has(id);
      if (!rowOf(id) && !erased.has(id) && !readable) wrong(`links to ${id}, which is neither in the file nor yours`);
    }
    const closing = advanced.get(row.id);
    if (closing?.validTo != null && closing.validTo < closing.validFrom)
      wrong('validTo is before the stored validFrom');
    if (closing?.closedAt != null && closing.closedAt < closing.changedAt)
      wrong('closedAt is before the stored last change');
    if (stored.has(row.id) && !closing) continue;
    // A taken id means another memory here: links to it are dropped, not compared.
    const other = (id: string) =>
      isTaken(lines.get(id)?.row ?? row, stored.get(id)?.row) && lines.has(id) ? undefined : rowOf(id);
    for (const message of disagreements(closing ?? row, other)) wrong(message);
    if (circles.has(row.id)) wrong('is superseded by itself, over other lines');
  }
  if (issues.length > 0) throw invalidFile(issues);
}

/** Ids from which supersession leads back to themselves. */
function inCircles(lines: Lines): Set<string> {
  const done = new Set<string>();
  const circles = new Set<string>();
  for (const start of lines.keys()) {
    const path: string[] = [];
    let next: string | null = start;
    while (next !== null && !done.has(next) && !path.includes(next)) {
      path.push(next);
      next = lines.get(next)?.row.supersededBy ?? null;
    }
    if (next !== null && path.includes(next)) for (const id of path.slice(path.indexOf(next))) circles.add(id);
    for (const id of path) done.add(id);
  }
  return circles;
}

async function inPages<T>(ids: readonly string[], read: (page: string[]) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let start = 0; start < ids.length; start += 500) all.push(...(await read(ids.slice(start, start + 500))));
  return all;
}
