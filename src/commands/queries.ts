import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SupersededError } from '../errors.ts';
import { queryMapping, queryShapes } from '../query-shapes.ts';
import { type Command, textOption } from './command.ts';

export const queriesCommand: Command = {
  name: 'queries',
  summary: 'Write every form of the recall query as a request body, and the mapping it needs, for a checker.',
  arguments: [],
  options: {
    out: { type: 'string', value: 'DIR', description: 'the folder to write to; without it they are printed' },
  },
  example: 'npx superseded queries --out queries',
  async run(context) {
    const shapes = queryShapes();
    const out = textOption(context, 'out');
    if (out === undefined)
      return {
        json: shapes,
        text: () => shapes.map(({ name, request }) => `# ${name}\n${request.query}`).join('\n\n'),
      };
    try {
      mkdirSync(out, { recursive: true });
      for (const { name, request } of shapes)
        writeFileSync(join(out, `${name}.json`), `${JSON.stringify(request, null, 2)}\n`);
      writeFileSync(join(out, 'mapping.json'), `${JSON.stringify(queryMapping(), null, 2)}\n`);
    } catch (cause) {
      throw new SupersededError('CONFIGURATION', `The folder ${out} cannot be written.`, {
        cause,
        hint: 'Choose another with --out.',
      });
    }
    return {
      json: { written: shapes.length, out },
      text: () => `Wrote ${shapes.length} queries and mapping.json to ${out}.`,
    };
  },
};
