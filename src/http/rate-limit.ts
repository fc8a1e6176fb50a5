/**
 * Requests a minute and caller, in fixed windows that begin with a caller's first request. A library was considered
 * (rate-limiter-flexible): it takes no clock, and keeps a timer for each caller.
 */

const WINDOW_MS = 60_000;
/** Callers remembered at once; past that the longest unheard one starts anew. */
const MOST_CALLERS = 10_000;

export interface Taken {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number;
}

export interface RateLimit {
  /** Counts one request; null where no limit is set. */
  take(caller: string): Taken | null;
}

export function createRateLimit({ limit, clock }: { limit: number; clock: () => number }): RateLimit {
  const windows = new Map<string, { start: number; count: number }>();
  return {
    take(caller) {
      if (limit === 0) return null;
      const now = clock();
      const known = windows.get(caller);
      const current = known && now >= known.start && now - known.start < WINDOW_MS ? known : { start: now, count: 0 };
      current.count++;
      windows.delete(caller);
      windows.set(caller, current);
      const [longestUnheard] = windows.keys();
      if (windows.size > MOST_CALLERS && longestUnheard !== undefined) windows.delete(longestUnheard);
      return {
        allowed: current.count <= limit,
        limit,
        remaining: Math.max(0, limit - current.count),
        resetSeconds: Math.max(1, Math.ceil((current.start + WINDOW_MS - now) / 1000)),
      };
    },
  };
}

/**
 * The fields of the IETF draft "RateLimit header fields for HTTP" (`RateLimit`, `RateLimit-Policy`), and the three of
 * its earlier versions, which more clients read; Retry-After where the request was refused.
 */
export function rateLimitHeaders({ allowed, limit, remaining, resetSeconds }: Taken): Record<string, string> {
  return {
    'ratelimit-policy': `"minute";q=${limit};w=${WINDOW_MS / 1000}`,
    ratelimit: `"minute";r=${remaining};t=${resetSeconds}`,
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
    ...(allowed ? {} : { 'retry-after': String(resetSeconds) }),
  };
}
