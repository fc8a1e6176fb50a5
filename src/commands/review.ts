import { type Command, given, textOption } from './command.ts';
import { memoryLine } from './list.ts';

export const reviewCommand: Command = {
  name: 'review',
  summary: 'Show what a person should look at, or settle one item: keep, close, merge or dismiss.',
  arguments: ['[ID]'],
  options: {
    action: { type: 'string', value: 'ACTION', description: 'with ID: keep, close, merge or dismiss' },
    into: { type: 'string', value: 'ID', description: 'with merge: the memory that takes its place' },
  },
  example: 'npx superseded review lost-jacket --action dismiss',
  async run(context) {
    const memories = context.open().for(context.user, 'cli');
    const [id] = context.arguments;
    if (id !== undefined) {
      const settled = await memories.resolveReview(
        id,
        given({ action: textOption(context, 'action'), into: textOption(context, 'into') }),
      );
      return { json: settled, text: () => `${settled.action}: ${memoryLine(context, settled.memory)}` };
    }
    const answer = await memories.review();
    return {
      json: answer,
      text: () =>
        answer.items
          .map(({ memory, reasons, similar }) =>
            [
              memoryLine(context, memory),
              `           ${context.print.colour.yellow(reasons.join(', '))}${similar.length > 0 ? `, near ${similar.join(', ')}` : ''}`,
            ].join('\n'),
          )
          .join('\n') || 'Nothing to look at.',
    };
  },
};
