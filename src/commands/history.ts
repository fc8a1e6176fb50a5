import type { Memory } from '../memory.ts';
import type { Command, Context } from './command.ts';
import { wrap } from './print.ts';

export const historyCommand: Command = {
  name: 'history',
  summary: 'Show the whole chain of a memory, oldest first: what replaced what, and when.',
  arguments: ['ID'],
  options: {},
  example: 'npx superseded history knee-injury',
  async run(context) {
    const [id = ''] = context.arguments;
    const answer = await context.open().for(context.user, 'cli').history(id);
    return { json: answer, text: () => answer.memories.map((memory) => describe(context, memory)).join('\n\n') };
  },
};

function describe({ print: { colour } }: Context, memory: Memory): string {
  const span = `true from ${memory.validFrom}${memory.validTo === null ? '' : ` to ${memory.validTo}`}`;
  const known = `recorded ${memory.createdAt}${memory.closedAt === null ? '' : `, closed ${memory.closedAt}`}`;
  const links = [
    memory.supersedes.length > 0 ? `replaces ${memory.supersedes.join(', ')}` : null,
    memory.supersededBy === null ? null : `replaced by ${memory.supersededBy}`,
    memory.reopens === null ? null : `reopens ${memory.reopens}`,
    memory.reopenedBy === null ? null : `reopened by ${memory.reopenedBy}`,
    memory.closedReason === null ? null : `reason: ${memory.closedReason}`,
  ].filter((link) => link !== null);
  const status = memory.status === 'open' ? colour.green(memory.status) : colour.yellow(memory.status);
  return [
    [status, ...(memory.title === null ? [] : [colour.bold(memory.title)]), colour.dim(memory.id)].join('  '),
    ...[span, known, ...links].map((line) => `  ${colour.dim(line)}`),
    ...wrap(memory.content, 90).map((line) => `  ${line}`),
  ].join('\n');
}
