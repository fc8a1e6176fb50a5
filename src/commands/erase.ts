import { SupersededError } from '../errors.ts';
import { type Command, flagOption, given, textOption } from './command.ts';

export const eraseCommand: Command = {
  name: 'erase',
  summary: 'Remove a memory for good: text, vectors and audit contents; a tombstone stays.',
  arguments: ['[ID]'],
  options: {
    force: { type: 'boolean', description: 'even where other memories were derived from it' },
    all: { type: 'boolean', description: 'everything of the user' },
    confirm: { type: 'string', value: 'USER', description: 'with --all: the id of that user' },
  },
  example: 'npx superseded erase --all --confirm demo',
  async run(context) {
    const memories = context.open().for(context.user, 'cli');
    const [id] = context.arguments;
    if (flagOption(context, 'all') === (id !== undefined)) {
      throw new SupersededError('INVALID_INPUT', 'Name one memory by its ID, or give --all --confirm USER.');
    }
    if (id === undefined) {
      const receipt = await memories.eraseAll({ confirm: textOption(context, 'confirm') ?? '' });
      return { json: receipt, text: () => `Erased ${receipt.erased} memories of ${context.user} at ${receipt.at}.` };
    }
    const receipt = await memories.erase(id, given({ force: flagOption(context, 'force') }));
    return { json: receipt, text: () => `Erased ${receipt.erased} at ${receipt.at}.` };
  },
};
