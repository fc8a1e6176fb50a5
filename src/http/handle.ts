import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { SupersededError } from '../errors.ts';
import * as field from '../fields.ts';
import type { Superseded } from '../superseded.ts';
import { check } from '../validation.ts';
import type { Access, Identity } from './auth.ts';
import type { Drain } from './drain.ts';
import { HttpError, logFault, problemOf } from './problems.ts';
import { type RateLimit, rateLimitHeaders } from './rate-limit.ts';
import { checkFields, type Fields, jsonBody, ndjsonBody, noBody, queryFields } from './request.ts';
import { type Call, json, NO_FIELDS, type Route } from './route.ts';

/** The way of a request to its verb and back: who asks, how often, what exactly, and every failure as one shape. */

export interface HandleContext {
  service: () => Superseded;
  config: Pick<Config, 'replay'>;
  access: Access;
  rateLimit: RateLimit;
  drain: Drain;
}

const idInPath = z.object({ id: field.id });

/** A route's work on a request, given what is already known of it. */
type Work = (requestId: string, headers: Headers) => Promise<Response>;

/** Answers a request for a route. Never throws. */
export function handle(route: Route, request: Request, id: string, context: HandleContext): Promise<Response> {
  return answered(request, context, async (requestId, headers) => {
    const identity = route.open ? null : await identify(request, context, headers);
    return route.run(await callOf(route, request, id, requestId, identity, context));
  });
}

/** Runs `work` within what every answer has: a request id, no caching, and one shape of failure. */
export async function answered(request: Request, { drain }: Pick<HandleContext, 'drain'>, work: Work) {
  const leave = drain.enter();
  const requestId = requestIdOf(request);
  const headers = new Headers({
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  let response: Response;
  try {
    response = await work(requestId, headers);
  } catch (error) {
    response = failed(error, request, requestId);
  }
  if (drain.ending) headers.set('connection', 'close');
  for (const [name, value] of headers) response.headers.set(name, value);
  const streams = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (response.body && streams) return new Response(untilDone(response.body, leave), response);
  leave();
  return response;
}

function failed(error: unknown, request: Request, requestId: string): Response {
  const { status, error: problem } = problemOf(error, requestId);
  if (status >= 500) logFault(error, requestId, `${request.method} ${new URL(request.url).pathname}`);
  const headers = error instanceof HttpError ? error.headers : {};
  return json({ error: problem }, status, status === 401 ? { 'www-authenticate': 'Bearer' } : headers);
}

/** Passes a body on and calls `leave` at its end, also where the client left before. */
function untilDone(body: ReadableStream<Uint8Array>, leave: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => {
        leave();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      leave();
      controller.close();
    },
    async cancel(reason) {
      leave();
      await reader.cancel(reason);
    },
  });
}

/** The caller's id for the request where it is a plain one, else a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id') ?? '';
  return /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Who asks; counts the request. Throws UNAUTHORIZED, RATE_LIMITED. */
async function identify(request: Request, context: HandleContext, headers: Headers): Promise<Identity> {
  const identity = await context.access.authenticate(request);
  if (identity === null) {
    throw new SupersededError('UNAUTHORIZED', 'The request has no valid token.', {
      hint: 'Send authorization: Bearer <token>, with a token of SUPERSEDED_TOKENS.',
    });
  }
  if (!field.user.safeParse(identity.user).success) throw new Error('The authenticator named what is no user id.');
  const taken = context.rateLimit.take(identity.caller ?? identity.user);
  if (taken) for (const [name, value] of Object.entries(rateLimitHeaders(taken))) headers.set(name, value);
  if (taken && !taken.allowed) {
    throw new SupersededError('RATE_LIMITED', `More than ${taken.limit} requests came within a minute.`, {
      hint: `Wait ${taken.resetSeconds} s.`,
    });
  }
  return identity;
}

async function callOf(
  route: Route,
  request: Request,
  id: string,
  requestId: string,
  identity: Identity | null,
  context: HandleContext,
): Promise<Call> {
  if (route.path.includes('/:id')) check(idInPath, { id });
  const { fields, text } = await sent(route, request, context.config.replay);
  const user = identity?.user ?? '';
  return {
    user,
    get memories() {
      return context.service().for(user, 'http');
    },
    id,
    fields,
    text,
    signal: request.signal,
    accept: request.headers.get('accept') ?? '',
    requestId,
  };
}

async function sent(route: Route, request: Request, replay: boolean): Promise<{ fields: Fields; text: string }> {
  const input = route.input ?? NO_FIELDS;
  if (route.method !== 'POST') {
    await noBody(request);
    const fields = queryFields(request.url, input);
    checkFields(input, fields, replay);
    return { fields, text: '' };
  }
  checkFields(NO_FIELDS, queryFields(request.url, NO_FIELDS), replay);
  if (route.ndjson) return { fields: {}, text: await ndjsonBody(request) };
  const fields = await jsonBody(request);
  checkFields(input, fields, replay);
  return { fields, text: '' };
}
