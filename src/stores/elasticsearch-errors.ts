import { errors } from '@elastic/elasticsearch';
import { type ErrorCode, SupersededError, VersionConflict } from '../errors.ts';

/**
 * Turns what the client throws into coded errors. The client's own errors carry the request, with headers and
 * bodies, so none of them is passed on: a cause made here holds a name, a status and a type.
 */

/** One failed item of a bulk, or the error of a whole answer. */
export interface Failure {
  status: number;
  type: string;
  reason: string;
}

/** Types whose reason speaks of the query or the cluster, never of what users wrote. */
const TELLING = new Set([
  'verification_exception',
  'parsing_exception',
  'security_exception',
  'index_not_found_exception',
  'resource_already_exists_exception',
  'cluster_block_exception',
  'circuit_breaking_exception',
  'es_rejected_execution_exception',
  'unavailable_shards_exception',
  'strict_dynamic_mapping_exception',
]);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** What an answer or a bulk item says went wrong. */
export function failureOf(status: number, error: unknown): Failure {
  const found = isRecord(error) ? error : {};
  const reason = typeof found.reason === 'string' ? found.reason : '';
  const type = typeof found.type === 'string' ? found.type : `status_${status}`;
  return { status, type, reason: reason || (typeof error === 'string' ? error : '') };
}

export function failureOfResponse(error: unknown): Failure | null {
  if (!(error instanceof errors.ResponseError)) return null;
  const body: unknown = error.meta.body;
  return failureOf(error.meta.statusCode ?? 500, isRecord(body) ? body.error : undefined);
}

export const isConflict = (failure: Failure): boolean => failure.status === 409;
/** Worth sending again: the item was not taken. */
export const isRetryable = (failure: Failure): boolean => failure.status === 429 || failure.status === 503;

/** Whether the outcome of a write that failed so is unknown: it may have been done. */
export function isUncertain(error: unknown): boolean {
  const failure = failureOfResponse(error);
  if (failure) return failure.status >= 500;
  return (
    error instanceof errors.TimeoutError ||
    error instanceof errors.ConnectionError ||
    error instanceof errors.NoLivingConnectionsError ||
    error instanceof errors.DeserializationError
  );
}

const TEMPORARY = 'Nothing is lost. Check that Elasticsearch is up, then try again; `superseded doctor` tells more.';

/** The coded error for what Elasticsearch refused; `what` completes “Elasticsearch could not …”. */
export function refusal(what: string, failure: Failure, cause?: unknown): SupersededError {
  const { status, type, reason } = failure;
  const [code, why, hint] = explain(status, type, reason);
  return new SupersededError(code, `Elasticsearch could not ${what}: ${why}.`, { hint, cause });
}

function explain(status: number, type: string, reason: string): [ErrorCode, string, string] {
  const told = TELLING.has(type) && reason ? `${type}, ${reason.replace(/\.$/, '')}` : type;
  if (/license is (non-compliant|expired)|license.*(has expired|not allow)/i.test(reason)) {
    return ['UNSUPPORTED', `its licence does not allow this (${told})`, LICENCE];
  }
  switch (status) {
    case 401:
      return ['CONFIGURATION', 'it does not know these credentials', CREDENTIALS];
    case 403: {
      const privileges = /granted by the (index|cluster) privileges \[([^\]]+)\]/.exec(reason);
      const missing = privileges ? `the ${privileges[1]} privilege ${privileges[2]}` : 'a privilege';
      return ['CONFIGURATION', `the credentials lack ${missing} (${told})`, PRIVILEGES];
    }
    case 404:
      if (type !== 'index_not_found_exception') break;
      return ['CONFIGURATION', `there is no such index (${told})`, 'Run `superseded setup` to create the indices.'];
    case 429:
      return ['STORE_UNAVAILABLE', `it is overloaded (${told})`, `It takes no more work just now. ${TEMPORARY}`];
    case 502:
    case 503:
    case 504:
      return ['STORE_UNAVAILABLE', `it is not available (${told})`, TEMPORARY];
  }
  return [
    'STORE_FAILED',
    `it answered ${status} (${told})`,
    'Run `superseded doctor`, which checks the indices and the query.',
  ];
}

const LICENCE =
  'Start a trial, use a licence that includes it, or leave ELASTICSEARCH_INFERENCE_ID empty: the portable dialect with local vectors needs Basic only.';
const CREDENTIALS = 'Check ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD.';
const PRIVILEGES =
  'The user or API key needs read, write, create_index, manage and view_index_metadata on the indices, and monitor on the cluster.';

/** The coded error for anything the client threw; errors of ours pass as they are. */
export function coded(what: string, error: unknown): Error {
  if (error instanceof SupersededError || error instanceof VersionConflict) return error;
  const failure = failureOfResponse(error);
  if (failure) return refusal(what, failure, safeCause(error, failure));
  const cause = safeCause(error, null);
  const fail = (code: ErrorCode, why: string, hint: string): SupersededError =>
    new SupersededError(code, `Elasticsearch could not ${what}: ${why}.`, { hint, cause });
  if (error instanceof errors.TimeoutError) return fail('STORE_UNAVAILABLE', 'it did not answer in time', TEMPORARY);
  if (error instanceof errors.ConnectionError && /certificate|self.signed|CERT_|TLS|SSL/i.test(error.message)) {
    return fail(
      'CONFIGURATION',
      'its certificate is not trusted',
      'Name the authority’s file in ELASTICSEARCH_CA_FILE.',
    );
  }
  if (error instanceof errors.ConnectionError || error instanceof errors.NoLivingConnectionsError) {
    return fail('STORE_UNAVAILABLE', 'it cannot be reached', `Check ELASTICSEARCH_URL. ${TEMPORARY}`);
  }
  if (error instanceof errors.ProductNotSupportedError) {
    return fail('CONFIGURATION', 'what answers there is not Elasticsearch', 'Check ELASTICSEARCH_URL.');
  }
  if (error instanceof errors.ConfigurationError) {
    return fail(
      'CONFIGURATION',
      'the connection settings do not fit together',
      `Check ELASTICSEARCH_URL. ${CREDENTIALS}`,
    );
  }
  if (error instanceof errors.DeserializationError) {
    return fail('STORE_UNAVAILABLE', 'its answer was cut short or is no JSON', TEMPORARY);
  }
  return fail('STORE_FAILED', 'something unexpected happened', 'Run `superseded doctor`.');
}

/** A stand-in for the client's error: no request, no headers, no body. */
function safeCause(error: unknown, failure: Failure | null): Error {
  const name = error instanceof Error ? error.name : 'Error';
  const made = new Error(failure ? `${name} ${failure.status} ${failure.type}` : name);
  made.name = name;
  return made;
}
