import { type Command, type Option, SHARED_OPTIONS } from './command.ts';

/** Help, made from the command table; pure. */

export function overviewHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'Superseded: long-term memory for AI agents whose users change their minds.',
    '',
    'Usage: npx superseded <command> [arguments] [options]',
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Options of every command:',
    ...optionLines(SHARED_OPTIONS),
    '',
    'npx superseded --version tells the version.',
    '',
    'Try: npm run compare',
  ].join('\n');
}

export function commandHelp(command: Command): string {
  return [
    command.summary,
    '',
    `Usage: ${usageOf(command)}`,
    '',
    ...(Object.keys(command.options).length > 0 ? ['Options:', ...optionLines(command.options), ''] : []),
    'Options of every command:',
    ...optionLines(SHARED_OPTIONS),
    '',
    `Example: ${command.example}`,
  ].join('\n');
}

export const usageOf = (command: Command): string =>
  ['npx superseded', command.name, ...command.arguments, '[options]'].join(' ');

function optionLines(options: Readonly<Record<string, Option>>): string[] {
  const entries = Object.entries(options).map(([name, option]) => ({
    flag: `--${name}${option.value ? ` ${option.value}` : ''}${option.multiple ? ' …' : ''}`,
    description: option.description,
  }));
  const width = Math.max(...entries.map(({ flag }) => flag.length));
  return entries.map(({ flag, description }) => `  ${flag.padEnd(width)}  ${description}`);
}
