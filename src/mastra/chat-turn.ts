import type { ChunkType } from '@mastra/core/stream';
import { SupersededError } from '../errors.ts';
import type { ChatEvent, ChatStep } from '../http/chat-route.ts';
import { PRE_RECALL_CHUNK, type PreRecalled } from './pre-recall.ts';

/** Reads the framework's chunks of one turn into the reply, the steps and the usage. */

export const NO_ANSWER =
  'I looked things up but did not come to an answer. Nothing is lost: please ask again, perhaps for a smaller part.';

export interface Turn {
  /** The events that follow from one chunk. */
  take(chunk: ChunkType): Generator<ChatEvent>;
  fail(error: unknown): void;
  /** Throws what went wrong where no answer came. */
  finish(): { reply: string; steps: ChatStep[]; usage: Record<string, unknown> };
}

export function createTurn(): Turn {
  const steps: ChatStep[] = [];
  const calls = new Map<string, { tool: string; input: unknown }>();
  let reply = '';
  /** Words of an earlier step, for a model that says the answer and then calls a tool. */
  let earlier = '';
  let unfinished = false;
  let ended = false;
  let usage: Record<string, unknown> = {};
  let failure: { error: unknown } | null = null;

  const step = (tool: string, input: unknown, output: unknown): ChatEvent => {
    steps.push({ tool, input, output });
    return { type: 'step', tool, input, output };
  };

  return {
    *take(chunk) {
      if (chunk.type === 'step-start') {
        if (reply.trim() !== '') earlier = reply;
        reply = '';
      } else if (chunk.type === 'text-delta') {
        reply += chunk.payload.text;
        yield { type: 'text', text: chunk.payload.text };
      } else if (chunk.type === 'tool-call') {
        calls.set(chunk.payload.toolCallId, { tool: chunk.payload.toolName, input: chunk.payload.args ?? {} });
      } else if (chunk.type === 'tool-result') {
        const { toolCallId, toolName, args, result } = chunk.payload;
        yield step(toolName, calls.get(toolCallId)?.input ?? args ?? {}, result ?? null);
      } else if (chunk.type === 'tool-error') {
        const { toolCallId, toolName, args, error } = chunk.payload;
        yield step(toolName, calls.get(toolCallId)?.input ?? args ?? {}, { error: described(error) });
      } else if (chunk.type === PRE_RECALL_CHUNK && 'data' in chunk) {
        const { query, found } = chunk.data as PreRecalled;
        yield step('pre-recall', { query }, found);
      } else if (chunk.type === 'finish') {
        ended = true;
        unfinished = chunk.payload.stepResult.reason === 'tool-calls';
        const { inputTokens, outputTokens, totalTokens } = chunk.payload.output.usage;
        usage = { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0, totalTokens: totalTokens ?? 0 };
      } else if (chunk.type === 'error') {
        failure = { error: chunk.payload.error };
      }
    },
    fail(error) {
      failure = { error };
    },
    finish() {
      if (failure) throw knownError(failure.error);
      const text = reply.trim() || (unfinished ? '' : earlier.trim());
      if (text === '' && !ended) throw endedEarly();
      return { reply: text === '' ? NO_ANSWER : text, steps, usage };
    },
  };
}

/** A stream that stopped without words and without saying so is no answer. */
const endedEarly = (): SupersededError =>
  new SupersededError('MODEL_FAILED', 'The turn ended before the model had finished.', {
    hint: 'Ask again.',
    tellCaller: true,
  });

/** What a tool's failure looks like in a step: the code and the sentence, no stack. */
function described(error: unknown): Record<string, unknown> {
  const known = knownError(error);
  if (known instanceof SupersededError) return { code: known.code, message: known.message };
  return { message: known instanceof Error ? known.message : String(known) };
}

/** The error of ours behind the framework's wrapping, or the error as it came. */
function knownError(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof SupersededError) return cause;
  }
  return error;
}
