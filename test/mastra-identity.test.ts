import { MASTRA_RESOURCE_ID_KEY, RequestContext } from '@mastra/core/request-context';
import { describe, expect, it } from 'vitest';
import { type Caller, userOf } from '../src/mastra/identity.ts';

const context = (values: Record<string, unknown>): RequestContext => new RequestContext(Object.entries(values));

const overMcp = (extra: Record<string, unknown> | undefined, values: Record<string, unknown> = {}): Caller => ({
  requestContext: context(values),
  mcp: { extra: extra ? { authInfo: { extra } } : {} },
});

describe('whose memories a call concerns', () => {
  it('is the user whom authentication put into the request context', () => {
    expect(userOf({ requestContext: context({ [MASTRA_RESOURCE_ID_KEY]: 'ann' }) })).toBe('ann');
  });

  it('is over MCP the user of the transport’s authentication', () => {
    expect(userOf(overMcp({ user: { id: 'ann' } }))).toBe('ann');
  });

  it.each([
    ['nothing', {}],
    ['an empty context', { requestContext: context({}) }],
    ['fields that a caller can set', { requestContext: context({ user: 'ann', resourceId: 'ann', userId: 'ann' }) }],
    ['something else than a name', { requestContext: context({ [MASTRA_RESOURCE_ID_KEY]: { id: 'ann' } }) }],
    ['an empty name', { requestContext: context({ [MASTRA_RESOURCE_ID_KEY]: '' }) }],
    ['MCP without authentication', overMcp(undefined)],
    ['MCP whose request context names one', overMcp(undefined, { [MASTRA_RESOURCE_ID_KEY]: 'ann' })],
    ['MCP with another shape of user', overMcp({ user: 'ann' })],
  ] satisfies [string, Caller][])('is nobody, and the call fails, with %s', (_, caller) => {
    expect(() => userOf(caller)).toThrow(expect.objectContaining({ code: 'UNAUTHORIZED' }));
  });
});
