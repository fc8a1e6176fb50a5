import { type Command, given, numberOption, textOption } from './command.ts';

export const auditCommand: Command = {
  name: 'audit',
  summary: 'Show who did what to which memory, newest first.',
  arguments: [],
  options: {
    memory: { type: 'string', value: 'ID', description: 'only this memory' },
    limit: { type: 'string', value: 'N', description: 'a page of 1 to 100 (50)' },
    cursor: { type: 'string', value: 'CURSOR', description: 'the nextCursor of the page before' },
  },
  example: 'npx superseded audit --memory knee-injury',
  async run(context) {
    const page = await context
      .open()
      .for(context.user, 'cli')
      .audit(
        given({
          memory: textOption(context, 'memory'),
          limit: numberOption(context, 'limit'),
          cursor: textOption(context, 'cursor'),
        }),
      );
    const { colour } = context.print;
    return {
      json: page,
      text: () =>
        [
          ...page.entries.map(({ at, verb, memory, actor, source, detail }) =>
            [
              at,
              colour.bold(verb.padEnd(9)),
              memory,
              colour.dim(`${actor} · ${source}`),
              detail ? JSON.stringify(detail) : '',
            ]
              .join('  ')
              .trimEnd(),
          ),
          ...(page.nextCursor === null ? [] : [`More: --cursor ${page.nextCursor}`]),
        ].join('\n') || 'Nothing has happened yet.',
    };
  },
};
