import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Kind } from '../../src/memory.ts';
import { readMemories, readQuestions } from '../../src/seeds.ts';

/** Readers of the evaluation sets: every one becomes lives, each with dated memories and dated questions. */

/** One memory to write. */
export interface Entry {
  id: string;
  title: string | null;
  content: string;
  tags: string[];
  kind: Kind;
  topic: string;
  /** When it was recorded, in milliseconds since 1970. */
  at: number;
  /** Ids of earlier entries that the data itself says this one replaces. */
  replaces: string[];
}

/** One question with what answers it and what used to. */
export interface Asked {
  id: string;
  question: string;
  at: number;
  current: string[];
  /** Empty where the set has no notion of it. */
  stale: string[];
  /** What the bootstrap resamples: the prompt, or the conversation. */
  group: string;
  track: string;
  kinds: Kind[];
  topics: string[];
}

/** All that one user says and asks. */
export interface Life {
  user: string;
  entries: Entry[];
  questions: Asked[];
}

const text = z.string().transform((value) => value.trim());
const fact = z.object({ id: z.string(), key: z.string(), value: text, ts: z.string() });
const write = z.object({
  id: z.string(),
  key: z.string(),
  value: text,
  layer: z.string(),
  supersedes: z.string().nullable(),
});
const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('conversation_turn'), ts: z.string(), speaker: z.string(), text }),
  z.object({ type: z.enum(['state_write', 'supersession']), ts: z.string(), writes: z.array(write) }),
  z.object({
    type: z.literal('query'),
    ts: z.string(),
    prompt: text,
    ground_truth: z.object({ must_mention: z.array(z.string()), must_not_mention: z.array(z.string()) }),
  }),
]);
const timeline = z.object({
  id: z.string(),
  track: z.string(),
  initial_state: z.object({ persistent_facts: z.array(fact) }),
  events: z.array(event),
});
type Timeline = z.output<typeof timeline>;

/** The data's instants have no zone; they are read as UTC. */
const utc = (instant: string): number => Date.parse(`${instant.replace(/Z$/, '')}Z`);

interface Written extends Omit<Entry, 'id'> {
  names: string[];
  target: string | null;
}

/** StateBench: `gap` stretches all distances from the timeline's first instant. Lives without a usable question are left out. */
export function readStateBench(file: string, gap = 1): Life[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const timelines = lines.filter((line) => line.trim() !== '').map((line) => timeline.parse(JSON.parse(line)));
  return timelines.map((one) => toLife(one, gap)).filter(({ questions }) => questions.length > 0);
}

function toLife({ id, track, initial_state, events }: Timeline, gap: number): Life {
  const written = writtenOf(initial_state.persistent_facts, events).sort((a, b) => a.at - b.at);
  const asked = events.flatMap((one) => (one.type === 'query' ? [{ ...one, at: utc(one.ts) }] : []));
  const start = Math.min(...written.map(({ at }) => at), ...asked.map(({ at }) => at));
  const stretch = (at: number): number => start + (at - start) * gap;
  const nameOf = (index: number): string => `m${String(index).padStart(3, '0')}`;
  const entries = written.map(({ names: _, target, ...entry }, index): Entry => {
    const earlier = target === null ? -1 : written.slice(0, index).findLastIndex(({ names }) => names.includes(target));
    return { ...entry, id: nameOf(index), at: stretch(entry.at), replaces: earlier < 0 ? [] : [nameOf(earlier)] };
  });
  const questions = asked.map(({ prompt, at, ground_truth }, index): Asked => {
    const mentions = (words: string[], content: string): boolean =>
      words.some((word) => content.toLowerCase().includes(word.toLowerCase()));
    const { must_mention: right, must_not_mention: wrong } = ground_truth;
    const known = entries.filter((entry) => entry.at <= stretch(at));
    const holding = (yes: string[], no: string[]): string[] =>
      known.filter(({ content }) => mentions(yes, content) && !mentions(no, content)).map((entry) => entry.id);
    const [current, stale] = [holding(right, wrong), holding(wrong, right)];
    const name = `${id}.q${index}`;
    return { id: name, question: prompt, at: stretch(at), current, stale, group: prompt, track, kinds: [], topics: [] };
  });
  return { user: id, entries, questions: questions.filter(({ current, stale }) => current.length && stale.length) };
}

function writtenOf(facts: Timeline['initial_state']['persistent_facts'], events: Timeline['events']): Written[] {
  const plain = { title: null, tags: [], kind: 'episodic', topic: 'general', replaces: [] } as const;
  const entry = (content: string, at: number, names: string[], target: string | null): Written => ({
    ...plain,
    tags: [],
    replaces: [],
    content,
    at,
    names,
    target,
  });
  return [
    ...facts.map(({ id, key, value, ts }) => entry(value, utc(ts), [id, key], null)),
    ...events.flatMap((one): Written[] => {
      if (one.type === 'query') return [];
      if (one.type === 'conversation_turn')
        return one.speaker === 'user' ? [entry(one.text, utc(one.ts), [], null)] : [];
      return one.writes.map(({ id, key, value, layer, supersedes }) => {
        const linkable = layer === 'persistent_facts';
        return entry(value, utc(one.ts), linkable ? [id, key] : [], linkable ? supersedes : null);
      });
    }),
  ];
}

const turn = z.object({ speaker: z.string(), dia_id: z.string(), text, blip_caption: z.string().optional() });
type Turn = z.output<typeof turn>;
const conversation = z.object({
  sample_id: z.string(),
  conversation: z.record(z.string(), z.unknown()),
  qa: z.array(z.object({ question: text, category: z.number(), evidence: z.array(z.string()) })),
});
const ADVERSARIAL = 5;

const withSpeaker = ({ speaker, text: said }: Pick<Turn, 'speaker' | 'text'>): string => `${speaker}: ${said}`;

/** What of a turn becomes the memory: speaker and words; the caption of its photo too; the words alone. */
export const TURN_FORMS = {
  spoken: withSpeaker,
  captioned: (said: Turn) => (said.blip_caption ? `${withSpeaker(said)} [${said.blip_caption}]` : withSpeaker(said)),
  bare: (said: Turn) => said.text,
} as const;

/** LoCoMo: each turn a memory of topic `event`, dated by its session; asked `later` ms after the last session. */
export function readLocomo(file: string, later = 0, form: keyof typeof TURN_FORMS = 'spoken'): Life[] {
  return z
    .array(conversation)
    .parse(JSON.parse(readFileSync(file, 'utf8')))
    .map(({ sample_id: user, conversation: sessions, qa }) => {
      const entries = Object.entries(sessions).flatMap(([name, turns]): Entry[] => {
        if (!/^session_\d+$/.test(name)) return [];
        const at = parseSpokenDate(z.string().parse(sessions[`${name}_date_time`]));
        return z
          .array(turn)
          .parse(turns)
          .map((said) => ({
            id: said.dia_id,
            title: null,
            content: TURN_FORMS[form](said),
            tags: [],
            kind: 'episodic',
            topic: 'event',
            at,
            replaces: [],
          }));
      });
      entries.sort((a, b) => a.at - b.at);
      const ids = new Set(entries.map(({ id }) => id));
      const at = Math.max(...entries.map((entry) => entry.at)) + later;
      const questions = qa.flatMap(({ question, category, evidence }, index): Asked[] => {
        const found = evidence.flatMap((said) => said.match(/D\d+:\d+/g) ?? []).filter((id) => ids.has(id));
        if (category === ADVERSARIAL || found.length === 0) return [];
        const [current, track] = [[...new Set(found)], `category-${category}`];
        return [
          { id: `${user}.q${index}`, question, at, current, stale: [], group: user, track, kinds: [], topics: [] },
        ];
      });
      return { user, entries, questions };
    });
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** Reads `1:56 pm on 8 May, 2023` as UTC. */
export function parseSpokenDate(spoken: string): number {
  const [, hour, minute, half, day, month, year] =
    /^(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)$/.exec(spoken.trim()) ?? [];
  const at = MONTHS.indexOf(month ?? '');
  if (at < 0) throw new Error(`"${spoken}" is no date of the form "1:56 pm on 8 May, 2023".`);
  return Date.UTC(Number(year), at, Number(day), (Number(hour) % 12) + (half === 'pm' ? 12 : 0), Number(minute));
}

/** The seeds, or any two files in the format of `compare`. A user's own and the shared memories make one life. */
export function readCompared(memoriesFile: string, questionsFile: string, now: number): Life[] {
  const memories = readMemories(memoriesFile);
  const questions = readQuestions(questionsFile, memories);
  return [...new Set(questions.map(({ scope }) => scope))].map((scope) => ({
    user: scope.replace(/^user:/, ''),
    entries: memories
      .filter((memory) => memory.scope === scope || memory.scope === 'shared')
      .map(({ ageDays, scope: _, ...memory }) => ({
        ...memory,
        at: Math.round(now - ageDays * 86_400_000),
        replaces: [],
      }))
      .sort((a, b) => a.at - b.at),
    questions: questions
      .filter((one) => one.scope === scope)
      .map(({ id, question, current, stale, kinds, topics }) => ({
        ...{ id, question, at: now, current: [current].flat(), stale: stale === null ? [] : [stale] },
        ...{ group: [current].flat().join(' '), track: 'seeds', kinds, topics },
      })),
  }));
}
