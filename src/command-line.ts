import { parseArgs } from 'node:util';
import type { z } from 'zod';
import type { Command, Context } from './commands/command.ts';
import { SHARED_OPTIONS } from './commands/command.ts';
import { commandHelp, overviewHelp } from './commands/help.ts';
import { createPrinter } from './commands/print.ts';
import { COMMANDS } from './commands/table.ts';
import { type Environment, readConfig } from './config.ts';
import { SupersededError } from './errors.ts';
import { instant, user } from './fields.ts';
import { openSuperseded } from './open.ts';
import type { Superseded } from './superseded.ts';
import { issuesOf } from './validation.ts';
import { packageVersion } from './version.ts';

/** The command line as a function: reads the arguments, runs one command of the table, turns errors into exit codes. */

const FAILED = 1;
const WRONG_USE = 2;

class UsageError extends Error {}

/** Where a command line writes and what it reads beside its arguments. */
export interface Surroundings {
  stdout: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  stderr: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  /** The environment; that of the process unless given. */
  env?: Environment;
}

/** Runs one command; the answer is the exit code: 0, 1 failed, 2 wrong use. */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const [name, ...rest] = argv;
  const { stdout } = surroundings;
  const json = rest.includes('--json');
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const about = commandNamed(rest[0]);
    stdout.write(`${about ? commandHelp(about) : overviewHelp(COMMANDS)}\n`);
    return name === undefined ? WRONG_USE : 0;
  }
  if (name === '--version') {
    stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  const command = commandNamed(name);
  try {
    if (!command) throw new UsageError(`There is no command ${name}.`);
    return await run(command, rest, surroundings);
  } catch (error) {
    return report(error, command, json, surroundings);
  }
}

const commandNamed = (name: string | undefined): Command | undefined =>
  COMMANDS.find((candidate) => candidate.name === name);

async function run(command: Command, args: string[], { stdout, stderr, env }: Surroundings): Promise<number> {
  const { values, positionals } = command.handsOn ? { values: {}, positionals: args } : parse(command, args);
  if (values.help === true) {
    stdout.write(`${commandHelp(command)}\n`);
    return 0;
  }
  if (!command.handsOn) checkArguments(command, positionals);
  const config = readConfig(env);
  const now = oneOption('--now', instant, values.now) ?? Date.now();
  const opened: Superseded[] = [];
  const db = typeof values.db === 'string' ? values.db : undefined;
  const colour = config.colour ?? (stdout.isTTY === true && values.json !== true);
  const context: Context = {
    arguments: positionals,
    options: values,
    config,
    user: oneOption('--user', user, values.user) ?? 'demo',
    now,
    open: (throwAway) => {
      const clock = values.now === undefined ? Date.now : () => now;
      const onCluster = config.elasticsearch !== null && db === undefined;
      const file = db ?? (onCluster ? undefined : throwAway?.file);
      const service = openSuperseded(config, {
        clock,
        ...(file === undefined ? {} : { db: file }),
        ...(throwAway === undefined ? {} : { throwAway: throwAway.name }),
      });
      opened.push(service);
      return service;
    },
    print: createPrinter(colour, stderr.isTTY === true, stderr),
  };
  try {
    const result = await command.run(context);
    const text = values.json === true ? `${JSON.stringify(result.json, null, 2)}\n` : `${result.text()}\n`;
    await new Promise<void>((resolve) => stdout.write(result.raw ?? text, () => resolve()));
    return result.exitCode ?? 0;
  } finally {
    for (const service of opened) await service.close();
  }
}

function parse(command: Command, args: string[]) {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...SHARED_OPTIONS }).map(([name, { type, multiple }]) => [
      name,
      { type, ...(multiple ? { multiple } : {}) },
    ]),
  );
  try {
    return parseArgs({ args: joined(args, options), options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error));
  }
}

/** `--outcome -1` as `--outcome=-1`: a number is never an option. */
function joined(args: readonly string[], options: Record<string, { type: string }>): string[] {
  const result: string[] = [];
  for (const arg of args) {
    const last = result.at(-1) ?? '';
    const waits = last.startsWith('--') && options[last.slice(2)]?.type === 'string' && !result.includes('--');
    if (waits && /^-\d/.test(arg)) result[result.length - 1] = `${last}=${arg}`;
    else result.push(arg);
  }
  return result;
}

function checkArguments(command: Command, positionals: readonly string[]): void {
  const required = command.arguments.filter((name) => !name.startsWith('['));
  const missing = required.slice(positionals.length);
  if (missing.length > 0) throw new UsageError(`${missing.join(', ')} is missing.`);
  const extra = positionals.slice(command.arguments.length);
  if (extra.length > 0)
    throw new UsageError(`There is one argument too many: ${extra[0]}. Quote text that has spaces.`);
}

function oneOption<T>(name: string, schema: z.ZodType<T>, value: unknown): T | undefined {
  if (value === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${name} ${issuesOf(parsed.error)[0]?.message ?? 'is not valid'}.`);
}

/** Known errors are a sentence and what to do next; anything else keeps its stack. */
function report(error: unknown, command: Command | undefined, json: boolean, { stdout, stderr }: Surroundings): number {
  const known = error instanceof SupersededError;
  const usage = error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const code = known ? error.code : usage ? 'INVALID_INPUT' : 'UNEXPECTED';
    const more = known ? { hint: error.hint, issues: error.issues, head: error.head } : {};
    stdout.write(`${JSON.stringify({ error: { code, message, ...more } }, null, 2)}\n`);
  }
  if (usage) {
    const help = command ? `npx superseded ${command.name} --help` : 'npx superseded help';
    stderr.write(`${message}\nSee ${help}.\n`);
    return WRONG_USE;
  }
  if (!known) {
    stderr.write(`${error instanceof Error ? (error.stack ?? message) : message}\n`);
    return FAILED;
  }
  stderr.write(`${error.code}: ${message}\n${error.hint ? `${error.hint}\n` : ''}`);
  return error.code === 'INVALID_INPUT' ? WRONG_USE : FAILED;
}
