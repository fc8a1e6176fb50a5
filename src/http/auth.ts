import { createHash, timingSafeEqual } from 'node:crypto';
import type { Config } from '../config.ts';
import { SupersededError } from '../errors.ts';

/** Who a request speaks for. The user comes from here alone; no body, header or query can name one. */

export interface Identity {
  user: string;
  /** May use the framework's own /api routes and Studio. */
  admin: boolean;
  /** What the rate limit counts by; the user unless given. */
  caller?: string;
}

/**
 * Tells whom a request speaks for, or null for nobody. Give your own to put another identity provider in place of the
 * static tokens; it may look at every header, and may throw a SupersededError.
 */
export type Authenticate = (request: Request) => Promise<Identity | null>;

export interface Access {
  /** Whether everyone on this machine is the demo user: no token is configured and the host is loopback. */
  demo: boolean;
  authenticate: Authenticate;
}

export const DEMO_USER = 'demo';

/** The way in that the settings ask for. Throws CONFIGURATION for a host that others reach and no token. */
export function accessOf(config: Pick<Config, 'host' | 'tokens'>, authenticate?: Authenticate): Access {
  if (authenticate) return { demo: false, authenticate };
  if (config.tokens.length > 0) return { demo: false, authenticate: tokenAuthenticator(config.tokens) };
  if (isLoopback(config.host)) return { demo: true, authenticate: demoUser };
  throw new SupersededError(
    'CONFIGURATION',
    `SUPERSEDED_HOST is ${config.host}, which others can reach, and SUPERSEDED_TOKENS is empty.`,
    {
      hint: 'Set SUPERSEDED_TOKENS to token:user pairs, or leave SUPERSEDED_HOST at 127.0.0.1 for the demo user.',
      issues: [
        { path: 'SUPERSEDED_TOKENS', message: 'is empty: give each user a token' },
        { path: 'SUPERSEDED_HOST', message: 'is no loopback address' },
      ],
    },
  );
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Static bearer tokens. Their hashes are kept and compared in constant time, all of them at every request. */
export function tokenAuthenticator(tokens: Config['tokens']): Authenticate {
  const known = tokens.map(({ token, user, admin }, index) => ({
    hash: digest(token),
    identity: { user, admin, caller: `token ${index}` },
  }));
  return async (request) => {
    const token = bearerOf(request);
    if (token === null) return null;
    const hash = digest(token);
    const matches = known.filter((entry) => timingSafeEqual(entry.hash, hash));
    return matches[0]?.identity ?? null;
  };
}

/** The bearer token of a request, or null. */
export const bearerOf = (request: Request): string | null =>
  /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? null;

/** The demo user, for requests to this machine by its own name: a page of another site, or a rebound name, is refused. */
async function demoUser(request: Request): Promise<Identity> {
  const host = new URL(request.url);
  const origin = request.headers.get('origin');
  const from = origin !== null && URL.canParse(origin) ? new URL(origin) : null;
  const foreign = origin !== null && (from === null || !isLoopback(from.hostname) || from.port !== host.port);
  if (isLoopback(host.hostname) && !foreign) return { user: DEMO_USER, admin: true };
  throw new SupersededError('FORBIDDEN', 'Without tokens this service answers this machine alone, by its own name.', {
    hint: 'Call http://127.0.0.1, or set SUPERSEDED_TOKENS to serve others.',
  });
}

/** Whether a host names this machine and cannot be reached from another. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host.replace(/\.$/, ''));
