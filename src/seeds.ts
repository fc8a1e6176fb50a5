import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Issue, SupersededError, VersionConflict } from './errors.ts';
import * as field from './fields.ts';
import { type MemoryRow, newRow, passageOf, type Scope, SHARED } from './memory.ts';
import { saysTheSame } from './remember.ts';
import type { MemoryStore } from './store.ts';
import { issuesOf, refuse } from './validation.ts';
import { type Actor, entryOf } from './verb.ts';

/** Seed files: memories dated by age, and questions with the current and the stale answer. */

const scope = z
  .string()
  .regex(/^(shared|user:[A-Za-z0-9._@-]{1,64})$/, 'is not a scope: use shared or user:<id>')
  .transform((value) => value as Scope);

const seedMemory = z.strictObject({
  id: field.id,
  title: field.title,
  content: field.text(field.LIMITS.content, 1),
  tags: field.tags.default([]),
  kind: field.kind,
  topic: field.topic,
  scope,
  ageDays: z.number().min(0, 'lies in the future: must be 0 or more').max(365_000, 'is more than a thousand years'),
});
export type SeedMemory = z.output<typeof seedMemory>;

const question = z.strictObject({
  id: z.string().min(1, 'is empty'),
  question: field.text(field.LIMITS.query, 1),
  current: z.union([field.id, z.array(field.id).min(1, 'is empty')]),
  stale: field.id.nullish().transform((value) => value ?? null),
  scope: scope.default('user:demo'),
  kinds: z.array(field.kind).default([]),
  topics: z.array(field.topic).default([]),
});
export type Question = z.output<typeof question>;

export function readMemories(file: string): SeedMemory[] {
  const memories = readList(file, seedMemory);
  const issues = duplicates(memories, (memory) => `${memory.scope} ${memory.id}`);
  if (issues.length > 0) throw malformed(file, issues);
  return memories;
}

export function readQuestions(file: string, memories: readonly SeedMemory[]): Question[] {
  const questions = readList(file, question);
  const issues = duplicates(questions, ({ id }) => id);
  for (const [index, { scope: own, current, stale }] of questions.entries()) {
    const readable = new Set(memories.filter((m) => m.scope === own || m.scope === SHARED).map(({ id }) => id));
    for (const id of [current, stale ?? []].flat()) {
      if (!readable.has(id))
        issues.push({ path: `${index}`, message: `names ${id}, which is no memory of ${own} or shared` });
    }
  }
  if (issues.length > 0) throw malformed(file, issues);
  return questions;
}

function readList<T extends z.ZodType>(file: string, item: T): z.output<T>[] {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const why = cause instanceof SyntaxError ? `is not JSON: ${cause.message}` : 'cannot be read';
    throw new SupersededError('INVALID_INPUT', `The file ${file} ${why}.`, {
      cause,
      hint: 'Check the path and the file.',
    });
  }
  const list = z.array(z.unknown()).safeParse(json);
  if (!list.success) throw malformed(file, [{ path: '', message: 'is not a list' }]);
  const results = list.data.map((entry) => item.safeParse(entry, { reportInput: true }));
  const issues = results.flatMap((result, index) =>
    result.success
      ? []
      : issuesOf(result.error).map(({ path, message }) => ({ path: path ? `${index}.${path}` : `${index}`, message })),
  );
  if (issues.length > 0) throw malformed(file, issues);
  return results.flatMap((result) => (result.success ? [result.data] : []));
}

function duplicates<T>(items: readonly T[], keyOf: (item: T) => string): Issue[] {
  const first = new Map<string, number>();
  return items.flatMap((item, index) => {
    const earlier = first.get(keyOf(item));
    if (earlier === undefined) first.set(keyOf(item), index);
    return earlier === undefined ? [] : [{ path: `${index}.id`, message: `is that of entry ${earlier} too` }];
  });
}

function malformed(file: string, issues: Issue[]): SupersededError {
  const list = issues.map(({ path, message }) => `  [${path}] ${message}`).join('\n');
  const count = issues.length === 1 ? '1 problem' : `${issues.length} problems`;
  return new SupersededError(
    'INVALID_INPUT',
    `The file ${file} has ${count} (by index, nothing was written):\n${list}`,
    {
      issues,
    },
  );
}

export const seedRow = ({ ageDays, ...said }: SeedMemory, now: number): MemoryRow =>
  newRow(said, Math.round(now - ageDays * 86_400_000));

/**
 * Writes seed memories of all scopes in one commit; those already stored with the same words are left as they are.
 * Throws CONFLICT, naming every id, where an id is taken by other words; then nothing is written.
 */
export async function seed(
  store: MemoryStore,
  actor: Omit<Actor, 'store'>,
  memories: readonly SeedMemory[],
  onProgress?: (done: number, total: number) => void,
): Promise<Seeded> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await seedOnce(store, actor, memories, onProgress);
    } catch (error) {
      if (!(error instanceof VersionConflict) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Another process may seed at the same time. */
const ATTEMPTS = 5;

export interface Seeded {
  stored: number;
  unchanged: number;
  /** Ids that were erased here and stay so. */
  erased: string[];
}

async function seedOnce(
  store: MemoryStore,
  actor: Omit<Actor, 'store'>,
  memories: readonly SeedMemory[],
  onProgress?: (done: number, total: number) => void,
): Promise<Seeded> {
  const now = actor.clock();
  const oldest = now - Math.max(0, ...memories.map(({ ageDays }) => ageDays)) * 86_400_000;
  if (new Date(oldest).getUTCFullYear() < 0)
    refuse('now', 'is too early: the oldest memory would lie before the year 0');
  const taken: Issue[] = [];
  const missing: SeedMemory[] = [];
  const erased: string[] = [];
  for (const own of new Set(memories.map((memory) => memory.scope))) {
    const wanted = memories.filter((memory) => memory.scope === own);
    const found = await store.for(own).get(wanted.map(({ id }) => id));
    const gone = new Set((await store.for(own).tombstones(wanted.map(({ id }) => id))).map(({ id }) => id));
    const rows = new Map(found.filter(({ row }) => row.scope === own).map(({ row }) => [row.id, row]));
    for (const memory of wanted) {
      const row = rows.get(memory.id);
      if (gone.has(memory.id)) erased.push(memory.id);
      else if (!row) missing.push(memory);
      else if (!saysTheSame(row, memory))
        taken.push({ path: memory.id, message: 'is taken by other words in the store' });
    }
  }
  if (taken.length > 0) {
    const ids = taken.map(({ path }) => path).join(', ');
    throw new SupersededError('CONFLICT', `These ids are taken by memories that say something else: ${ids}.`, {
      hint: 'Nothing was written. Seed another database with --db, or change the ids.',
      issues: taken,
    });
  }
  if (missing.length > 0) {
    const options = onProgress ? { onProgress } : {};
    const vectors = await actor.embedder?.embedPassages(missing.map(passageOf), options);
    const insert = missing.map((memory, index) => ({ row: seedRow(memory, now), vector: vectors?.[index] ?? null }));
    const audit = insert.map(({ row }) =>
      entryOf({ ...actor, store: store.for(row.scope) }, 'seed', row.createdAt, null, row),
    );
    await store.load({ insert, audit });
  }
  return { stored: missing.length, unchanged: memories.length - missing.length - erased.length, erased };
}
