/**
 * A scripted stand-in for a language model: rules, no model. It reads what an agent sends (words and tool results),
 * calls recall and remember as an agent would, and builds its answer from what they returned. Pure.
 */

export interface Message {
  role: string;
  content: string;
}

export interface StandInReply {
  text: string;
  calls: { tool: string; input: Record<string, unknown> }[];
}

export const SCRIPTED = 'I am a scripted stand-in, not a language model.';

export interface Seen {
  id: string;
  age: string;
  topic: string;
  status: string;
  about: string;
  title: string;
  content: string;
}

/** What the traveller's memories can say about one side of a day, and the question that finds it. */
const THEMES = [
  {
    name: 'walking',
    question: 'Are long walks welcome, and how is my knee?',
    about: /walk|knee|steps|miles|on foot/i,
    no: /injur|at most|no steep|no long walk/i,
    yes: /healed|welcome|entire city|miles between|on foot/i,
  },
  {
    name: 'museums',
    question: 'Which museums should I visit?',
    about: /museum|galler/i,
    no: /stop routing|no museum|had my fill|do not want/i,
    yes: /first for me|museum|galler/i,
  },
  {
    name: 'tickets',
    question: 'Should we pre-book tickets for attractions?',
    about: /ticket|pre-?book|timed entry/i,
    no: /skip|no alcatraz|nothing with a timed/i,
    yes: /pre-?booked|reserve|ticket/i,
  },
  {
    name: 'evenings',
    question: 'Should I go to a late show in the evening?',
    about: /late show|after 9|evening|night/i,
    no: /nothing after|sleep badly|lights out/i,
    yes: /late|nights? are|evening/i,
  },
] as const;
type Theme = (typeof THEMES)[number]['name'];

const LANDMARKS = { query: 'Places to see in San Francisco', topics: ['landmark'], limit: 20 };

const PLAN = /\b(plan|itinerary|free day|what should (?:i|we) do)\b/i;
const CHANGE = /\b(healed|again|no longer|any ?more|changed my mind|not any|from now on|these days|instead)\b/i;
const STATEMENT = /^\s*(?:my|i|we|our)\b[^?]*$/i;

/** The next turn of the stand-in: more tool calls, or the answer. */
export function standIn(messages: readonly Message[], canCall: boolean): StandInReply {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const words = messages[asked]?.content ?? '';
  const results = messages.slice(asked + 1).filter(({ role }) => role === 'tool');
  const seen = memoriesIn(results.map(({ content }) => content).join('\n'));
  if (!canCall) return say('I have no tools, so I know nothing about you.');
  if (PLAN.test(words) && !CHANGE.test(words)) return results.length === 0 ? planCalls(words) : say(dayFrom(results));
  if (results.length === 0) return call({ tool: 'recall', input: { query: words } });
  if (!STATEMENT.test(words)) return say(answerFrom(seen));
  const written = results.find(({ content }) => /^(Remembered as|The same was|Nothing new)/.test(content));
  if (written) return say(`Noted. ${written.content.split('\n')[0] ?? ''}`);
  return call({ tool: 'remember', input: statement(words, seen) });
}

const say = (text: string): StandInReply => ({ text: `${SCRIPTED} ${text}`, calls: [] });
const call = (...calls: StandInReply['calls']): StandInReply => ({ text: '', calls });

const planCalls = (words: string): StandInReply =>
  call(
    { tool: 'recall', input: { query: words } },
    ...THEMES.map(({ question }) => ({ tool: 'recall', input: { query: question, kinds: ['episodic'] } })),
    { tool: 'recall', input: LANDMARKS },
  );

/** What to remember: the user's words, in place of the open memory they share most with where they tell of a change. */
function statement(words: string, seen: readonly Seen[]): Record<string, unknown> {
  const own = seen.filter(({ about, status }) => about === 'the user' && status === 'open');
  const shared = (memory: Seen) =>
    [...stems(words)].filter((stem) => stems(`${memory.title} ${memory.content}`).has(stem));
  const [closest] = CHANGE.test(words)
    ? own
        .map((memory) => ({ memory, score: shared(memory).length / Math.sqrt(stems(memory.content).size) }))
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score)
    : [];
  const replaced = closest ? { topic: closest.memory.topic, supersedes: [closest.memory.id] } : { topic: 'preference' };
  return { content: words.trim(), ...replaced };
}

const COMMON = new Set(
  'again have that this with from them they what when where will would there here just been welcome'.split(' '),
);
const stems = (text: string): Set<string> =>
  new Set(
    (text.toLowerCase().match(/[a-z]{4,}/g) ?? [])
      .filter((word) => !COMMON.has(word))
      .map((word) => word.replace(/(?:ing|ed|s)$/, '')),
  );

/** A day from the recalled memories: on each theme the best-ranked one that speaks of it is believed. */
function dayFrom(results: readonly Message[]): string {
  const answers = results.map(({ content }) => memoriesIn(content));
  const beliefs = THEMES.map((theme, index) => {
    const hits = (answers[index + 1] ?? []).filter(({ about }) => about === 'the user');
    const memory = hits.find(({ content, title }) => theme.about.test(`${title} ${content}`));
    const wanted = memory !== undefined && !theme.no.test(memory.content) && theme.yes.test(memory.content);
    return { theme: theme.name, memory, wanted };
  });
  const wants = (name: Theme) => beliefs.some(({ theme, wanted }) => theme === name && wanted);
  const places = (answers.at(-1) ?? []).filter(({ about }) => about === 'places');
  const kinds = new Map(places.map((place) => [place, kindOf(place)]));
  const fits = places.filter((place) => {
    const kind = kinds.get(place);
    if (kind?.show) return false;
    return (
      !(kind?.museum && !wants('museums')) &&
      !(kind?.ticket && !wants('tickets')) &&
      !(kind?.strenuous && !wants('walking'))
    );
  });
  const pull = (place: Seen) => {
    const kind = kinds.get(place);
    return (
      (kind?.ticket && wants('tickets') ? 1 : 0) +
      (kind?.museum && wants('museums') ? 2 : 0) +
      (kind?.strenuous && wants('walking') ? 2 : 0)
    );
  };
  const chosen = fits
    .map((place, index) => ({ place, index }))
    .sort((a, b) => pull(b.place) - pull(a.place) || a.index - b.index);
  const stops = ['Morning', 'Midday', 'Afternoon'].flatMap((time, index) => {
    const place = chosen[index]?.place;
    return place ? [`${time}: ${place.title}.`] : [];
  });
  const show = places.find((place) => kinds.get(place)?.show);
  const evening =
    wants('evenings') && show
      ? `Evening: a late show at ${show.title}.`
      : 'Evening: dinner by seven, back before nine.';
  const why = beliefs.flatMap(({ theme, memory }) =>
    memory ? [`${theme}: “${memory.title || memory.content}” (${memory.id}, ${memory.age})`] : [],
  );
  const way = wants('walking') ? 'On foot all day.' : 'Short level walks, by Muni between the stops.';
  if (stops.length === 0) return 'Nothing in memory helps me plan a day. What do you like?';
  return ['A free day in San Francisco.', ...stops, evening, way, `What I went by: ${why.join('; ')}.`].join('\n');
}

const kindOf = ({ title, content }: Seen) => ({
  museum: /museum|galler|exhibit/i.test(`${title} ${content}`),
  ticket: /ticket is needed|need a ticket|needs a ticket|ticketed/i.test(content),
  strenuous: /steep|many steps|trail|miles long|stairs/i.test(content),
  show: /\bshows\b[^.]*evening|ticketed shows/i.test(content),
});

function answerFrom(seen: readonly Seen[]): string {
  const [best, ...rest] = seen;
  if (!best) return 'Nothing in memory answers that.';
  const others = rest.slice(0, 2).map(({ title, id }) => title || id);
  return `What memory says first (${best.id}, ${best.age}): ${best.content}${others.length > 0 ? `\nAlso: ${others.join('; ')}.` : ''}`;
}

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/** The memories that a tool's answer shows, in their order. */
export function memoriesIn(text: string): Seen[] {
  return [...text.matchAll(/<memory ([^>]*)>\n([\s\S]*?)\n<\/memory>/g)].map(([, attributes = '', content = '']) => {
    const named = (name: string) => unescaped(new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? '');
    const words = { id: named('id'), age: named('age'), topic: named('topic'), status: named('status') };
    return { ...words, about: named('about'), title: named('title'), content: unescaped(content) };
  });
}
