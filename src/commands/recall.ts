import { agoInWords } from '../history.ts';
import type { Hit } from '../recall.ts';
import { type Command, type Context, flagOption, given, listOption, numberOption, textOption } from './command.ts';
import { cut, wrap } from './print.ts';

export const recallCommand: Command = {
  name: 'recall',
  summary: 'Answer a question with what is true now, or was true, or was known.',
  arguments: ['QUESTION'],
  options: {
    limit: { type: 'string', value: 'N', description: 'most hits, 1 to 100 (8)' },
    'as-of': { type: 'string', value: 'INSTANT', description: 'what was true then' },
    'known-at': { type: 'string', value: 'INSTANT', description: 'as we knew it then' },
    history: { type: 'boolean', description: 'superseded, retired, denied and expired memories too, marked' },
    kind: { type: 'string', value: 'KIND', multiple: true, description: 'episodic, semantic or procedural' },
    topic: { type: 'string', value: 'TOPIC', multiple: true, description: 'only these topics' },
    tag: { type: 'string', value: 'TAG', multiple: true, description: 'only memories with one of these tags' },
    strict: { type: 'boolean', description: 'only what is safe to act on' },
    explain: { type: 'boolean', description: 'show the parts of each score' },
    preset: { type: 'string', value: 'NAME', description: 'default, flat or single-window' },
  },
  example: 'npx superseded recall "Are long walks fine?" --explain',
  async run(context) {
    const answer = await context
      .open()
      .for(context.user, 'cli')
      .recall(
        given({
          query: context.arguments[0],
          limit: numberOption(context, 'limit'),
          asOf: textOption(context, 'as-of'),
          knownAt: textOption(context, 'known-at'),
          includeHistory: flagOption(context, 'history'),
          kinds: listOption(context, 'kind'),
          topics: listOption(context, 'topic'),
          tags: listOption(context, 'tag'),
          strict: flagOption(context, 'strict'),
          explain: flagOption(context, 'explain'),
          preset: textOption(context, 'preset'),
        }),
      );
    return { json: answer, text: () => describe(context, answer.hits, Date.parse(answer.asOf)) };
  },
};

function describe({ print: { colour } }: Context, hits: readonly Hit[], asOf: number): string {
  if (hits.length === 0) return 'Nothing in memory answers that. Remember something first, or run: npm run seed';
  const lines = hits.flatMap(({ memory, score, parts, note }, index) => {
    const age = agoInWords(Date.parse(memory.validFrom), asOf);
    const title = memory.title === null ? '' : `  ${cut(memory.title, 48)}`;
    const head = `${String(index + 1).padStart(3)}  ${colour.bold(score.toFixed(4))}${title}`;
    const about = colour.dim([memory.status, memory.topic, age, memory.id].join(' · '));
    const explained = parts
      ? [
          `relevance ${parts.relevance.toFixed(4)} (lexical ${parts.lexical.toFixed(4)}, semantic ${parts.semantic.toFixed(4)})` +
            ` × age ${parts.ageWeight.toFixed(4)} × trust ${parts.trust.toFixed(4)}`,
        ]
      : [];
    const body = [about, ...explained, ...(note ? [colour.yellow(note)] : []), ...wrap(cut(memory.content, 270), 90)];
    return [head, ...body.map((line) => `     ${line}`), ''];
  });
  return lines.join('\n').trimEnd();
}
