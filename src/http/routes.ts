import { type ApiRoute, registerApiRoute } from '@mastra/core/server';
import type { Config } from '../config.ts';
import { SupersededError } from '../errors.ts';
import type { Superseded } from '../superseded.ts';
import { type Access, type Authenticate, accessOf } from './auth.ts';
import { type ChatHandler, chatRoute } from './chat-route.ts';
import { createDrain, type Drain } from './drain.ts';
import { answered, type HandleContext, handle } from './handle.ts';
import { memoryRoutes } from './memory-routes.ts';
import { openApiDocument } from './openapi.ts';
import { HttpError } from './problems.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { json, type Route } from './route.ts';
import { healthRoute, reviewRoutes, transferRoutes } from './service-routes.ts';

/** Every route under /v1, as Mastra takes them. */

export interface HttpDeps {
  /** Asked at each request, so that nothing opens before the first. */
  service: () => Superseded;
  config: Pick<Config, 'host' | 'tokens' | 'rateLimit' | 'replay'>;
  chat: ChatHandler;
  version: string;
  /** Milliseconds since 1970; for the rate limit. */
  clock: () => number;
  /** In place of the static tokens. */
  authenticate?: Authenticate;
  /** Shared with the rest of the server; made from the other settings unless given. */
  access?: Access;
  rateLimit?: RateLimit;
  drain?: Drain;
}

/** The routes as data: what is served, documented and tested. */
export function routeTable({ service, config, chat, version }: Omit<HttpDeps, 'clock'>): Route[] {
  const documented: Route[] = [
    chatRoute(chat),
    ...memoryRoutes,
    ...transferRoutes,
    ...reviewRoutes,
    healthRoute(service, version),
  ];
  const openApi: Route = {
    method: 'GET',
    path: '/v1/openapi.json',
    name: 'openApi',
    summary: 'This document.',
    open: true,
    answers: { 200: 'application/json' },
    run: async () => json(document),
  };
  const all = [...documented, openApi];
  const document = openApiDocument(all, { version, replay: config.replay });
  return all;
}

/** Throws CONFIGURATION where nobody may come in safely (see `accessOf`). */
export function httpRoutes(deps: HttpDeps): ApiRoute[] {
  const context: HandleContext = {
    service: deps.service,
    config: deps.config,
    access: deps.access ?? accessOf(deps.config, deps.authenticate),
    rateLimit: deps.rateLimit ?? createRateLimit({ limit: deps.config.rateLimit, clock: deps.clock }),
    drain: deps.drain ?? createDrain(() => deps.service().close()),
  };
  const table = routeTable(deps);
  const served = table.map((route) =>
    registerApiRoute(route.path, {
      method: route.method,
      requiresAuth: false,
      handler: (c) => handle(route, c.req.raw, String(c.req.param('id') ?? ''), context),
    }),
  );
  const rest = registerApiRoute('/v1/*', {
    method: 'ALL',
    requiresAuth: false,
    handler: (c) => answered(c.req.raw, context, async () => elsewhere(table, c.req.raw)),
  });
  return [...served, rest];
}

/** What no route takes: OPTIONS of a known path, another method (405), an unknown path (404). */
function elsewhere(table: readonly Route[], request: Request): Response {
  const { pathname } = new URL(request.url);
  const methods = table.filter(({ path }) => patternOf(path).test(pathname)).map(({ method }) => method);
  if (methods.length === 0) {
    throw new SupersededError('NOT_FOUND', 'There is no such path.', { hint: 'GET /v1/openapi.json lists them all.' });
  }
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } });
  throw new HttpError('METHOD_NOT_ALLOWED', `${request.method} is not a method of this path.`, `Use ${allow}.`, {
    allow,
  });
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:id/, '[^/]+').replace('.', '\\.')}$`);
