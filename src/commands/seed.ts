import { projectFile } from '../project-file.ts';
import { readMemories, seed } from '../seeds.ts';
import { type Command, textOption } from './command.ts';

export const seedCommand: Command = {
  name: 'seed',
  summary: 'Fill the store with the landmarks and the traveller’s memories, dated back from now.',
  arguments: [],
  options: { memories: { type: 'string', value: 'FILE', description: 'another file than seeds/memories.json' } },
  example: 'npx superseded seed --db trip.db',
  async run(context) {
    const memories = readMemories(textOption(context, 'memories') ?? projectFile('seeds/memories.json'));
    const service = context.open();
    const { store: _, ...actor } = await service.actor('user:demo', context.user, 'cli');
    const written = await seed(
      service.store,
      { ...actor, clock: () => context.now },
      memories,
      context.print.progress('Embedding'),
    );
    return {
      json: { ...written, store: service.store.name },
      text: () =>
        `Stored ${written.stored} memories in the ${service.store.name} store; ${written.unchanged} were there already.\n` +
        (written.erased.length > 0 ? `Erased here before, and left so: ${written.erased.join(', ')}.\n` : '') +
        'Try: npm run recall -- "How much walking should I plan for each day?"',
    };
  },
};
