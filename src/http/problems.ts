import { type ErrorCode, type Issue, SupersededError } from '../errors.ts';

/** How a failed request is answered: the status of every error code, and the one error body. */

export const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  INVALID_INPUT: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  ERASED: 410,
  TOO_LARGE: 413,
  LOOKS_SECRET: 422,
  RATE_LIMITED: 429,
  STORE_FAILED: 500,
  UNSUPPORTED: 501,
  MODEL_MISMATCH: 503,
  SCHEMA_MISMATCH: 503,
  CONFIGURATION: 503,
  MODEL_FAILED: 503,
  EMBEDDER_FAILED: 503,
  STORE_UNAVAILABLE: 503,
};

/** Codes that only a request over HTTP can meet. */
const HTTP_STATUS = { METHOD_NOT_ALLOWED: 405, UNSUPPORTED_MEDIA_TYPE: 415, UNEXPECTED: 500, TIMEOUT: 504 } as const;
export type HttpCode = keyof typeof HTTP_STATUS;

/** A request that failed before any verb saw it. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpCode;
  readonly hint: string;
  /** Fields of the answer, such as Allow. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: HttpCode, message: string, hint: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.headers = headers;
  }
}

export interface Problem {
  status: number;
  error: {
    code: ErrorCode | HttpCode;
    message: string;
    hint?: string;
    issues?: Issue[];
    /** With a conflict on a closed memory: the open head of its chain, or null. */
    head?: string | null;
    /** With a fault of the server: what the log names it by. */
    requestId?: string;
  };
}

/** What is said of a fault of the server; the reason, with its paths and addresses, is in the log alone. */
const FAULTS: Partial<Record<ErrorCode, string>> = {
  STORE_FAILED: 'The store could not carry this out.',
  STORE_UNAVAILABLE: 'The store cannot be reached.',
  MODEL_MISMATCH: 'The store holds the vectors of another embedding model.',
  SCHEMA_MISMATCH: 'The store has another schema than this version of the service.',
  EMBEDDER_FAILED: 'The embedding model cannot be used.',
  CONFIGURATION: 'The service is not configured for this.',
  UNSUPPORTED: 'The service cannot do this with what it runs on.',
};

/** What the caller is told; never the text of an error that is not ours. */
export function problemOf(error: unknown, requestId: string): Problem {
  if (error instanceof HttpError) {
    return { status: HTTP_STATUS[error.code], error: { code: error.code, message: error.message, hint: error.hint } };
  }
  if (!(error instanceof SupersededError)) {
    const message = 'Something went wrong in the service.';
    return { status: 500, error: { code: 'UNEXPECTED', message, hint: hintFor(requestId), requestId } };
  }
  const { code, message, hint, issues, head } = error;
  const status = STATUS_OF[code];
  const fault = error.tellCaller ? undefined : FAULTS[code];
  if (fault) return { status, error: { code, message: fault, hint: hintFor(requestId), requestId } };
  return {
    status,
    error: {
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      ...(issues === undefined ? {} : { issues }),
      ...(head === undefined ? {} : { head }),
      ...(status >= 500 ? { requestId } : {}),
    },
  };
}

const hintFor = (requestId: string): string =>
  `Try again later; the server's log names the reason under the request id ${requestId}.`;

/** One line to stderr for a fault of the server, with the reason, where it came from and what was behind it. */
export function logFault(error: unknown, requestId: string, where: string): void {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`[superseded] ${where} ${requestId}: ${reason}${causesOf(error)}\n`);
}

/** Every cause, to the last: of `fetch failed` the one that tells why. */
function causesOf(error: unknown): string {
  const causes: string[] = [];
  for (let at = error; at instanceof Error && at.cause !== undefined && causes.length < 5; at = at.cause) {
    const code = at.cause instanceof Error && 'code' in at.cause ? ` (${String(at.cause.code)})` : '';
    causes.push(`\n  caused by ${String(at.cause)}${code}`);
  }
  return causes.join('');
}
