import { type Backend, type DocumentVersion, pause, type Refresh } from './elasticsearch-backend.ts';
import { coded, type Failure, failureOf, failureOfResponse, isRetryable, isUncertain } from './elasticsearch-errors.ts';

/**
 * Writes many documents: requests of bounded size, every item checked, and only what was not taken sent again.
 * Each item must be safe to repeat (a create with a fixed id, or a write on condition of a version), since the client
 * and this module both repeat requests whose outcome is unknown.
 */

interface Target {
  index: string;
  id: string;
  /** Write only where the document is still at this version. */
  version?: DocumentVersion;
}
export type BulkItem = Target &
  (
    | { action: 'create' | 'index'; document: object }
    /** Replaces the named fields. */
    | { action: 'update'; fields: object }
    | { action: 'delete' }
  );

export interface Outcome {
  item: BulkItem;
  failure: Failure | null;
  /** Of the document as written; null where it failed. */
  version: DocumentVersion | null;
}

export interface BulkOptions {
  what: string;
  refresh: Refresh;
  /** Called before each request after the first. */
  between?: () => Promise<void>;
}

const MOST_BYTES = 5 * 1024 * 1024;
const MOST_ITEMS = 500;
const ATTEMPTS = 5;

/**
 * Outcomes in the order of the items. Throws a coded error where a whole request failed; then the outcome of its
 * items is unknown, and those before it were written.
 */
export async function bulk(backend: Backend, items: Iterable<BulkItem>, options: BulkOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const indices = new Set<string>();
  const flush = async (request: Prepared[], refresh: Refresh) => {
    for (const { item } of request) indices.add(item.index);
    outcomes.push(...(await send(backend, request, { ...options, refresh })));
  };
  let waiting: Prepared[] | null = null;
  let several = false;
  for (const request of requestsOf(items)) {
    if (waiting) {
      several = true;
      await flush(waiting, false);
      await options.between?.();
    }
    waiting = request;
  }
  if (waiting) await flush(waiting, several ? false : options.refresh);
  // The last of several requests need not touch every index, so its refresh would not show all.
  if (several && options.refresh !== false) {
    await backend.elastic.call(options.what, (client, call) => client.indices.refresh({ index: [...indices] }, call));
  }
  return outcomes;
}

interface Prepared {
  item: BulkItem;
  lines: string[];
}

function* requestsOf(items: Iterable<BulkItem>): Generator<Prepared[]> {
  let request: Prepared[] = [];
  let bytes = 0;
  for (const item of items) {
    const lines = linesOf(item);
    const size = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    if (request.length > 0 && (request.length >= MOST_ITEMS || bytes + size > MOST_BYTES)) {
      yield request;
      request = [];
      bytes = 0;
    }
    request.push({ item, lines });
    bytes += size;
  }
  if (request.length > 0) yield request;
}

function linesOf(item: BulkItem): string[] {
  const { version, index, id } = item;
  const condition = version ? { if_seq_no: version.seqNo, if_primary_term: version.primaryTerm } : {};
  // An alias is demanded: where setup never ran, Elasticsearch would make an index with a mapping of its own guess.
  const header = JSON.stringify({ [item.action]: { _index: index, _id: id, ...condition, require_alias: true } });
  if (item.action === 'delete') {
    return [JSON.stringify({ delete: { _index: index, _id: id, ...condition } })];
  }
  if (item.action === 'update') return [header, JSON.stringify({ doc: item.fields })];
  return [header, JSON.stringify(item.document)];
}

async function send(backend: Backend, request: Prepared[], { what, refresh }: BulkOptions): Promise<Outcome[]> {
  const done = new Map<Prepared, Outcome>();
  let left = request;
  for (let attempt = 1; left.length > 0; attempt++) {
    if (attempt > 1) await pause(50 * 2 ** attempt * (0.5 + Math.random() / 2));
    const sent = left;
    const last = attempt === ATTEMPTS;
    try {
      const answer = await backend.elastic.attempt((client, call) =>
        client.bulk({ operations: sent.flatMap(({ lines }) => lines), refresh }, call),
      );
      const outcomes = sent.map(({ item }, at) => outcomeOf(item, answer.items[at]));
      sent.forEach((prepared, at) => {
        const outcome = outcomes[at];
        if (outcome) done.set(prepared, outcome);
      });
      left = last ? [] : sent.filter((_, at) => isTemporary(outcomes[at]));
    } catch (error) {
      const failure = failureOfResponse(error);
      if (last || !((failure && isRetryable(failure)) || isUncertain(error))) throw coded(what, error);
    }
  }
  return request.flatMap((prepared) => done.get(prepared) ?? []);
}

const isTemporary = (outcome: Outcome | undefined): boolean => outcome?.failure != null && isRetryable(outcome.failure);

interface AnswerItem {
  status?: number;
  error?: unknown;
  _seq_no?: number | undefined;
  _primary_term?: number | undefined;
}

function outcomeOf(item: BulkItem, answer: Partial<Record<string, AnswerItem>> | undefined): Outcome {
  const told = answer?.[item.action];
  const status = told?.status ?? 500;
  if (told && status < 300) {
    const version = { seqNo: told._seq_no ?? -1, primaryTerm: told._primary_term ?? 0 };
    return { item, failure: null, version };
  }
  return { item, failure: failureOf(status, told?.error), version: null };
}
