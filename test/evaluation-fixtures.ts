import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary.ts';

/** Made up for these tests: a key, what was said of it first and later, and a question. */
export const CHANGES = [
  ['seat', 'I always want a window seat', 'From now on book me an aisle seat', 'Which seat should be booked?'],
  ['tea', 'Green tea is what I drink at work', 'At work I drink black coffee now', 'What do I drink at work?'],
  ['gym', 'My gym day is Monday', 'My gym day moved to Thursday', 'Which day is my gym day?'],
  ['bank', 'My bank is Northern Trust', 'I left for a new bank, Harbour Savings', 'Which bank is mine?'],
  ['editor', 'I write code in Emacs', 'These days I write code in Helix', 'Where do I write code?'],
  ['pet', 'We have a cat called Miso', 'We gave Miso away and have a dog called Udon', 'Which pet do we have?'],
] as const;
const WORDS: Record<string, [now: string, then: string]> = {
  seat: ['aisle', 'window'],
  tea: ['coffee', 'green tea'],
  gym: ['thursday', 'monday'],
  bank: ['harbour', 'northern'],
  editor: ['helix', 'emacs'],
  pet: ['udon', 'a cat'],
};
const instant = (minute: number): string =>
  `2025-01-0${1 + Math.floor(minute / 1440)}T10:${String(minute % 60).padStart(2, '0')}:00`;

/** One timeline in StateBench's format, with a link between facts and unrelated talk around them. */
function timeline(index: number): object {
  const [key, then, now, question] = CHANGES[index] ?? CHANGES[0];
  const said = (minute: number, text: string, speaker = 'user') => ({
    ...{ ts: instant(minute), type: 'conversation_turn', speaker, text },
  });
  const wrote = (minute: number, value: string, name: string, supersedes: string | null) => ({
    ts: instant(minute),
    type: supersedes ? 'supersession' : 'state_write',
    writes: [{ id: 'W', layer: 'persistent_facts', key: name, value, supersedes }],
  });
  const [right, wrong] = WORDS[key] ?? ['', ''];
  return {
    id: `made-${key}`,
    track: 'supersession',
    initial_state: { persistent_facts: [{ id: 'F-1', key: 'city', value: 'Lives in Bergen', ts: instant(0) }] },
    events: [
      wrote(2, then, key, null),
      said(5, 'The weather was fine on Sunday'),
      said(6, 'Noted.', 'assistant'),
      wrote(30, now, `${key}_v2`, key),
      said(31, 'Remind me to water the plants'),
      {
        ts: instant(40),
        type: 'query',
        prompt: question,
        ground_truth: { must_mention: [right], must_not_mention: [wrong] },
      },
    ],
  };
}

export function stateBenchFile(): string {
  const file = join(temporaryFolder(), 'made.jsonl');
  writeFileSync(file, CHANGES.map((_, index) => JSON.stringify(timeline(index))).join('\n'));
  return file;
}
