import { adviceOn, measure, type Probe } from './calibration.ts';
import type { Embedder } from './embedder.ts';
import { SupersededError } from './errors.ts';
import type { Check, MemoryStore } from './store.ts';

/** A table of checks: each says what it found, or fails with a recommendation. The whole table, whatever fails. */

export interface Examined {
  title: string;
  ok: boolean;
  /** What was found, or what went wrong. */
  note: string;
  /** What to do about it; null where nothing is wrong. */
  advice: string | null;
}

export async function examine(checks: readonly Check[]): Promise<Examined[]> {
  const examined: Examined[] = [];
  for (const { title, run } of checks) {
    try {
      examined.push({ title, ok: true, note: await run(), advice: null });
    } catch (error) {
      const known = error instanceof SupersededError;
      const note = error instanceof Error ? error.message : String(error);
      examined.push({ title, ok: false, note, advice: (known ? error.hint : undefined) ?? 'See the message.' });
    }
  }
  return examined;
}

/** What a store needs from its model, whoever embeds. */
export function modelChecks(store: MemoryStore, embedder: Embedder | null, probes: readonly Probe[]): Check[] {
  return [
    {
      title: 'embedding',
      async run() {
        const start = performance.now();
        const [vector] = await embed(store, embedder, 'query', ['Does it embed?']);
        const took = Math.round(performance.now() - start);
        return `${(await store.model()).name}, ${vector?.length ?? 0} dimensions, ${took} ms for a question, ${store.embeds} side`;
      },
    },
    {
      title: 'calibration',
      async run() {
        const model = await store.model();
        const questions = await embed(
          store,
          embedder,
          'query',
          probes.map(({ question }) => question),
        );
        const answers = await embed(
          store,
          embedder,
          'passage',
          probes.map(({ answer }) => answer),
        );
        const again = await embed(
          store,
          embedder,
          'passage',
          probes.map((probe) => probe.again),
        );
        const measured = measure(questions, answers, again);
        const { background, answer, duplicate, unrelated } = measured;
        const found =
          `unrelated ${background.toFixed(2)} (lo ${model.lo}), answers up to ${answer.toFixed(2)} (hi ${model.hi}), ` +
          `near-duplicates from ${duplicate.toFixed(2)}, others up to ${unrelated.toFixed(2)} (near-duplicate ${model.nearDuplicate})`;
        const advice = adviceOn(measured, model);
        if (advice.length === 0) return found;
        throw new SupersededError('CONFIGURATION', `The calibration does not fit ${model.name}: ${found}.`, {
          hint: `Set ${advice.join(', ')}.`,
        });
      },
    },
  ];
}

async function embed(
  store: MemoryStore,
  embedder: Embedder | null,
  kind: 'query' | 'passage',
  texts: readonly string[],
): Promise<Float32Array[]> {
  if (embedder === null) return store.embed(kind, texts);
  if (kind === 'passage') return embedder.embedPassages(texts);
  return Promise.all(texts.map((text) => embedder.embedQuery(text)));
}
