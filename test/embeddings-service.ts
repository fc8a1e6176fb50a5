import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { z } from 'zod';
import { createOpenAiCompatibleEmbedder, type OpenAiCompatibleOptions } from '../src/embedders/openai-compatible.ts';
import { SupersededError } from '../src/errors.ts';
import { afterThisTest } from './temporary.ts';

export const KEY = 'sk-test-0123456789';
const requestBody = z.object({ model: z.string(), input: z.array(z.string()), encoding_format: z.literal('float') });

interface Seen {
  path: string;
  headers: IncomingHttpHeaders;
  body: z.infer<typeof requestBody>;
}

type Answer = (response: ServerResponse, seen: Seen, nth: number) => void;

/** A service on a free port; `answer` gets the count of requests before this one. */
export async function service(answer: Answer): Promise<{ url: string; seen: Seen[]; close: () => void }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = requestBody.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    const one = { path: request.url ?? '', headers: request.headers, body };
    seen.push(one);
    answer(response, one, seen.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  afterThisTest(close);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, close };
}

export function embedder(url: string, more: Partial<OpenAiCompatibleOptions> = {}) {
  return createOpenAiCompatibleEmbedder({ url, model: 'stub', apiKey: KEY, retryDelayMs: 1, ...more });
}

export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** A vector that tells the text's length: [length, 1, 0]. */
export const echo: Answer = (response, { body }) =>
  json(response, { data: body.input.map((text, index) => ({ index, embedding: [text.length, 1, 0] })) });

export async function failure(promise: Promise<unknown>): Promise<SupersededError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SupersededError)) throw new Error(`expected a SupersededError, got ${error}`);
  expect(`${error.message} ${error.hint} ${error.stack} ${error.cause}`).not.toContain(KEY);
  return error;
}
