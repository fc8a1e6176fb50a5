import type { InputProcessor, ProcessLLMRequestArgs } from '@mastra/core/processors';
import type { Preset } from '../aging.ts';
import { SupersededError } from '../errors.ts';
import { LIMITS } from '../fields.ts';
import { PRE_RECALL_FAILED, preRecallBlock } from '../prompts.ts';
import type { Recalled } from '../recall.ts';
import type { Superseded } from '../superseded.ts';
import { type Caller, userOf } from './identity.ts';
import { noteShown } from './shown.ts';

/**
 * Recalls each message of the user as it stands, before the model rephrases it, and puts the hits before that message.
 * The hits go to the model alone: the stored conversation never holds them.
 */

export interface PreRecallOptions {
  service: Superseded;
  preset?: Preset;
  limit?: number;
  user?: (caller: Caller) => string;
}

type Prompt = ProcessLLMRequestArgs['prompt'];

/** The chunk a stream carries when something was recalled: `data` is the query and what was found. */
export const PRE_RECALL_CHUNK = 'data-pre-recall';
export interface PreRecalled {
  query: string;
  found: Recalled;
}

export function preRecall({ service, preset = 'default', limit, user = userOf }: PreRecallOptions): InputProcessor {
  async function blockFor(query: string, args: ProcessLLMRequestArgs): Promise<string> {
    try {
      const memories = service.for(user({ requestContext: args.requestContext }), 'tool');
      const input = { query, preset, ...(limit === undefined ? {} : { limit }) };
      const found = await memories.recall(input, args.abortSignal ? { signal: args.abortSignal } : {});
      noteShown(args.requestContext, found);
      await args.writer?.custom({ type: PRE_RECALL_CHUNK, data: { query, found }, transient: true });
      return preRecallBlock(found);
    } catch (error) {
      if (args.abortSignal?.aborted || !(error instanceof SupersededError)) throw error;
      return PRE_RECALL_FAILED;
    }
  }

  return {
    id: 'pre-recall',
    name: 'Recall before the message',
    async processLLMRequest(args: ProcessLLMRequestArgs) {
      const asked = lastQuestion(args.prompt);
      if (asked === null) return undefined;
      const known = args.state.query === asked.query && typeof args.state.block === 'string';
      const block = known ? String(args.state.block) : await blockFor(asked.query, args);
      Object.assign(args.state, { query: asked.query, block });
      return block === '' ? undefined : { prompt: withBlock(args.prompt, asked.index, block) };
    },
  };
}

/** Where the user's last message stands and its words, cut to what recall takes; null where it has none. */
function lastQuestion(prompt: Prompt): { index: number; query: string } | null {
  const index = prompt.findLastIndex(({ role }) => role === 'user');
  const message = prompt[index];
  if (message?.role !== 'user') return null;
  const words = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const query = [...words.toWellFormed().replaceAll('\u0000', ' ').trim()].slice(0, LIMITS.query).join('').trim();
  return query === '' ? null : { index, query };
}

const withBlock = (prompt: Prompt, index: number, block: string): Prompt =>
  prompt.map((message, at) =>
    at === index && message.role === 'user'
      ? { ...message, content: [{ type: 'text', text: block }, ...message.content] }
      : message,
  );
