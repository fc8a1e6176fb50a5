import { SupersededError } from '../errors.ts';
import { type Clocks, iso, type MemoryRow, type Scope, statusOf } from '../memory.ts';
import type { Filter, NearestQuery } from '../store.ts';
import type { Query } from './elasticsearch-search.ts';

/** The conditions of look-ups, as Query DSL and, for rows that changed since the last refresh, as functions. */

export const exists = (field: string): Query => ({ exists: { field } });
export const upTo = (field: string, instant: number): Query => ({ range: { [field]: { lte: iso(instant) } } });
const not = (condition: Query): Query => ({ bool: { must_not: condition } });
const all = (...filter: Query[]): Query => ({ bool: { filter } });
export const any = (...should: Query[]): Query => ({ bool: { should, minimum_should_match: 1 } });

/** `statusOf` neither open nor upcoming. */
const ended = ({ asOf, knownAt }: Clocks): Query =>
  any(
    upTo('planned_to', asOf),
    all(exists('closed_as'), upTo('closed_at', knownAt), any(upTo('valid_to', asOf), { term: { never_valid: true } })),
  );

/** Tombstones have no created_at. */
const memoriesOf = (scope: Scope): Query[] => [{ term: { scope } }, exists('created_at')];

export function filterQuery(scope: Scope, filter: Filter): Query {
  const { textKey, derivedFrom, denies, kind, topic, tag, status = 'all', clocks } = filter;
  const terms = { text_key: textKey, derived_from: derivedFrom, denies, kind, topic, 'tags.exact': tag };
  const conditions = memoriesOf(scope);
  for (const [field, value] of Object.entries(terms)) {
    if (value !== undefined) conditions.push({ term: { [field]: value } });
  }
  if (clocks) conditions.push(upTo('created_at', clocks.knownAt));
  if (status === 'closed') conditions.push(ended(needed(clocks)));
  if (status === 'open') conditions.push(not(ended(needed(clocks))));
  return all(...conditions);
}

/** Whether the filter asks for a link or a text key, which plans for writing rest on. */
export const isLinking = ({ textKey, derivedFrom, denies }: Filter): boolean =>
  (textKey ?? derivedFrom ?? denies) !== undefined;

/** Own rows that a commit is about to change, into what the filter asks for maybe. */
export const claimedQuery = (scope: Scope): Query => all(...memoriesOf(scope), exists('claim'));

/** Whether a row, as it is now, still has all that was searched for. */
export function matches(row: MemoryRow, filter: Filter): boolean {
  const { textKey, derivedFrom, denies, kind, topic, tag, status = 'all', clocks } = filter;
  const same = <T>(wanted: T | undefined, value: T) => wanted === undefined || value === wanted;
  const among = (wanted: string | undefined, values: readonly string[]) =>
    wanted === undefined || values.includes(wanted);
  if (!same(textKey, row.textKey) || !same(kind, row.kind) || !same(topic, row.topic)) return false;
  if (!among(derivedFrom, row.derivedFrom) || !among(denies, row.denies) || !among(tag, row.tags)) return false;
  if (clocks && row.createdAt > clocks.knownAt) return false;
  if (status === 'all') return true;
  const now = statusOf(row, needed(clocks));
  return (now === 'open' || now === 'upcoming') === (status === 'open');
}

function needed(clocks: Clocks | undefined): Clocks {
  if (clocks) return clocks;
  throw new SupersededError('STORE_FAILED', 'A look-up by status needs the clocks it is read at.');
}

/** Own rows not closed and not expired: what a new memory may repeat or replace. */
export const openQuery = (scope: Scope, { asOf, knownAt }: NearestQuery): Query =>
  all(...memoriesOf(scope), upTo('created_at', knownAt), not(exists('closed_at')), not(upTo('planned_to', asOf)));

export const isOpen = (row: MemoryRow, { asOf, knownAt }: NearestQuery): boolean =>
  row.closedAt === null && row.createdAt <= knownAt && (row.plannedTo === null || row.plannedTo > asOf);
