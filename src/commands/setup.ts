import type { Command } from './command.ts';

export const setupCommand: Command = {
  name: 'setup',
  summary: 'Make or migrate the database or the indices; safe to repeat.',
  arguments: [],
  options: {},
  example: 'npx superseded setup',
  async run(context) {
    const { store } = context.open();
    await store.setup();
    const { name } = await store.model();
    return {
      json: { store: store.name, model: name, ready: true },
      text: () => `The ${store.name} store is ready, for vectors of ${name}.\nTry: npm run doctor`,
    };
  },
};
