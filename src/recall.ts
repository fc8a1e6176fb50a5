import { z } from 'zod';
import { type AgingTable, PRESET_NAMES, PRESETS, type Preset } from './aging.ts';
import * as field from './fields.ts';
import { type Clocks, iso, type Memory, type MemoryRow, statusOf, toMemory } from './memory.ts';
import { ageWeightOf, MOST_CANDIDATES, type Parts, trustOf } from './score.ts';
import type { Ranked, Ranking } from './store.ts';
import { check, invalid } from './validation.ts';
import { type Actor, linkedBy } from './verb.ts';

/** The verb that answers a question with what is true, or was true, or was known. */

export const DEFAULT_LIMIT = 8;

const anyOf = <T extends z.ZodType>(item: T) => z.array(item).max(50, 'are more than 50: send fewer').default([]);

export const recallInput = z.strictObject({
  query: field.text(field.LIMITS.query, 1),
  limit: field.limit(DEFAULT_LIMIT),
  asOf: field.instant.optional(),
  knownAt: field.instant.optional(),
  includeHistory: z.boolean().default(false),
  kinds: anyOf(field.kind),
  topics: anyOf(field.topic),
  tags: anyOf(field.text(field.LIMITS.tag, 1)),
  strict: z.boolean().default(false),
  explain: z.boolean().default(false),
  preset: z.enum(PRESET_NAMES, { error: `is not a preset: use ${PRESET_NAMES.join(', ')}` }).default('default'),
  now: field.instant.optional(),
});
export type RecallRequest = z.output<typeof recallInput>;

export interface Hit {
  memory: Memory;
  score: number;
  parts?: Parts;
  /** Since when it holds and what it replaced (strict), or why it is history. */
  note?: string;
}

export interface Recalled {
  hits: Hit[];
  now: string;
  asOf: string;
  knownAt: string;
}

/** The windows of a preset; learned ones take the place of the default table's. */
export type AgingOf = (preset: Preset) => AgingTable | Promise<AgingTable>;

export async function recall(
  actor: Actor,
  input: unknown,
  { aging = (preset) => PRESETS[preset], signal }: { aging?: AgingOf; signal?: AbortSignal } = {},
): Promise<Recalled> {
  const request = check(recallInput, input);
  if (request.strict && request.includeHistory) {
    throw invalid([{ path: 'strict', message: 'and includeHistory exclude each other: send one of them' }]);
  }
  const now = request.now ?? actor.clock();
  const knownAt = request.knownAt ?? now;
  const clocks = { asOf: request.asOf ?? knownAt, knownAt };
  const limit = request.includeHistory ? MOST_CANDIDATES : request.limit;
  const windows = Promise.resolve(aging(request.preset));
  const ranking = await rank(actor, { ...request, ...clocks, limit, aging: windows, signal });
  const table = await windows;
  const rows = new Map([...ranking.linked, ...ranking.ranked.map(({ row }) => row)].map((row) => [keyOf(row), row]));
  const ordered = request.includeHistory
    ? await withSuccessors(actor, ranking, rows, clocks, { limit: request.limit, aging: table })
    : ranking.ranked.slice(0, request.limit);
  const shown = ordered.map(({ row }) => row);
  const linked = await linkedBy(actor, shown, clocks.knownAt, [...rows.values()]);
  return {
    hits: ordered.map((ranked) => toHit(ranked, request, clocks, rows, linked)),
    now: iso(now),
    asOf: iso(clocks.asOf),
    knownAt: iso(clocks.knownAt),
  };
}

type RankRequest = Pick<RecallRequest, 'query' | 'includeHistory' | 'kinds' | 'topics' | 'tags' | 'strict'> &
  Clocks & { limit: number; aging: AgingTable | Promise<AgingTable>; signal?: AbortSignal | undefined };

/** Embeds the question where the core embeds, while the windows may still be on their way, and lets the store rank. */
export async function rank(actor: Actor, request: RankRequest): Promise<Ranking> {
  const { query, signal, ...rest } = request;
  const options = signal ? { signal } : {};
  const embedded = actor.embedder === null ? null : actor.embedder.embedQuery(query, options);
  const [vector, aging] = await Promise.all([embedded, rest.aging]);
  const calibration = { lo: actor.model.lo, hi: actor.model.hi };
  return actor.store.rank({ ...rest, text: query, vector, calibration, aging, ...options });
}

const keyOf = (row: Pick<MemoryRow, 'scope' | 'id'>): string => `${row.scope} ${row.id}`;

/**
 * Puts before each ended memory the whole line of its successors, adding those that are missing, and cuts at `limit`:
 * where there is no room for both, the ended memory goes.
 */
async function withSuccessors(
  actor: Actor,
  ranking: Ranking,
  rows: Map<string, MemoryRow>,
  clocks: Clocks,
  { limit, aging }: { limit: number; aging: AgingTable },
): Promise<Ranked[]> {
  const scores = new Map(ranking.ranked.map((ranked) => [keyOf(ranked.row), ranked]));
  const placed = new Set<string>();
  const result: Ranked[] = [];
  for (const ranked of ranking.ranked) {
    if (result.length >= limit) break;
    const line = await successorsOf(actor, ranked.row, rows, clocks);
    const group = [...line.reverse().map((row) => scores.get(keyOf(row)) ?? unscored(row, aging, clocks.asOf)), ranked];
    const missing = group.filter(({ row }) => !placed.has(keyOf(row)));
    for (const item of missing) placed.add(keyOf(item.row));
    result.push(...missing.slice(0, limit - result.length));
  }
  return result;
}

/** Successors that are not still to come, nearest first; none while the row still holds or was not superseded. */
async function successorsOf(
  actor: Actor,
  row: MemoryRow,
  rows: Map<string, MemoryRow>,
  clocks: Clocks,
): Promise<MemoryRow[]> {
  const line: MemoryRow[] = [];
  const seen = new Set([row.id]);
  for (let current = row; statusOf(current, clocks) === 'superseded'; ) {
    const next = current.supersededBy;
    if (next === null || seen.has(next)) break;
    seen.add(next);
    const key = keyOf({ scope: current.scope, id: next });
    const found = rows.get(key) ?? (await actor.store.get([next])).find((s) => s.row.scope === current.scope)?.row;
    if (!found) break;
    rows.set(key, found);
    if (statusOf(found, clocks) !== 'upcoming') line.push(found);
    current = found;
  }
  return line;
}

/** A successor that no branch found: its relevance is 0. */
const unscored = (row: MemoryRow, aging: AgingTable, asOf: number): Ranked => ({
  row,
  score: 0,
  lexical: 0,
  semantic: 0,
  relevance: 0,
  ageWeight: ageWeightOf(aging, row.topic, row.freshAt, asOf),
  trust: trustOf(row),
});

function toHit(
  ranked: Ranked,
  request: RecallRequest,
  clocks: Clocks,
  rows: Map<string, MemoryRow>,
  linked: (id: string) => boolean,
): Hit {
  const { row, score, lexical, semantic, relevance, ageWeight, trust } = ranked;
  const memory = toMemory(row, clocks, linked);
  const note = request.strict ? provenance(memory, rows, row) : endingOf(memory);
  return {
    memory,
    score,
    ...(request.explain ? { parts: { lexical, semantic, relevance, ageWeight, trust } } : {}),
    ...(note === null ? {} : { note }),
  };
}

const day = (instant: string): string => instant.slice(0, 10);

/** Since when a memory holds and what it replaced. */
function provenance(memory: Memory, rows: Map<string, MemoryRow>, row: MemoryRow): string {
  const since = `Holds since ${day(memory.validFrom)}`;
  const confirmed = memory.confirmedAt === null ? '' : `, confirmed ${day(memory.confirmedAt)}`;
  if (memory.supersedes.length === 0) return `${since}${confirmed}.`;
  const names = memory.supersedes.map((id) => {
    const old = rows.get(keyOf({ scope: row.scope, id }));
    return old ? `“${old.title ?? excerpt(old.content)}” (${id})` : id;
  });
  return `${since}${confirmed}; replaced ${names.join(', ')}.`;
}

const excerpt = (content: string): string => (content.length <= 60 ? content : `${content.slice(0, 59).trimEnd()}…`);

/** Why a memory is history; null while it holds. */
function endingOf(memory: Memory): string | null {
  const until = memory.validTo === null ? '' : ` on ${day(memory.validTo)}`;
  if (memory.status === 'superseded') {
    return `Superseded${memory.supersededBy === null ? '' : ` by ${memory.supersededBy}`}${until}.`;
  }
  if (memory.status === 'retired') return `Retired${until}${memory.closedReason ? `: ${memory.closedReason}` : ''}.`;
  if (memory.status === 'denied') return `Denied: never true${memory.closedReason ? ` (${memory.closedReason})` : ''}.`;
  return memory.status === 'expired' ? `Expired${until}.` : null;
}
