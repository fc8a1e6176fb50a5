import { normalisedText } from '../memory.ts';
import type { Recalled } from '../recall.ts';

/** Remembers, for the length of one request, which memories a model was shown, so that none is stored again as new. */

const shown = new WeakMap<object, Map<string, string>>();

export function noteShown(request: object | undefined, { hits }: Recalled): void {
  if (!request) return;
  const texts = shown.get(request) ?? new Map<string, string>();
  for (const { memory } of hits) if (memory.status === 'open') texts.set(normalisedText(memory.content), memory.id);
  shown.set(request, texts);
}

/** The id of the open memory with these words that this request has been shown. */
export const alreadyShown = (request: object | undefined, content: string): string | undefined =>
  request && shown.get(request)?.get(normalisedText(content));
