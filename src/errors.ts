/** Stable error codes; the HTTP status and the CLI exit code follow from them. */
export type ErrorCode =
  | 'INVALID_INPUT'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'ERASED'
  | 'TOO_LARGE'
  | 'LOOKS_SECRET'
  | 'RATE_LIMITED'
  | 'MODEL_MISMATCH'
  | 'SCHEMA_MISMATCH'
  | 'CONFIGURATION'
  | 'EMBEDDER_FAILED'
  | 'MODEL_FAILED'
  | 'STORE_UNAVAILABLE'
  | 'STORE_FAILED'
  | 'UNSUPPORTED';

/** One thing wrong with an input: the path of the field and what to do about it. */
export interface Issue {
  path: string;
  message: string;
}

export interface ErrorDetails {
  /** What the caller can do next. */
  hint?: string;
  /** Every problem found, not only the first. */
  issues?: Issue[];
  /** With CONFLICT on a closed memory: the id of the open head of its chain, or null. */
  head?: string | null;
  /** Whether message and hint may be told over the network although the fault is the service's; false unless given. */
  tellCaller?: boolean;
  cause?: unknown;
}

/** The one error class callers meet; `code` is stable, `message` is for people. Neither holds a secret. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly issues: Issue[] | undefined;
  readonly head: string | null | undefined;
  readonly tellCaller: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.issues = details.issues;
    this.head = details.head;
    this.tellCaller = details.tellCaller ?? false;
  }
}

/** Thrown by a store when a row changed between being read and being written; the core reads again and retries. */
export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';
}
