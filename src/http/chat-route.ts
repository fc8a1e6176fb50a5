import { z } from 'zod';
import { id, LIMITS, text } from '../fields.ts';
import * as answer from './answers.ts';
import { logFault, problemOf } from './problems.ts';
import { type Call, json, type Route } from './route.ts';

/** Talking to the agent: one answer, or its making as server-sent events. The agent itself is given by the caller. */

export interface ChatRequest {
  message: string;
  /** The conversation to go on with; null begins one. */
  thread: string | null;
  /** The authenticated user. */
  user: string;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
}

export interface ChatStep {
  tool: string;
  input: unknown;
  output: unknown;
}

export interface ChatAnswer {
  reply: string;
  thread: string;
  steps: ChatStep[];
  usage: Record<string, unknown>;
}

/** Sent as `event: <type>`, with the rest as `data:`. A `text` is the next piece of the reply; `done` comes last. */
export type ChatEvent =
  | { type: 'text'; text: string }
  | ({ type: 'step' } & ChatStep)
  | ({ type: 'done' } & ChatAnswer);

/** The agent as the route needs it. Throws SupersededError; CONFIGURATION where no model is configured. */
export interface ChatHandler {
  generate(request: ChatRequest): Promise<ChatAnswer>;
  stream(request: ChatRequest): AsyncIterable<ChatEvent>;
}

export const chatInput = z.strictObject({ message: text(LIMITS.content, 1), thread: id.optional() });

export const chatRoute = (chat: ChatHandler): Route => ({
  method: 'POST',
  path: '/v1/chat',
  name: 'chat',
  summary: 'Talk to the agent. With Accept: text/event-stream, events text, step and done (or error), as they come.',
  input: chatInput,
  answers: { 200: answer.chatted },
  fails: [404],
  async run(call) {
    const { message, thread = null } = chatInput.parse(call.fields);
    const request = { message, thread, user: call.user, signal: call.signal };
    const wantsEvents = /(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i.test(call.accept);
    return wantsEvents ? events(chat.stream(request), call) : json(await chat.generate(request));
  },
});

/** The first event is awaited, so that a failure before it still has its own status; a later one becomes an event. */
async function events(source: AsyncIterable<ChatEvent>, { requestId }: Call): Promise<Response> {
  const iterator = source[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<ChatEvent>> | null = Promise.resolve(await iterator.next());
  const encoder = new TextEncoder();
  let left = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const send = (type: string, data: unknown) => controller.enqueue(encoder.encode(eventText(type, data)));
      try {
        const { done, value } = await (next ?? iterator.next());
        next = null;
        if (left) return;
        if (done) return controller.close();
        const { type, ...data } = value;
        send(type, data);
      } catch (error) {
        if (left) return;
        const { status, error: problem } = problemOf(error, requestId);
        if (status >= 500) logFault(error, requestId, 'POST /v1/chat');
        send('error', { error: problem });
        controller.close();
      }
    },
    async cancel() {
      left = true;
      await iterator.return?.();
    },
  });
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
  return new Response(body, { headers });
}

const eventText = (type: string, data: unknown): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
