import type { MastraLanguageModel } from '@mastra/core/agent';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';

/** A language model that follows a script: one entry a call, the last one repeated. */

export interface Turn {
  text?: string;
  calls?: { tool: string; input: unknown }[];
  error?: Error;
}

type Options = Parameters<MastraLanguageModelV2Mock['doStream']>[0];
export type Prompt = Options['prompt'];

const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

export interface ScriptedModel {
  model: MastraLanguageModel;
  /** What the model was sent, call by call. */
  calls: Options[];
}

export function scriptedModel(script: readonly (Turn | ((options: Options) => Turn))[]): ScriptedModel {
  const calls: Options[] = [];
  const next = (options: Options): Turn => {
    const entry = script[Math.min(calls.length, script.length - 1)] ?? {};
    calls.push(options);
    const turn = typeof entry === 'function' ? entry(options) : entry;
    if (turn.error) throw turn.error;
    return turn;
  };
  const callsOf = (turn: Turn) =>
    (turn.calls ?? []).map(({ tool, input }, index) => ({
      type: 'tool-call' as const,
      toolCallId: `call-${calls.length}-${index}`,
      toolName: tool,
      input: JSON.stringify(input),
    }));
  const reasonOf = (turn: Turn) => (turn.calls?.length ? ('tool-calls' as const) : ('stop' as const));
  const model = new MastraLanguageModelV2Mock({
    provider: 'mock',
    modelId: 'scripted',
    doGenerate: async (options) => {
      const turn = next(options);
      const text = turn.text === undefined ? [] : [{ type: 'text' as const, text: turn.text }];
      return { content: [...text, ...callsOf(turn)], finishReason: reasonOf(turn), usage: USAGE, warnings: [] };
    },
    doStream: async (options) => {
      const turn = next(options);
      const words = turn.text === undefined ? [] : turn.text.split(/(?<= )/);
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] });
          if (words.length > 0) controller.enqueue({ type: 'text-start', id: 't' });
          for (const delta of words) controller.enqueue({ type: 'text-delta', id: 't', delta });
          if (words.length > 0) controller.enqueue({ type: 'text-end', id: 't' });
          for (const call of callsOf(turn)) controller.enqueue(call);
          controller.enqueue({ type: 'finish', finishReason: reasonOf(turn), usage: USAGE });
          controller.close();
        },
      });
      return { stream };
    },
  });
  return { model: model as MastraLanguageModel, calls };
}

/** All words of a prompt's messages with this role. */
export const wordsOf = (prompt: Prompt, role: Prompt[number]['role']): string =>
  prompt.flatMap((message) => (message.role === role ? [JSON.stringify(message.content)] : [])).join('\n');
