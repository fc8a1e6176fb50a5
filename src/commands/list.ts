import { agoInWords } from '../history.ts';
import type { Memory } from '../memory.ts';
import { type Command, type Context, given, numberOption, textOption } from './command.ts';
import { cut } from './print.ts';

export const listCommand: Command = {
  name: 'list',
  summary: 'Page through your own memories, newest first.',
  arguments: [],
  options: {
    status: { type: 'string', value: 'STATUS', description: 'open (the default), closed or all' },
    kind: { type: 'string', value: 'KIND', description: 'only this kind' },
    topic: { type: 'string', value: 'TOPIC', description: 'only this topic' },
    tag: { type: 'string', value: 'TAG', description: 'only memories with this tag' },
    'as-of': { type: 'string', value: 'INSTANT', description: 'the state of that time' },
    'known-at': { type: 'string', value: 'INSTANT', description: 'as we knew it then' },
    limit: { type: 'string', value: 'N', description: 'a page of 1 to 100 (50)' },
    cursor: { type: 'string', value: 'CURSOR', description: 'the nextCursor of the page before' },
  },
  example: 'npx superseded list --status all --topic preference',
  async run(context) {
    const page = await context
      .open()
      .for(context.user, 'cli')
      .list(
        given({
          status: textOption(context, 'status'),
          kind: textOption(context, 'kind'),
          topic: textOption(context, 'topic'),
          tag: textOption(context, 'tag'),
          asOf: textOption(context, 'as-of'),
          knownAt: textOption(context, 'known-at'),
          limit: numberOption(context, 'limit'),
          cursor: textOption(context, 'cursor'),
        }),
      );
    const more = page.nextCursor === null ? [] : [`More: --cursor ${page.nextCursor}`];
    const empty = ['No memories here. Remember something, or run: npm run seed'];
    const lines = () => page.memories.map((memory) => memoryLine(context, memory));
    return { json: page, text: () => (page.memories.length === 0 ? empty : [...lines(), ...more]).join('\n') };
  },
};

/** One memory on one line: state, age, id and how it begins. */
export function memoryLine({ print: { colour }, now }: Context, memory: Memory): string {
  const status =
    memory.status === 'open' ? colour.green(memory.status.padEnd(10)) : colour.yellow(memory.status.padEnd(10));
  const age = agoInWords(Date.parse(memory.validFrom), now).padEnd(14);
  return `${status} ${age} ${colour.dim(memory.id)}  ${cut(memory.title ?? memory.content, 56)}`;
}
