import { PRESETS, type Preset } from '../aging.ts';
import {
  type ComparedHit,
  type ComparedPreset,
  type ComparedQuestion,
  type Comparison,
  candidatesKey,
  isCurrentAboveStale,
} from '../comparison.ts';
import { ageWeightOf } from '../score.ts';
import type { Question, SeedMemory } from '../seeds.ts';
import { cut, type Printer } from './print.ts';

/** The comparison as a page of at most 100 columns; pure. */

const WIDTH = 100;
const RULE = '─'.repeat(WIDTH);
const MS_PER_DAY = 86_400_000;

/** What `compare --json` prints. */
export interface Compared {
  now: string;
  store: string;
  model: string;
  presets: ComparedPreset[];
}

interface Page {
  compared: Compared;
  candidates: Comparison['candidates'];
  memories: ReadonlyMap<string, SeedMemory>;
  questions: readonly Question[];
  limit: number;
  colour: Printer['colour'];
}

export function describeComparison(
  compared: Compared,
  { candidates }: Comparison,
  inputs: { memories: readonly SeedMemory[]; questions: readonly Question[]; limit: number },
  colour: Printer['colour'],
): string {
  const memories = new Map(inputs.memories.map((memory) => [memory.id, memory]));
  const page: Page = { compared, candidates, memories, questions: inputs.questions, limit: inputs.limit, colour };
  const sections = [heading(page), ...reversals(page), summary(page), room(page), halfLife(page), next(page)];
  return sections.filter((section) => section !== '').join('\n\n');
}

function heading({ compared, memories, questions, colour }: Page): string {
  const about = `${compared.store} store · ${compared.model} · ${memories.size} memories · ${questions.length} questions`;
  return [
    `${colour.bold('Superseded')}  the same questions, three ways to age`,
    colour.dim(about),
    colour.dim(`clock ${compared.now} · nothing links old to new, nothing is edited or deleted`),
  ].join('\n');
}

/** One block per stale memory: its first question under every preset. */
function reversals(page: Page): string[] {
  const seen = new Set<string>();
  return page.questions.flatMap((asked) => {
    if (asked.stale === null || seen.has(asked.stale)) return [];
    seen.add(asked.stale);
    return [reversal(page, asked, asked.stale)];
  });
}

function reversal(page: Page, asked: Question, stale: string): string {
  const { colour, compared, candidates } = page;
  const [current = ''] = [asked.current].flat();
  const lines = compared.presets.flatMap(({ name, questions }) => {
    const hits = candidates.get(candidatesKey(name, asked.id)) ?? [];
    const question = questions.find(({ id }) => id === asked.id);
    const right = question !== undefined && isCurrentAboveStale(question);
    const row = (id: string, label: string, first: boolean) => memoryLine(page, hits, id, label, first ? name : '');
    const both = [row(stale, 'stale', true), row(current, 'current', false)];
    return both.map((line, index) =>
      index === (right ? 1 : 0) ? (right ? colour.green(line) : colour.red(line)) : line,
    );
  });
  return [
    colour.bold(`“${cut(asked.question, WIDTH - 2)}”`),
    named(page, 'stale  ', stale),
    named(page, 'current', current),
    colour.dim('  preset         memory   rank   score  = relevance  (lexical  semantic)  × age weight  × trust'),
    ...lines,
  ].join('\n');
}

function named({ memories, colour }: Page, label: string, id: string): string {
  const memory = memories.get(id);
  const age = `${memory?.ageDays ?? '?'} days old`;
  return `  ${colour.dim(label)}  ${age.padEnd(13)} ${cut(memory?.content ?? id, WIDTH - 25)}`;
}

function memoryLine(_page: Page, hits: readonly ComparedHit[], id: string, label: string, preset: string): string {
  const hit = hits.find((candidate) => candidate.id === id);
  const start = `  ${preset.padEnd(14)} ${label.padEnd(8)}`;
  if (!hit) return `${start}  not found`;
  const { rank, score, relevance, lexical, semantic, ageWeight, trust } = hit;
  const parts = `(${lexical.toFixed(4).padStart(7)}  ${semantic.toFixed(4).padStart(8)})`;
  return `${start}${`#${rank}`.padStart(5)}  ${score.toFixed(4)}  = ${relevance.toFixed(4).padStart(9)}  ${parts}  × ${ageWeight.toFixed(4).padStart(10)}  × ${trust.toFixed(2).padStart(5)}`;
}

function summary({ compared, colour }: Page): string {
  if (!compared.presets.some(({ total }) => total > 0)) return '';
  const lines = compared.presets.map(({ name, total, currentAboveStale, currentFirst, questions }) => {
    const first = firstPhrasings(questions);
    const stale = first.filter((question) => !isCurrentAboveStale(question)).length;
    const won = stale === 0 ? first.length : stale;
    const verdict = `the ${stale === 0 ? 'current' : 'stale'} memory wins ${won} of ${first.length}`;
    const rest = `current ahead in ${`${currentAboveStale}`.padStart(2)} of ${total}, first in ${`${currentFirst}`.padStart(2)}`;
    return `  ${name.padEnd(14)} ${(stale === 0 ? colour.green : colour.red)(verdict.padEnd(31))} ${rest}`;
  });
  const head = colour.dim(`  ${'preset'.padEnd(14)} ${'asked once'.padEnd(31)} asked in all phrasings`);
  return [colour.dim(RULE), head, ...lines].join('\n');
}

function firstPhrasings(questions: readonly ComparedQuestion[]): ComparedQuestion[] {
  const seen = new Set<string>();
  return questions.filter(({ stale }) => {
    if (stale === null || seen.has(stale.id)) return false;
    seen.add(stale.id);
    return true;
  });
}

/** A limit is a failure of its own: what fits into the hits of a question with several current answers. */
function room(page: Page): string {
  const asked = page.questions.find(({ current }) => Array.isArray(current) && current.length > 1);
  const preset = page.compared.presets.find(({ name }) => name === 'default') ?? page.compared.presets.at(-1);
  if (!asked || !preset) return '';
  const hits = page.candidates.get(candidatesKey(preset.name, asked.id)) ?? [];
  const wanted = [asked.current].flat();
  const smaller = Math.max(1, Math.min(5, page.limit - 1));
  const line = (limit: number) => {
    const missing = wanted.filter((id) => !hits.slice(0, limit).some((hit) => hit.id === id));
    const found = `${wanted.length - missing.length} of ${wanted.length} current memories`;
    return missing.length === 0
      ? page.colour.green(`  ${limit} hits   ${found}`)
      : page.colour.red(`  ${limit} hits   ${found}; without ${missing.join(', ')}`);
  };
  return [
    page.colour.bold(`“${cut(asked.question, WIDTH - 2)}”  (${preset.name})`),
    line(smaller),
    line(page.limit),
  ].join('\n');
}

/** The half-life on this data: the current memory nearest to 45 days, without ageing and at a 1080-hour window. */
function halfLife({ compared, questions, candidates, memories, colour }: Page): string {
  const shown = questions.flatMap((asked) => {
    const [id = ''] = [asked.current].flat();
    const memory = memories.get(id);
    const flat = candidates.get(candidatesKey('flat', asked.id))?.find((hit) => hit.id === id);
    const aged = candidates.get(candidatesKey('single-window', asked.id))?.find((hit) => hit.id === id);
    return asked.stale !== null && memory && flat && aged ? [{ memory, flat, aged }] : [];
  });
  const [nearest] = shown.sort((a, b) => Math.abs(a.memory.ageDays - 45) - Math.abs(b.memory.ageDays - 45));
  if (!nearest) return '';
  const { memory, flat, aged } = nearest;
  const now = Date.parse(compared.now);
  const single: Preset = 'single-window';
  const hours = Math.round(memory.ageDays * 24);
  const weight = ageWeightOf(PRESETS[single], memory.topic, now - memory.ageDays * MS_PER_DAY, now);
  return [
    colour.bold(`Half-life: ${memory.id}, ${memory.ageDays} days old`),
    `  without ageing ${flat.score.toFixed(4)}   at a 1080-hour window ${aged.score.toFixed(4)}   ` +
      `${(aged.score / flat.score).toFixed(4)} of it   0.5 ^ (${hours}/1080) = ${weight.toFixed(4)}`,
  ].join('\n');
}

const next = ({ colour }: Page): string =>
  [
    colour.dim(RULE),
    'Next, on a store of your own:',
    '  npm run seed                                       fill it with the same memories',
    '  npm run recall -- "Are long walks fine?"           ask it; --explain shows the parts of a score',
    '  npm run remember -- "Long walks are welcome again" --topic preference --supersedes knee-injury',
    '  npm run history -- knee-injury                     see what replaced what, and when',
  ].join('\n');
