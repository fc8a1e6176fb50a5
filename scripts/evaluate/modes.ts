import type { Asked, Entry, Life } from './datasets.ts';

/** What is linked when a life is written: nothing, what the data links, or what its labels say should be. */

export const MODES = ['ranking', 'linked', 'oracle'] as const;
export type Mode = (typeof MODES)[number];

/** A life as it is written: which open entries each one supersedes. */
export interface Script {
  user: string;
  steps: { entry: Entry; supersedes: string[] }[];
  questions: Asked[];
}

/** Labels belong to a question, so `oracle` plays each question in a life of its own. */
export function scriptsOf({ user, entries, questions }: Life, mode: Mode): Script[] {
  if (mode !== 'oracle') {
    return [{ user, questions, steps: closingOnce(entries, (entry) => (mode === 'linked' ? entry.replaces : [])) }];
  }
  return questions.map((asked, index) => ({
    user: questions.length === 1 ? user : `${user}.${index}`,
    questions: [asked],
    steps: closingOnce(entries, oracle(asked)),
  }));
}

/** Each stale memory is superseded by the first current memory recorded after it. */
function oracle({ current, stale }: Asked): (entry: Entry, before: readonly Entry[]) => string[] {
  const [held, outdated] = [new Set(current), new Set(stale)];
  return (entry, before) => (held.has(entry.id) ? before.filter(({ id }) => outdated.has(id)).map(({ id }) => id) : []);
}

/** A memory is closed once: the first successor named for it wins. */
function closingOnce(
  entries: readonly Entry[],
  targetsOf: (entry: Entry, before: readonly Entry[]) => string[],
): Script['steps'] {
  const closed = new Set<string>();
  return entries.map((entry, index) => {
    const supersedes = targetsOf(entry, entries.slice(0, index)).filter((id) => !closed.has(id));
    for (const id of supersedes) closed.add(id);
    return { entry, supersedes };
  });
}

/** Whether every stale memory of the question was superseded in this script before it was asked. */
export function allLinked({ steps }: Script, asked: Asked): boolean {
  const closed = new Set(steps.filter(({ entry }) => entry.at <= asked.at).flatMap(({ supersedes }) => supersedes));
  return asked.stale.length > 0 && asked.stale.every((id) => closed.has(id));
}
