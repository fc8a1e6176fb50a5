import type { ApiRoute } from '@mastra/core/server';
import { Hono } from 'hono';
import type { Config } from '../src/config.ts';
import type { ChatHandler } from '../src/http/chat-route.ts';
import { type HttpDeps, httpRoutes } from '../src/http/routes.ts';
import { type TestService, temporaryService } from './temporary.ts';

/** The real routes on a plain app, without a port; two users, and one who administers. */

export const TOKENS: Config['tokens'] = [
  { token: 'token-ann', user: 'ann', admin: false },
  { token: 'token-bob', user: 'bob', admin: false },
  { token: 'token-root', user: 'root', admin: true },
];

export const fakeChat: ChatHandler = {
  async generate({ message, thread, user }) {
    const step = { tool: 'recall', input: { query: message }, output: { hits: [] } };
    return { reply: `${user} said: ${message}`, thread: thread ?? 'thread-1', steps: [step], usage: { tokens: 7 } };
  },
  async *stream(request) {
    yield { type: 'text', text: 'One ' };
    yield { type: 'text', text: 'moment.' };
    yield { type: 'done', ...(await fakeChat.generate(request)) };
  },
};

export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer
  body: any;
}

export interface TestApp {
  service: TestService;
  routes: ApiRoute[];
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A request of the user whose token it is (ann unless told; null is nobody), with a JSON body. */
  send(method: string, path: string, body?: unknown, token?: string | null): Promise<Answered>;
}

export function temporaryApp(changes: Partial<HttpDeps['config']> = {}, deps: Partial<HttpDeps> = {}): TestApp {
  const service = temporaryService();
  const routes = httpRoutes({
    service: () => service,
    config: { host: '127.0.0.1', tokens: TOKENS, rateLimit: 0, replay: false, ...changes },
    chat: fakeChat,
    version: '1.2.3',
    clock: () => service.now,
    ...deps,
  });
  const app = new Hono();
  for (const route of routes) {
    if (!('handler' in route) || '_mastraSchemaRoute' in route) continue;
    if (route.method === 'ALL') app.all(route.path, route.handler);
    else app.on(route.method, route.path, route.handler);
  }
  const fetch: TestApp['fetch'] = async (path, init) => app.fetch(new Request(`http://127.0.0.1:4111${path}`, init));
  return {
    service,
    routes,
    fetch,
    async send(method, path, body, token = 'token-ann') {
      const headers = {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
      return read(await fetch(path, { method, headers, ...sent }));
    },
  };
}

export async function read(response: Response): Promise<Answered> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') && !text.includes('\n');
  return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : null };
}
