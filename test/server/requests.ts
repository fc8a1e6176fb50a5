import { requestOf, type ServerProcess, type User } from './server-process.ts';

/** What a client of the server needs besides fetch: its operations, its events, its MCP. */

export interface Operation {
  name: string;
  method: string;
  path: string;
  open: boolean;
  ndjson: boolean;
}

interface Document {
  paths: Record<
    string,
    Record<string, { operationId: string; security?: unknown[]; requestBody?: { content: Record<string, unknown> } }>
  >;
}

/** Every operation of the served OpenAPI document. */
export const operationsOf = ({ paths }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security, requestBody }]) => ({
      name: operationId,
      method: method.toUpperCase(),
      path,
      open: security?.length === 0,
      ndjson: requestBody !== undefined && !('application/json' in requestBody.content),
    })),
  );

/** A body that each operation takes; one that has none here and needs one fails the test that goes through them all. */
const BODIES: Record<string, object | undefined> = {
  chat: { message: 'Hello' },
  recall: { query: 'tea' },
  remember: { content: 'I write' },
  supersede: { targets: ['other'] },
  close: {},
  reopen: {},
  confirm: {},
  deny: {},
  feedback: { outcome: 1 },
  resolveReview: { action: 'keep' },
};
export const bodiesOf = (operation: string): object | undefined => BODIES[operation];

export interface ServerEvent {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer
  data: any;
}

/** The server-sent events of a whole answer. */
export const eventsOf = (text: string): ServerEvent[] =>
  text
    .split('\n\n')
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
      return { type: field('event'), data: JSON.parse(field('data')) };
    });

/** One call over MCP, which answers as JSON or as one event. */
export async function rpc(server: ServerProcess, user: User | null, method: string, params: object = {}) {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  const headers = { accept: 'application/json, text/event-stream' };
  const response = await server.fetch('/api/mcp/memory/mcp', requestOf(user, 'POST', body, headers));
  const text = await response.text();
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return { status: response.status, text, result: JSON.parse(json).result };
}
