import type { Elastic } from './elasticsearch-client.ts';
import { failureOf, refusal } from './elasticsearch-errors.ts';

/** How a write becomes visible to searches: at the next refresh, which is waited for; by a refresh of its own; or later. */
export type Refresh = 'wait_for' | true | false;

/** What the parts of the driver share. */
export interface Backend {
  elastic: Elastic;
  /** Alias of the memories. */
  index: string;
  /** Alias of audit entries and transactions. */
  log: string;
  /** The machine's clock, in milliseconds: it ages leases, and nothing else. */
  clock: () => number;
  refresh: Refresh;
}

/** Where a document stood when it was read or written; a conditional write names it. */
export interface DocumentVersion {
  seqNo: number;
  primaryTerm: number;
}

export const printVersion = ({ seqNo, primaryTerm }: DocumentVersion): string => `${seqNo}:${primaryTerm}`;

/** Null for what is no version of a document, such as that of a row another commit has claimed. */
export function parseVersion(version: string): DocumentVersion | null {
  const match = /^(\d+):(\d+)$/.exec(version);
  return match ? { seqNo: Number(match[1]), primaryTerm: Number(match[2]) } : null;
}

/** Waits; for retries, whose pauses grow. */
export const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** A document as `_mget` and `_search` give it. */
export interface Hit {
  _id: string;
  _seq_no?: number | undefined;
  _primary_term?: number | undefined;
  _source?: unknown;
}

export const versionOf = (hit: Hit): DocumentVersion => ({
  seqNo: hit._seq_no ?? -1,
  primaryTerm: hit._primary_term ?? 0,
});

/** A document of an `_mget`, null where there is none; throws where it could not be read. */
export function foundHit(what: string, hit: Hit & { found?: boolean; error?: unknown }): Hit | null {
  if (hit.error !== undefined) throw refusal(what, failureOf(404, hit.error));
  return hit.found ? hit : null;
}
