import { PRESETS } from '../../src/aging.ts';
import { iso, passageOf } from '../../src/memory.ts';
import { rank } from '../../src/recall.ts';
import { MOST_CANDIDATES, type Parts } from '../../src/score.ts';
import { createEmbeddedStore } from '../../src/stores/embedded.ts';
import { createSuperseded, type Superseded } from '../../src/superseded.ts';
import type { Asked, Entry } from './datasets.ts';
import { allLinked, type Script } from './modes.ts';
import { cosineOf, type Progress, type Vectors } from './vectors.ts';

/** Lives a script: writes through the verbs, each at its instant, then asks every question at its own. */

/** A memory a question could have found: recorded by then, of the kinds and topics asked for. */
export interface Known {
  id: string;
  at: number;
  topic: string;
  cosine: number;
}

export interface Candidate extends Known, Parts {
  score: number;
}

export interface Answer {
  user: string;
  asked: Asked;
  /** All candidates of the question, in the store's order under the default windows. */
  ranked: Candidate[];
  known: Known[];
  /** Whether each stale memory had been superseded by then. */
  allLinked: boolean;
  ms: number;
}

export interface Played {
  answers: Answer[];
  /** Milliseconds of each write. */
  writes: number[];
}

export function openService(file: string, vectors: Vectors): Superseded {
  const { embedder } = vectors;
  return createSuperseded({ store: createEmbeddedStore({ file, model: () => embedder.model() }), embedder });
}

/** Most memories one verb supersedes. */
const MOST_TARGETS = 16;

export async function play(
  service: Superseded,
  scripts: readonly Script[],
  vectors: Vectors,
  onProgress?: Progress,
): Promise<Played> {
  const writes: number[] = [];
  for (const [index, script] of scripts.entries()) {
    const user = service.for(script.user, 'import');
    for (const { entry, supersedes } of script.steps) {
      const started = performance.now();
      const [first, rest] = [supersedes.slice(0, MOST_TARGETS), supersedes.slice(MOST_TARGETS)];
      const { id, title, content, tags, kind, topic } = entry;
      const recordedAt = iso(entry.at);
      const links = first.length > 0 ? { supersedes: first } : {};
      await user.remember({ id, title, content, tags, kind, topic, recordedAt, allowSecret: true, ...links });
      if (rest.length > 0) await user.supersede(id, { targets: rest, recordedAt });
      writes.push(performance.now() - started);
    }
    onProgress?.('Writing lives', index + 1, scripts.length);
  }
  const answers: Answer[] = [];
  for (const [index, script] of scripts.entries()) {
    for (const asked of script.questions) answers.push(await ask(service, script, asked, vectors));
    onProgress?.('Asking lives', index + 1, scripts.length);
  }
  return { answers, writes };
}

async function ask(service: Superseded, script: Script, asked: Asked, vectors: Vectors): Promise<Answer> {
  const actor = await service.actor(`user:${script.user}`, script.user, 'library');
  const { question: query, kinds, topics, at } = asked;
  const request = { query, kinds, topics, tags: [], includeHistory: false, strict: false, aging: PRESETS.default };
  const started = performance.now();
  const { ranked } = await rank(actor, { ...request, asOf: at, knownAt: at, limit: MOST_CANDIDATES });
  const ms = performance.now() - started;
  const vector = vectors.query(query);
  const known = script.steps
    .map(({ entry }) => entry)
    .filter((entry) => entry.at <= at && accepts(asked, entry))
    .map((entry) => ({ id: entry.id, at: entry.at, topic: entry.topic, cosine: cosine(entry) }));
  function cosine(entry: Entry): number {
    return cosineOf(vector, vectors.passage(passageOf(entry)));
  }
  const byId = new Map(known.map((one) => [one.id, one]));
  const candidates = ranked.flatMap(({ row, ...parts }): Candidate[] => {
    const one = byId.get(row.id);
    return one ? [{ ...one, ...parts }] : [];
  });
  return { user: script.user, asked, ranked: candidates, known, allLinked: allLinked(script, asked), ms };
}

const accepts = ({ kinds, topics }: Asked, entry: Entry): boolean =>
  (kinds.length === 0 || kinds.includes(entry.kind)) && (topics.length === 0 || topics.includes(entry.topic));
