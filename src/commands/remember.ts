import type { RememberAnswer } from '../superseded.ts';
import { type Command, flagOption, given, listOption, numberOption, textOption } from './command.ts';
import { cut } from './print.ts';

export const rememberCommand: Command = {
  name: 'remember',
  summary: 'Store a memory; with --supersedes it takes the place of others, which close.',
  arguments: ['TEXT'],
  options: {
    title: { type: 'string', value: 'TEXT', description: 'a short name' },
    kind: { type: 'string', value: 'KIND', description: 'episodic (the default), semantic or procedural' },
    topic: {
      type: 'string',
      value: 'TOPIC',
      description: 'picks the ageing window, such as preference or plan (general)',
    },
    tag: { type: 'string', value: 'TAG', multiple: true, description: 'a tag' },
    supersedes: { type: 'string', value: 'ID', multiple: true, description: 'an open memory that this replaces' },
    denies: { type: 'string', value: 'ID', multiple: true, description: 'an open memory that this calls into doubt' },
    'valid-from': { type: 'string', value: 'INSTANT', description: 'when it became true (now)' },
    'valid-to': { type: 'string', value: 'INSTANT', description: 'when it will stop being true' },
    confidence: { type: 'string', value: 'N', description: '0 to 1 (1)' },
    'derived-from': { type: 'string', value: 'ID', multiple: true, description: 'a memory it was concluded from' },
    id: {
      type: 'string',
      value: 'ID',
      description: 'an id of your own; repeating it with the same text changes nothing',
    },
    'allow-secret': { type: 'boolean', description: 'store text that looks like a key or a card number' },
  },
  example: 'npx superseded remember "Long walks are welcome again" --topic preference --supersedes knee-injury',
  async run(context) {
    const answer = await context
      .open()
      .for(context.user, 'cli')
      .remember(
        given({
          content: context.arguments[0],
          title: textOption(context, 'title'),
          kind: textOption(context, 'kind'),
          topic: textOption(context, 'topic'),
          tags: listOption(context, 'tag'),
          supersedes: listOption(context, 'supersedes'),
          denies: listOption(context, 'denies'),
          validFrom: textOption(context, 'valid-from'),
          validTo: textOption(context, 'valid-to'),
          confidence: numberOption(context, 'confidence'),
          derivedFrom: listOption(context, 'derived-from'),
          id: textOption(context, 'id'),
          allowSecret: flagOption(context, 'allow-secret'),
        }),
      );
    return { json: answer, text: () => describe(answer) };
  },
};

function describe({ memory, stored, reason, superseded, similar }: RememberAnswer): string {
  if (!stored) {
    const what = reason === 'confirmed' ? 'Said before; confirmed' : 'Stored already';
    return `${what}: ${memory.id}`;
  }
  return [
    `Remembered ${memory.id}`,
    ...superseded.map((id) => `  closed ${id}`),
    ...(similar.length > 0 ? ['  similar and still open (supersede them where this replaces them):'] : []),
    ...similar.map(({ id, similarity, content }) => `    ${similarity.toFixed(2)}  ${id}  ${cut(content, 60)}`),
  ].join('\n');
}
