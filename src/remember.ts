import { z } from 'zod';
import { type Admission, admissionOf } from './admission.ts';
import { SupersededError } from './errors.ts';
import * as field from './fields.ts';
import { mindChanged, refuseEarlier, supersededRow, targets } from './lifecycle.ts';
import { everything } from './list.ts';
import { iso, type MemoryRow, newRow, statusOf, textKeyOf } from './memory.ts';
import { secretIn } from './secrets.ts';
import { type Similar, similarTo } from './similar.ts';
import type { Stored } from './store.ts';
import { confirm, deniedRow } from './trust.ts';
import { check, invalid } from './validation.ts';
import { type Actor, entryOf, heardAt, instantOf, mustBeOpen, notFound, ownRows, transact, vectorOf } from './verb.ts';

/** The verb that writes a new memory, closing or doubting what it replaces in the same commit. */

export const rememberInput = z.strictObject({
  content: field.text(field.LIMITS.content, 1),
  title: field.title,
  kind: field.kind.default('episodic'),
  topic: field.topic.default('general'),
  tags: field.tags.default([]),
  supersedes: targets.optional(),
  denies: targets.optional(),
  validFrom: field.instant.optional(),
  validTo: field.instant.optional(),
  confidence: field.confidence.optional(),
  derivedFrom: targets.optional(),
  id: field.id.optional(),
  allowSecret: z.boolean().default(false),
  recordedAt: field.instant.optional(),
});
type Request = z.output<typeof rememberInput>;

/** How often a memory said again is looked for, where others close it at the same time. */
const CONFIRMATIONS = 5;

/** Of a memory that denies another, unless given: either side may turn out right. */
const DENIAL_CONFIDENCE = 0.5;

export interface Remembered {
  row: MemoryRow;
  /** False where nothing new was written: the same was said again, or the id was already stored with the same text. */
  stored: boolean;
  reason?: 'confirmed' | 'unchanged' | 'held';
  superseded: string[];
  similar: Similar[];
  /** Where the admission gate is on: the score and its parts. */
  admission?: Admission;
}

export async function remember(actor: Actor, input: unknown): Promise<Remembered> {
  const request = check(rememberInput, input, 'The memory');
  refuseContradictions(request);
  if (!request.allowSecret) refuseSecrets(request);
  return inTurn(`${actor.store.scope} ${textKeyOf(request)}`, () => rememberChecked(actor, request));
}

async function rememberChecked(actor: Actor, request: Request): Promise<Remembered> {
  const known = await alreadyStored(actor, request);
  if (known) return known;
  for (let attempt = 0; attempt < CONFIRMATIONS; attempt++) {
    const repeated = await saidBefore(actor, request);
    if (!repeated) break;
    const row = await confirmed(actor, repeated.row.id, request.recordedAt);
    if (row) return { row, stored: false, reason: 'confirmed', superseded: [], similar: [] };
  }
  const vector = await vectorOf(actor, request);
  return transact(actor, async () => {
    const again = await alreadyStored(actor, request);
    if (again) return { changes: null, result: again };
    const olds = await ownRows(actor, request.supersedes ?? []);
    const denied = await ownRows(actor, request.denies ?? []);
    const sources = await readable(actor, request.derivedFrom ?? []);
    const concerned = [...olds, ...denied].map(({ row }) => row);
    await mustBeOpen(actor, concerned);
    const at = instantOf(actor, request.recordedAt, concerned);
    const plain = rowOf(actor, request, at, olds);
    for (const old of olds) refuseEarlier('validFrom', plain, old.row);
    const similar = await similarTo(actor, plain, vector, plain.supersedes);
    const { row, ...gate } = admitted(actor, { ...plain, similarTo: similar.map(({ id }) => id) }, concerned, similar);
    const closed = olds.map((old) => ({
      ...old,
      row: supersededRow(old.row, row, at, mindChanged(actor, old.row, row)),
    }));
    const doubted = denied.map((old) => ({ ...old, row: deniedRow(old.row, row.id, at) }));
    const audit = [
      entryOf(actor, 'remember', at, null, row),
      ...olds.map((old, index) => entryOf(actor, 'supersede', at, old.row, closed[index]?.row ?? null)),
      ...denied.map((old, index) => entryOf(actor, 'deny', at, old.row, doubted[index]?.row ?? null)),
    ];
    const changed = new Set([...olds, ...denied].map((old) => old.row.id));
    const guard = sources.filter((source) => !changed.has(source.row.id));
    const changes = { insert: [{ row, vector }], update: [...closed, ...doubted], guard, audit };
    const result: Remembered = { row, stored: true, superseded: row.supersedes, similar, ...gate };
    return { changes, result };
  });
}

/** The row, or where the gate is on and it deserves less, the row held back: closed at birth, to be looked at. */
function admitted(
  actor: Actor,
  row: MemoryRow,
  concerned: readonly MemoryRow[],
  similar: readonly Similar[],
): { row: MemoryRow } & Pick<Remembered, 'reason' | 'admission'> {
  if (actor.admission === null || concerned.length > 0) return { row };
  const admission = admissionOf(row, similar[0]?.similarity ?? 0, row.createdAt);
  if (admission.score >= actor.admission) return { row, admission };
  const closedReason = `held back for review: admission ${admission.score.toFixed(2)} is below ${actor.admission}`;
  const end = { closedAt: row.createdAt, closedAs: 'held' as const, closedReason, validTo: row.validFrom };
  return { row: { ...row, ...end }, reason: 'held', admission };
}

function refuseContradictions(request: Request): void {
  const issues: { path: string; message: string }[] = [];
  const { id, validFrom, validTo, recordedAt } = request;
  for (const path of ['supersedes', 'denies', 'derivedFrom'] as const) {
    if (id !== undefined && request[path]?.includes(id))
      issues.push({ path, message: 'holds the memory itself: remove it' });
  }
  for (const both of request.supersedes?.filter((target) => request.denies?.includes(target)) ?? []) {
    issues.push({ path: 'denies', message: `names ${both}, which supersedes names too: keep it in one of them` });
  }
  const from = validFrom ?? recordedAt;
  if (validTo !== undefined && from !== undefined && validTo <= from) {
    issues.push({ path: 'validTo', message: 'is not after validFrom: give a later end, or none' });
  }
  if (issues.length > 0) throw invalid(issues, 'The memory');
}

/** Throws LOOKS_SECRET, naming the field and what it looks like, never the text. */
function refuseSecrets({ content, title, tags }: Pick<Request, 'content' | 'title' | 'tags'>): void {
  for (const [path, value] of Object.entries({ content, title: title ?? '', tags: tags.join('\n') })) {
    const what = secretIn(value);
    if (what === null) continue;
    throw new SupersededError('LOOKS_SECRET', `The ${path} looks like it holds ${what}; nothing was stored.`, {
      hint: 'Leave the secret out, or send allowSecret where it is none.',
      issues: [{ path, message: `looks like it holds ${what}` }],
    });
  }
}

/** The stored memory of a caller's own id, where it says the same; CONFLICT where it says something else or was erased. */
async function alreadyStored(actor: Actor, request: Request): Promise<Remembered | null> {
  if (request.id === undefined) return null;
  const stored = (await actor.store.get([request.id])).find(({ row }) => row.scope === actor.store.scope);
  if (!stored) {
    if ((await actor.store.tombstones([request.id])).length === 0) return null;
    throw new SupersededError('CONFLICT', `The id ${request.id} belonged to a memory that was erased.`, {
      hint: 'Use another id.',
    });
  }
  if (!saysTheSame(stored.row, request)) {
    throw new SupersededError('CONFLICT', `The id ${request.id} is taken by a memory that says something else.`, {
      hint: 'Use another id, and name the old one in supersedes where the new replaces it.',
    });
  }
  return { row: stored.row, stored: false, reason: 'unchanged', superseded: [], similar: [] };
}

/** Whether a memory and a request agree in content, topic, kind, title and tags. */
export const saysTheSame = (
  row: MemoryRow,
  other: Pick<MemoryRow, 'content' | 'topic' | 'kind' | 'title' | 'tags'>,
): boolean =>
  row.content === other.content &&
  row.topic === other.topic &&
  row.kind === other.kind &&
  row.title === other.title &&
  row.tags.length === other.tags.length &&
  row.tags.every((tag, index) => tag === other.tags[index]);

/** The newest open memory with the same text, topic and kind, where the request asks for nothing beyond the text. */
async function saidBefore(actor: Actor, request: Request): Promise<Stored | null> {
  const { id, supersedes, denies, derivedFrom, validFrom, validTo } = request;
  const more = [id, supersedes, denies, derivedFrom, validFrom, validTo].some((value) => value !== undefined);
  if (more) return null;
  const same = await everything(actor, { textKey: textKeyOf(request) });
  const open = ({ row }: Stored) => {
    const at = request.recordedAt ?? Math.max(actor.clock(), row.createdAt);
    return row.closedAt === null && row.createdAt <= at && statusOf(row, { asOf: at, knownAt: at }) === 'open';
  };
  return same.find(open) ?? null;
}

/** The memories it was derived from; the own ones, which could be erased meanwhile, as they were read. */
async function readable(actor: Actor, ids: readonly string[]): Promise<Stored[]> {
  if (ids.length === 0) return [];
  const found = await actor.store.get(ids);
  const known = new Set(found.map(({ row }) => row.id));
  for (const id of ids) if (!known.has(id)) throw notFound(id);
  return found.filter(({ row }) => row.scope === actor.store.scope);
}

/** The confirmed memory; null where it was closed or erased since it was found. */
async function confirmed(actor: Actor, id: string, recordedAt: number | undefined): Promise<MemoryRow | null> {
  try {
    return await confirm(actor, id, recordedAt === undefined ? {} : { recordedAt: iso(recordedAt) });
  } catch (error) {
    if (error instanceof SupersededError && ['CONFLICT', 'ERASED', 'NOT_FOUND'].includes(error.code)) return null;
    throw error;
  }
}

const turns = new Map<string, Promise<unknown>>();

/**
 * One after the other for one text of one user in this process, so that a request sent twice is one memory. Two
 * processes at the same moment may still store two, which the answer's `similar` and the review list show.
 */
async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(key);
  const mine = (before ?? Promise.resolve()).then(work, work);
  turns.set(key, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(key) === mine) turns.delete(key);
  }
}

function rowOf(actor: Actor, request: Request, at: number, olds: readonly Stored[]): MemoryRow {
  const validFrom = request.validFrom ?? Math.max(at, ...olds.map(({ row }) => row.validFrom));
  if (request.validTo !== undefined && request.validTo <= validFrom) {
    throw invalid([{ path: 'validTo', message: 'is not after validFrom: give a later end, or none' }], 'The memory');
  }
  const { kind, topic, title, content, tags } = request;
  const said = { id: request.id ?? actor.newId(at), scope: actor.store.scope, kind, topic, title, content, tags };
  return {
    ...newRow(said, at, validFrom),
    heardAt: heardAt(actor, at, request.derivedFrom),
    plannedTo: request.validTo ?? null,
    supersedes: olds.map(({ row }) => row.id).sort(),
    denies: request.denies ?? [],
    derivedFrom: request.derivedFrom ?? [],
    confidence: request.confidence ?? (request.denies ? DENIAL_CONFIDENCE : 1),
  };
}
