import { randomUUID } from 'node:crypto';
import type { Agent } from '@mastra/core/agent';
import { MASTRA_RESOURCE_ID_KEY, RequestContext } from '@mastra/core/request-context';
import { SupersededError } from '../errors.ts';
import type { ChatAnswer, ChatEvent, ChatHandler, ChatRequest } from '../http/chat-route.ts';
import { createTurn } from './chat-turn.ts';
import { noModel } from './model-errors.ts';

/** One turn with the agent, as the HTTP API has it: whole or as events, always with an answer or a clear error. */

export interface ChatOptions {
  agent: Agent;
  /** Whether there is a model; asked at each turn. */
  isConfigured: () => boolean;
  /** A turn that takes longer is given up. */
  timeoutMs?: number;
}

const TURN_TIMEOUT_MS = 150_000;

export function createChat({ agent, isConfigured, timeoutMs = TURN_TIMEOUT_MS }: ChatOptions): ChatHandler {
  async function* stream(request: ChatRequest): AsyncGenerator<ChatEvent> {
    if (!isConfigured()) throw noModel();
    const { message, user } = request;
    const thread = await ownThread(agent, request);
    const timeout = AbortSignal.timeout(timeoutMs);
    const requestContext = new RequestContext();
    requestContext.set(MASTRA_RESOURCE_ID_KEY, user);
    const turn = createTurn();
    try {
      const output = await agent.stream(message, {
        requestContext,
        memory: { thread, resource: user },
        abortSignal: AbortSignal.any([request.signal, timeout]),
      });
      for await (const chunk of output.fullStream) yield* turn.take(chunk);
    } catch (error) {
      turn.fail(error);
    }
    if (request.signal.aborted) throw aborted(request.signal);
    if (timeout.aborted) throw tooSlow(timeoutMs);
    const { reply, steps, usage } = turn.finish();
    yield { type: 'done', reply, thread, steps, usage };
  }

  return {
    stream,
    async generate(request) {
      for await (const event of stream(request)) {
        if (event.type !== 'done') continue;
        const { type: _, ...answer }: { type: 'done' } & ChatAnswer = event;
        return answer;
      }
      throw new Error('The turn ended without an answer.');
    },
  };
}

/** The thread to go on with, or a new one. Throws NOT_FOUND for that of another user, as for one that is not there. */
async function ownThread(agent: Agent, { thread, user }: ChatRequest): Promise<string> {
  if (thread === null) return randomUUID();
  const memory = await agent.getMemory();
  const stored = await memory?.getThreadById({ threadId: thread });
  if (!stored || stored.resourceId === user) return thread;
  throw new SupersededError('NOT_FOUND', `No conversation has the id ${thread}.`, {
    hint: 'Leave thread out to begin a new one.',
  });
}

const aborted = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new DOMException('The turn was aborted.', 'AbortError');

const tooSlow = (timeoutMs: number): SupersededError =>
  new SupersededError('MODEL_FAILED', `The agent did not finish within ${timeoutMs / 1000} seconds.`, {
    hint: 'Ask for less at once, or set OPENROUTER_MODEL to a faster model.',
  });
