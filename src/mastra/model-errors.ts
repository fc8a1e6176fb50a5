import type { MastraLanguageModel } from '@mastra/core/agent';
import type { Config } from '../config.ts';
import { type ErrorCode, SupersededError } from '../errors.ts';

/** What a user is told where the language model is missing, refuses or is silent. */

export type ModelSettings = Config['openRouter'];

/** The code of a model that failed for reasons that are not the caller's. */
const MODEL_FAILED: ErrorCode = 'MODEL_FAILED';

export const NO_MODEL = 'No language model is configured, so the agent cannot answer.';
export const NO_MODEL_HINT =
  'Set OPENROUTER_API_KEY in .env (see .env.example) and start again; npm run demo shows everything without a key.';

export const noModel = (): SupersededError =>
  new SupersededError('CONFIGURATION', NO_MODEL, { hint: NO_MODEL_HINT, tellCaller: true });

/** The error for an answer of OpenRouter that is no success; its words are passed on, without anything secret. */
export function modelRefused({ model }: ModelSettings, { status }: Pick<Response, 'status'>, body: string) {
  const said = saidIn(body);
  const error = (code: ErrorCode, message: string, hint: string) =>
    new SupersededError(code, message, { hint, tellCaller: true });
  if (status === 401 || status === 403) {
    return error('CONFIGURATION', `OpenRouter refused the key${said}.`, 'Check OPENROUTER_API_KEY.');
  }
  if (status === 402) {
    return error(
      'CONFIGURATION',
      `OpenRouter asks for payment${said}.`,
      'Add credits, or set OPENROUTER_MODEL to a free one.',
    );
  }
  if (status === 404 && /tool/i.test(body)) {
    return error(
      'UNSUPPORTED',
      `The model ${model} cannot call tools, and the memory is used by tools${said}.`,
      'Set OPENROUTER_MODEL to one that lists tools among its parameters, such as openai/gpt-5-mini.',
    );
  }
  if (status === 404)
    return error('CONFIGURATION', `OpenRouter knows no model ${model}${said}.`, 'Check OPENROUTER_MODEL.');
  if (status === 429) {
    return error(
      'RATE_LIMITED',
      `The model ${model} takes no more requests for now${said}.`,
      'Wait a little, then ask again.',
    );
  }
  if (status < 500) {
    return error(MODEL_FAILED, `The model ${model} refused the request (${status})${said}.`, 'Check OPENROUTER_MODEL.');
  }
  return error(
    MODEL_FAILED,
    `The model ${model} failed (${status})${said}.`,
    'Ask again; if it goes on, change OPENROUTER_MODEL.',
  );
}

export function modelUnreachable({ model, baseUrl }: ModelSettings, timeoutMs: number | null, cause: unknown) {
  const message =
    timeoutMs === null
      ? `The model service ${baseUrl === null ? 'OpenRouter' : 'at OPENROUTER_BASE_URL'} cannot be reached.`
      : `The model ${model} did not answer within ${timeoutMs / 1000} seconds.`;
  const hint = baseUrl === null ? 'Check the network, then ask again.' : 'Check OPENROUTER_BASE_URL, then ask again.';
  return new SupersededError(MODEL_FAILED, message, { hint, cause });
}

/** The message in an error body, shortened; empty where there is none. */
function saidIn(body: string): string {
  const message = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(body)?.[1];
  return message ? `: ${message.slice(0, 200).replace(/[.\s]+$/, '')}` : '';
}

const USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** A model that is none: it answers every message with what to set, so that Studio says it where people look. */
export function unconfiguredModel(): MastraLanguageModel {
  const text = `${NO_MODEL} ${NO_MODEL_HINT}`;
  const whole = { content: [{ type: 'text', text }], finishReason: 'stop', usage: USAGE, warnings: [] };
  const parts = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: text },
    { type: 'text-end', id: '0' },
    { type: 'finish', finishReason: 'stop', usage: USAGE },
  ] as const;
  const stream = () =>
    new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    });
  return {
    specificationVersion: 'v2',
    provider: 'superseded',
    modelId: 'none',
    supportedUrls: {},
    doGenerate: async () => ({ ...whole, stream: stream() }),
    doStream: async () => ({ stream: stream() }),
  };
}
