import { setTimeout as sleep } from 'node:timers/promises';
import { SupersededError } from '../errors.ts';

export interface RequestOptions {
  endpoint: string;
  /** The endpoint as errors name it: without its query string, which may hold a key. */
  address: string;
  apiKey: string | undefined;
  /** Milliseconds for one attempt, its body included. A timeout is not tried again. */
  timeoutMs: number;
  /** Attempts after the first, on 429, 500, 502, 503, 504 and network errors. */
  retries: number;
  /** Milliseconds before the second attempt; doubles with each further one. Retry-After goes before it. */
  retryDelayMs: number;
  fetch: typeof fetch;
}

const RETRIED = new Set([429, 500, 502, 503, 504]);
const LONGEST_WAIT_MS = 30_000;
const SNIPPET = 200;

/**
 * Where embeddings are asked for: `…/embeddings` as it stands, `…/v1` (or any version) plus `/embeddings`,
 * any other base plus `/v1/embeddings`. Throws CONFIGURATION on what is no http(s) address or holds a password.
 */
export function embeddingsEndpoint(base: string): string {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new SupersededError(
      'CONFIGURATION',
      'EMBEDDINGS_URL (url) is not an http or https address without a login.',
      {
        hint: 'For example http://localhost:11434/v1; the key goes into EMBEDDINGS_API_KEY (apiKey).',
      },
    );
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith('/embeddings')) url.pathname = path;
  else url.pathname = /\/v\d+$/.test(path) ? `${path}/embeddings` : `${path}/v1/embeddings`;
  return url.href;
}

/** Posts a JSON body and returns the text of the answer; no error it throws holds the key. */
export async function postEmbeddings(body: object, options: RequestOptions, signal?: AbortSignal): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const outcome = await tryOnce(body, options, signal);
    if ('text' in outcome) return outcome.text;
    if (!outcome.again || attempt >= options.retries) throw outcome.error;
    const backoff = options.retryDelayMs * 2 ** attempt;
    await wait(Math.min(outcome.retryAfterMs ?? backoff, LONGEST_WAIT_MS), signal);
  }
}

type Outcome = { text: string } | { error: SupersededError; again: boolean; retryAfterMs?: number | undefined };

async function tryOnce(body: object, options: RequestOptions, signal: AbortSignal | undefined): Promise<Outcome> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  try {
    const response = await options.fetch(options.endpoint, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(options.apiKey !== undefined && { authorization: `Bearer ${options.apiKey}` }),
      },
      body: JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const text = await response.text();
    if (response.ok) return { text };
    return {
      error: refusal(response.status, text, options),
      again: RETRIED.has(response.status),
      retryAfterMs: retryAfterMs(response.headers),
    };
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) {
      const message = `No embeddings came from ${options.address} within ${options.timeoutMs} ms.`;
      return { error: new SupersededError('EMBEDDER_FAILED', message), again: false };
    }
    return { error: unreachable(error, options), again: true };
  }
}

function refusal(status: number, text: string, { address, apiKey }: RequestOptions): SupersededError {
  if (status === 401 || status === 403) {
    return new SupersededError('CONFIGURATION', `${address} refused the key with status ${status}.`, {
      hint: apiKey === undefined ? 'Set EMBEDDINGS_API_KEY (apiKey).' : 'Check EMBEDDINGS_API_KEY (apiKey).',
    });
  }
  const said = `${address} answered with status ${status}${snippet(text, apiKey)}`;
  if (status === 404 || status === 405) {
    return new SupersededError('CONFIGURATION', said, {
      hint: 'Check EMBEDDINGS_URL (url: the base, with or without /v1) and that the service has EMBEDDINGS_MODEL (model).',
    });
  }
  return new SupersededError('EMBEDDER_FAILED', said);
}

function unreachable(error: unknown, { address, apiKey }: RequestOptions): SupersededError {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = inner instanceof Error ? inner.message : String(inner);
  return new SupersededError('EMBEDDER_FAILED', `${address} cannot be reached${snippet(reason, apiKey)}`, {
    hint: 'Check EMBEDDINGS_URL (url) and that the service is running.',
  });
}

/** What a service said, on one line, short and without the key. */
export function snippet(text: string, apiKey: string | undefined): string {
  const redacted = apiKey === undefined ? text : text.replaceAll(apiKey, '[key]');
  const line = redacted.replace(/\s+/g, ' ').trim().slice(0, SNIPPET);
  return line === '' ? '.' : `: ${line}`;
}

/** Retry-After in milliseconds: seconds, or a date counted from the answer's own Date header. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const wait = Date.parse(value) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
