import type { MastraModelConfig } from '@mastra/core/llm';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { type ModelSettings, modelRefused, modelUnreachable, unconfiguredModel } from './model-errors.ts';

/** The language model behind the agent, by OpenRouter; every way it fails ends in a sentence that says what to do. */

/** A call that takes longer is given up. */
export const MODEL_TIMEOUT_MS = 120_000;

/** Whether there is a model to ask: a key, or an address of your own that may need none. */
export const isConfigured = ({ apiKey, baseUrl }: ModelSettings): boolean => apiKey !== null || baseUrl !== null;

/** The configured model; without a key, one whose every answer says what to set. Never throws. */
export function createModel(settings: ModelSettings, timeoutMs = MODEL_TIMEOUT_MS): MastraModelConfig {
  if (!isConfigured(settings)) return unconfiguredModel();
  const provider = createOpenRouter({
    apiKey: settings.apiKey ?? 'none',
    ...(settings.baseUrl === null ? {} : { baseURL: settings.baseUrl }),
    fetch: withClearErrors(settings, timeoutMs),
  });
  return provider.chat(settings.model);
}

/** Turns refusals, silence and lost connections into errors that name the setting to change. */
function withClearErrors(settings: ModelSettings, timeoutMs: number): typeof fetch {
  return async (url, init) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    let response: Response;
    try {
      response = await fetch(url, { ...init, signal });
    } catch (error) {
      if (init?.signal?.aborted) throw error;
      throw modelUnreachable(settings, timeout.aborted ? timeoutMs : null, error);
    }
    if (response.ok) return response;
    throw modelRefused(settings, response, await response.text());
  };
}
