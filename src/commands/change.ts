import type { Memory } from '../memory.ts';
import type { UserMemories } from '../superseded.ts';
import {
  type Command,
  type Context,
  flagOption,
  given,
  listOption,
  numberOption,
  type Option,
  textOption,
} from './command.ts';
import { memoryLine } from './list.ts';

/** The commands that change one memory: each names it by id and answers with what it has become. */

const reason: Option = { type: 'string', value: 'TEXT', description: 'why, kept in its history' };

const changing = (
  command: Pick<Command, 'name' | 'summary' | 'options' | 'example'> & {
    change: (
      memories: UserMemories,
      id: string,
      context: Context,
    ) => Promise<{ memory: Memory; more?: string[]; json?: unknown }>;
  },
): Command => ({
  ...command,
  arguments: ['ID'],
  async run(context) {
    const [id = ''] = context.arguments;
    const { memory, more = [], json } = await command.change(context.open().for(context.user, 'cli'), id, context);
    return { json: json ?? { memory }, text: () => [memoryLine(context, memory), ...more].join('\n') };
  },
});

export const supersedeCommand = changing({
  name: 'supersede',
  summary: 'Say that an existing memory replaces others, which close.',
  options: { target: { type: 'string', value: 'ID', multiple: true, description: 'an open memory that ID replaces' } },
  example: 'npx superseded supersede new-hotel --target old-hotel',
  async change(memories, id, context) {
    const answer = await memories.supersede(id, { targets: listOption(context, 'target') ?? [] });
    return { memory: answer.memory, more: answer.superseded.map((target) => `  closed ${target}`), json: answer };
  },
});

export const closeCommand = changing({
  name: 'close',
  summary: 'End a memory without a successor, now or at another instant; its text stays.',
  options: {
    reason,
    'valid-to': { type: 'string', value: 'INSTANT', description: 'when it stopped or will stop being true (now)' },
  },
  example: 'npx superseded close lodging --reason "checked out"',
  change: (memories, id, context) =>
    memories.close(id, given({ reason: textOption(context, 'reason'), validTo: textOption(context, 'valid-to') })),
});

export const reopenCommand = changing({
  name: 'reopen',
  summary: 'Undo a closing: a copy holds from the old end on.',
  options: { reason },
  example: 'npx superseded reopen walk-everything',
  async change(memories, id, context) {
    const answer = await memories.reopen(id, given({ reason: textOption(context, 'reason') }));
    const { openSuccessor } = answer;
    const more = openSuccessor ? [`  its successor is still open: ${openSuccessor.id}`] : [];
    return { memory: answer.memory, more, json: answer };
  },
});

export const confirmCommand = changing({
  name: 'confirm',
  summary: 'Say that a memory still holds: fresh and fully trusted again.',
  options: {},
  example: 'npx superseded confirm dietary',
  change: (memories, id) => memories.confirm(id, {}),
});

export const denyCommand = changing({
  name: 'deny',
  summary: 'Say that a memory is wrong: less trusted until confirmed, or closed as never true.',
  options: { certain: { type: 'boolean', description: 'close it as never true' }, reason },
  example: 'npx superseded deny budget --reason "I never said that"',
  change: (memories, id, context) =>
    memories.deny(id, given({ certain: flagOption(context, 'certain'), reason: textOption(context, 'reason') })),
});

export const feedbackCommand = changing({
  name: 'feedback',
  summary: 'Record how acting on a memory turned out, from -1 to 1.',
  options: {
    outcome: { type: 'string', value: 'N', description: '-1 (wrong) to 1 (right)' },
    query: { type: 'string', value: 'TEXT', description: 'the question it was recalled for' },
    note: { type: 'string', value: 'TEXT', description: 'a remark' },
  },
  example: 'npx superseded feedback early-nights --outcome 1',
  change: (memories, id, context) =>
    memories.feedback(
      id,
      given({
        outcome: numberOption(context, 'outcome'),
        query: textOption(context, 'query'),
        note: textOption(context, 'note'),
      }),
    ),
});
