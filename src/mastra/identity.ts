import { MASTRA_RESOURCE_ID_KEY } from '@mastra/core/request-context';
import { SupersededError } from '../errors.ts';

/** Whose memories a call concerns: what authentication put there, never what a model or a caller wrote. */

/** What the framework hands to a tool or a processor, as far as identity goes. */
export interface Caller {
  requestContext?: { getRaw(key: string): unknown } | undefined;
  /** Present on calls over MCP; the framework's own request context is not trusted there. */
  mcp?: { extra: { authInfo?: { extra?: Record<string, unknown> | undefined } | undefined } } | undefined;
}

/** The user of a call. Throws UNAUTHORIZED where authentication named none: nothing is read or written then. */
export function userOf({ requestContext, mcp }: Caller): string {
  const named = mcp ? mcpUser(mcp.extra.authInfo?.extra) : requestContext?.getRaw(MASTRA_RESOURCE_ID_KEY);
  if (typeof named === 'string' && named !== '') return named;
  throw new SupersededError('UNAUTHORIZED', 'No user is signed in, so there is no memory to use.', {
    hint: `Send a token, or set ${MASTRA_RESOURCE_ID_KEY} in the request context from your own authentication.`,
  });
}

function mcpUser(extra: Record<string, unknown> | undefined): unknown {
  const user = extra?.user;
  return typeof user === 'object' && user !== null && 'id' in user ? user.id : undefined;
}
