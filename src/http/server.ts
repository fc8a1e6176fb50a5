import type { Config as MastraConfig } from '@mastra/core/mastra';
import { MASTRA_RESOURCE_ID_KEY, type RequestContext } from '@mastra/core/request-context';
import type { IMastraAuthProvider, MiddlewareHandler } from '@mastra/core/server';
import type { Config } from '../config.ts';
import { SupersededError } from '../errors.ts';
import { type Access, accessOf, DEMO_USER, isLoopback } from './auth.ts';
import { createDrain, type Drain } from './drain.ts';
import { requestIdOf } from './handle.ts';
import { HttpError, logFault, problemOf } from './problems.ts';
import { createRateLimit, type RateLimit, rateLimitHeaders } from './rate-limit.ts';
import { type HttpDeps, httpRoutes } from './routes.ts';

/** What `new Mastra({ server })` takes: our routes, and who may use the framework's own ones beside them. */

type ServerConfig = NonNullable<MastraConfig['server']>;

/** Time open requests get once the process was asked to end, in milliseconds. */
const DRAIN_MS = 20_000;

export interface HttpServer {
  server: ServerConfig;
  /** Give it to `closeWith(mastra, drain)`. */
  drain: Drain;
}

/** Throws CONFIGURATION where nobody may come in safely: with no token and a host that others reach. */
export function httpServer(deps: HttpDeps & { config: Pick<Config, 'port'> }): HttpServer {
  const { config, clock } = deps;
  const access = deps.access ?? accessOf(config, deps.authenticate);
  const rateLimit = deps.rateLimit ?? createRateLimit({ limit: config.rateLimit, clock });
  const drain = deps.drain ?? createDrain(() => deps.service().close());
  const server: ServerConfig = {
    host: config.host,
    port: config.port,
    cors: corsOf(config.host),
    drainTimeout: DRAIN_MS,
    apiRoutes: httpRoutes({ ...deps, access, rateLimit, drain }),
    middleware: [
      ...(access.demo ? [{ path: '/api/*', handler: asDemoUser(access) }] : []),
      { path: '/api/mcp/*', handler: countedMcp(access, rateLimit) },
    ],
    ...(access.demo ? {} : { auth: mastraAuth(access) }),
    // Without sessions: nothing is kept between calls, and no session id speaks for a user.
    mcpOptions: {
      serverless: true,
      setRequestAuth: (request, context) => void Object.assign(request, mcpAuth(context)),
    },
    onError: (error, c) => uncaught(error, c.req.raw),
  };
  return { server, drain };
}

/**
 * Mastra lets every site read by default, with credentials where auth is set. Here pages of this machine alone, on the
 * service's own port (Studio calls 127.0.0.1 from localhost); behind another host no page of another origin at all.
 */
export function corsOf(host: string): Exclude<ServerConfig['cors'], undefined> {
  if (!isLoopback(host)) return false;
  return {
    origin: (origin, c) => {
      if (!URL.canParse(origin)) return null;
      const { hostname, port } = new URL(origin);
      return isLoopback(hostname) && port === new URL(c.req.url).port ? origin : null;
    },
    credentials: true,
    exposeHeaders: ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'],
  };
}

interface MastraUser {
  id: string;
  name: string;
  admin: boolean;
}

/** Users without admin rights reach the memory tools over MCP, and nothing else of the framework. */
const MCP_PATH = /^\/api\/mcp(?:\/[A-Za-z0-9_-]+)+$/;

/** Mastra's `server.auth`: the same identities as under /v1, the own user as resource, /api for admins. */
export function mastraAuth(access: Access): IMastraAuthProvider<MastraUser> {
  return {
    name: 'superseded',
    async authenticateToken(_token, request) {
      const web = webRequestOf(request);
      const identity = web ? await access.authenticate(web) : null;
      return identity && { id: identity.user, name: identity.user, admin: identity.admin };
    },
    authorizeUser(user, request) {
      const web = webRequestOf(request);
      return user.admin || (web !== undefined && MCP_PATH.test(new URL(web.url).pathname));
    },
    mapUserToResourceId: (user) => user.id,
  };
}

/** The request itself, in whichever shape the framework hands it over. */
function webRequestOf(request: Parameters<IMastraAuthProvider['authenticateToken']>[1]): Request | undefined {
  return request instanceof Request ? request : request.raw;
}

/** Without tokens: everyone on this machine is the demo user, whatever resource the request names. */
const asDemoUser =
  (access: Access): MiddlewareHandler =>
  async (c, next) => {
    try {
      await access.authenticate(c.req.raw);
    } catch (error) {
      return refused(error, c.req.raw);
    }
    const context: RequestContext = c.get('requestContext');
    context.set(MASTRA_RESOURCE_ID_KEY, DEMO_USER);
    await next();
  };

/** The rate limit for MCP, which is a way to the same verbs. */
const countedMcp =
  (access: Access, rateLimit: RateLimit): MiddlewareHandler =>
  async (c, next) => {
    const identity = await access.authenticate(c.req.raw);
    const taken = identity && rateLimit.take(identity.caller ?? identity.user);
    if (taken && !taken.allowed) {
      const error = new SupersededError('RATE_LIMITED', `More than ${taken.limit} requests came within a minute.`);
      return refused(error, c.req.raw, rateLimitHeaders(taken));
    }
    await next();
  };

/** What an MCP tool reads as `context.mcp.extra.authInfo`: the user that the server found, never the token. */
function mcpAuth(context: RequestContext): { auth?: object } {
  const user = context.getRaw(MASTRA_RESOURCE_ID_KEY);
  if (typeof user !== 'string') return {};
  return { auth: { token: '', clientId: user, scopes: [], extra: { user: { id: user } } } };
}

function refused(error: unknown, request: Request, headers: Record<string, string> = {}): Response {
  const { status, error: problem } = problemOf(error, requestIdOf(request));
  return Response.json({ error: problem }, { status, headers });
}

/** What the framework itself throws, such as its timeout, in the shape of our errors. */
function uncaught(error: Error, request: Request): Response {
  if (request.method === 'TRACE') {
    return refused(
      new HttpError('METHOD_NOT_ALLOWED', 'TRACE is not a method of this server.', 'Use another.'),
      request,
    );
  }
  const status = 'status' in error && typeof error.status === 'number' ? error.status : 500;
  if (status === 504) {
    return refused(new HttpError('TIMEOUT', 'The answer took too long.', 'Try again, with less at once.'), request);
  }
  if (status < 500 && !new URL(request.url).pathname.startsWith('/v1')) {
    return Response.json({ error: error.message }, { status });
  }
  logFault(error, requestIdOf(request), request.method);
  return refused(error, request);
}
