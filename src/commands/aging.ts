import type { Command } from './command.ts';

export const agingCommand: Command = {
  name: 'aging',
  summary: 'Show the ageing windows in force.',
  arguments: [],
  options: {},
  example: 'npx superseded aging',
  async run(context) {
    const answer = await context.open().for(context.user, 'cli').aging();
    return {
      json: answer,
      text: () =>
        answer.windows
          .map(({ topic, halfLifeHours, floor }) => {
            const pace =
              halfLifeHours === null
                ? 'never ages'
                : `halves in ${Math.round(halfLifeHours / 24)} days, floor ${floor}`;
            return `${(topic ?? 'any other').padEnd(12)} ${pace}`;
          })
          .join('\n'),
    };
  },
};
