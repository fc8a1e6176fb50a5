import { readFileSync } from 'node:fs';
import { Client, type ClientOptions, errors } from '@elastic/elasticsearch';
import { SupersededError } from '../errors.ts';
import { coded } from './elasticsearch-errors.ts';

/** The connection: by URL or cloud id, with an API key or user and password, made at the first call. */

export interface Connection {
  url?: string | null;
  cloudId?: string | null;
  apiKey?: string | null;
  username?: string | null;
  password?: string | null;
  /** PEM file of the authority that signed the server's certificate. */
  caFile?: string | null;
}

/** Passed to every request of the client. */
export interface CallOptions {
  requestTimeout: number;
  maxRetries: number;
  retryBackoff: (min: number, max: number, attempt: number) => number;
  signal?: AbortSignal;
}

export interface Elastic {
  /**
   * Runs a request; `what` completes “Elasticsearch could not …” in the error. An abort rejects with the signal's
   * reason, everything else with a coded error, and neither holds a secret.
   */
  call<T>(
    what: string,
    request: (client: Client, options: CallOptions) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** As `call`, with the client's own errors, for who must tell them apart; never to be let out. */
  attempt<T>(request: (client: Client, options: CallOptions) => Promise<T>, signal?: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

/** The client sends a request again after 502, 503, 504 and lost connections, writes too; commits allow for it. */
const RETRIES = 3;
const backoff = (_min: number, max: number, attempt: number): number =>
  Math.min(max, 0.1 * 2 ** attempt) * (0.5 + Math.random() / 2);

export function connect(connection: Connection, requestTimeoutMs: number): Elastic {
  let client: Client | undefined;
  const attempt: Elastic['attempt'] = async (request, signal) => {
    signal?.throwIfAborted();
    client ??= new Client(optionsOf(connection));
    const options = { requestTimeout: requestTimeoutMs, maxRetries: RETRIES, retryBackoff: backoff };
    try {
      return await request(client, signal ? { ...options, signal } : options);
    } catch (error) {
      if (error instanceof errors.RequestAbortedError && signal?.aborted) throw signal.reason;
      throw error;
    }
  };
  return {
    attempt,
    async call(what, request, signal) {
      try {
        return await attempt(request, signal);
      } catch (error) {
        if (signal?.aborted && error === signal.reason) throw error;
        throw coded(what, error);
      }
    },
    async close() {
      await client?.close();
      client = undefined;
    },
  };
}

function optionsOf({ url, cloudId, apiKey, username, password, caFile }: Connection): ClientOptions {
  if (!url && !cloudId) {
    throw new SupersededError('CONFIGURATION', 'No Elasticsearch is named.', {
      hint: 'Set ELASTICSEARCH_URL or ELASTICSEARCH_CLOUD_ID.',
    });
  }
  const auth = apiKey ? { auth: { apiKey } } : username ? { auth: { username, password: password ?? '' } } : {};
  return {
    ...(cloudId ? { cloud: { id: cloudId } } : { node: url ?? '' }),
    ...auth,
    ...(caFile ? { tls: { ca: authority(caFile) } } : {}),
  };
}

function authority(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new SupersededError('CONFIGURATION', 'The file named in ELASTICSEARCH_CA_FILE cannot be read.', {
      hint: 'Check its path and rights.',
    });
  }
}
