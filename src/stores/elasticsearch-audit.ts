import { z } from 'zod';
import { SupersededError } from '../errors.ts';
import { iso, type Scope } from '../memory.ts';
import type { AuditEntry, AuditFilter } from '../store.ts';
import type { Backend, Hit } from './elasticsearch-backend.ts';
import type { BulkItem } from './elasticsearch-bulk.ts';
import { documentIdOf, isId, rowFields, rowOf } from './elasticsearch-document.ts';
import { fetchHits, resolve } from './elasticsearch-rows.ts';
import { type Query, search } from './elasticsearch-search.ts';
import { isHiding, readTransactions } from './elasticsearch-transactions.ts';

/** The audit trail: documents of the log index, written with the rows they tell of. */

/** Creates the entry; under a record (`batch`), readers leave it out until the commit is decided. */
export const auditItem = (backend: Backend, scope: Scope, entry: AuditEntry, batch: string | null): BulkItem => ({
  action: 'create',
  index: backend.log,
  id: `audit|${scope}|${entry.id}`,
  document: {
    type: 'audit',
    scope,
    id: entry.id,
    at: iso(entry.at),
    actor: entry.actor,
    verb: entry.verb,
    memory: entry.memory,
    before: entry.before && rowFields(entry.before),
    after: entry.after && rowFields(entry.after),
    source: entry.source,
    detail: entry.detail,
    batch,
  },
});

const rowOrNull = z
  .unknown()
  .optional()
  .transform((value) => (value == null ? null : rowOf(value)));
const entry = z.object({
  id: z.string(),
  at: z.string().transform((value) => Date.parse(value)),
  actor: z.string(),
  verb: z.string(),
  memory: z.string(),
  before: rowOrNull,
  after: rowOrNull,
  source: z.string(),
  detail: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .nullish()
    .transform((value) => value ?? null),
});
const mark = z.object({ batch: z.string().nullish() });

function entryOf(hit: Hit): AuditEntry {
  const parsed = entry.safeParse(hit._source);
  if (parsed.success) return parsed.data;
  throw new SupersededError('STORE_FAILED', 'A stored audit entry cannot be read.', {
    hint: 'Something else wrote to the log index, or a newer version did. Run `superseded doctor`.',
  });
}

/** Own entries, newest first; those of commits that are not decided, or were undone, are left out. */
export async function readAudit(backend: Backend, scope: Scope, filter: AuditFilter): Promise<AuditEntry[]> {
  const conditions: Query[] = [{ term: { type: 'audit' } }, { term: { scope } }];
  if (filter.memory !== undefined) conditions.push({ term: { memory: filter.memory } });
  const entries: AuditEntry[] = [];
  let after = filter.after ? [filter.after.at, filter.after.id] : undefined;
  while (entries.length < filter.limit) {
    const size = filter.limit - entries.length;
    const hits = await search(backend, 'read the audit trail', {
      index: backend.log,
      query: { bool: { filter: conditions } },
      sort: [{ at: 'desc' }, { id: 'desc' }],
      size,
      ...(after ? { search_after: after } : {}),
    });
    const batches = hits.map(({ _source }) => mark.parse(_source).batch ?? null);
    const transactions = await readTransactions(
      backend,
      [...new Set(batches)].filter((batch) => batch !== null),
    );
    const shown = hits.filter((_, at) => !isHiding(transactions.get(batches[at] ?? '')));
    entries.push(...(await withoutErased(backend, scope, shown.map(entryOf))));
    const last = hits.at(-1)?.sort;
    if (hits.length < size || last === undefined) break;
    after = last.map((value) => value as string | number);
  }
  return entries;
}

/**
 * Takes the contents off the entries of erased memories. Erasing takes them out of the log as well; here they are gone
 * from the instant the erasure is decided, whatever is left to write, and whatever the last refresh still shows.
 */
async function withoutErased(backend: Backend, scope: Scope, entries: readonly AuditEntry[]): Promise<AuditEntry[]> {
  const telling = entries.filter(({ before, after, detail }) => before ?? after ?? detail);
  const ids = new Set(telling.map(({ memory }) => memory).filter(isId));
  const hits = await fetchHits(
    backend,
    [...ids].map((id) => documentIdOf({ scope, id })),
  );
  const gone = new Set(hits.map(({ _id }) => _id));
  for (const { document } of (await resolve(backend, hits)).found) gone.delete(document);
  const isGone = ({ memory }: AuditEntry) => isId(memory) && gone.has(documentIdOf({ scope, id: memory }));
  return entries.map((entry) => (isGone(entry) ? { ...entry, before: null, after: null, detail: null } : entry));
}
