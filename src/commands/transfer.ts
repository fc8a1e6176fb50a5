import { readFileSync } from 'node:fs';
import { bulletsOf } from '../bullets.ts';
import { SupersededError } from '../errors.ts';
import type { Imported } from '../transfer.ts';
import type { Command } from './command.ts';

export const exportCommand: Command = {
  name: 'export',
  summary: 'Write all your memories to standard output, one JSON document a line.',
  arguments: [],
  options: {},
  example: 'npx superseded export > memories.ndjson',
  async run(context) {
    const lines = await context.open().for(context.user, 'cli').exportNdjson();
    return { json: null, raw: lines, text: () => lines };
  },
};

export const importCommand: Command = {
  name: 'import',
  summary: 'Read memories from an export, or one per bullet from a Markdown or text file (.md, .txt).',
  arguments: ['FILE'],
  options: {},
  example: 'npx superseded import memories.ndjson',
  async run(context) {
    const [file = ''] = context.arguments;
    const text = read(file);
    const memories = context.open().for(context.user, 'import');
    const progress = context.print.progress('Importing');
    if (!/\.(md|markdown|txt)$/i.test(file)) {
      const imported = await memories.importNdjson(text, progress);
      return { json: imported, text: () => describe(imported) };
    }
    const bullets = bulletsOf(text);
    if (bullets.length === 0)
      throw new SupersededError('INVALID_INPUT', `The file ${file} holds no bullet, such as "- Likes tea".`);
    let stored = 0;
    for (const [index, content] of bullets.entries()) {
      if ((await memories.remember({ content })).stored) stored++;
      progress(index + 1, bullets.length);
    }
    const answer = { imported: stored, unchanged: bullets.length - stored, collisions: [], erased: [] };
    return { json: answer, text: () => describe(answer) };
  },
};

function read(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    const why = cause instanceof TypeError ? 'is not UTF-8' : 'cannot be read';
    throw new SupersededError('INVALID_INPUT', `The file ${file} ${why}.`, {
      cause,
      hint: 'Check the path and the file.',
    });
  }
}

function describe({ imported, unchanged, collisions, erased }: Imported): string {
  return [
    `Imported ${imported} memories; ${unchanged} were there already.`,
    ...collisions.map(({ id, line }) => `  line ${line}: ${id} is taken by other words and was left as it is`),
    ...erased.map((id) => `  ${id} was erased here and stays so`),
  ].join('\n');
}
