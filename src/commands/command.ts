import type { Config } from '../config.ts';
import type { Superseded } from '../superseded.ts';
import type { Printer } from './print.ts';

/** What a command is: data from which parsing, help and the README's table follow, and the function it runs. */

export interface Option {
  type: 'string' | 'boolean';
  /** How the value is called in the help, such as `N` or `FILE`. */
  value?: string;
  /** May be given several times, or once with commas. */
  multiple?: boolean;
  description: string;
}

export interface Command {
  name: string;
  summary: string;
  /** Names of the arguments in order; one in brackets may be left out. */
  arguments: readonly string[];
  options: Readonly<Record<string, Option>>;
  /** Whether its arguments and options are handed on unread, to what reads them itself. */
  handsOn?: true;
  /** An example a person can paste. */
  example: string;
  run(context: Context): Promise<Result>;
}

export interface Context {
  arguments: readonly string[];
  options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  config: Config;
  /** The user who acts. */
  user: string;
  /** The instant of this run, or the one given with --now. */
  now: number;
  /**
   * Opens the service over the configured store, or over the file of --db; closed by the caller of the command.
   * With a file or a name of its own, over a store that the command throws away.
   */
  open(throwAway?: { file: string; name: string }): Superseded;
  print: Printer;
}

export interface Result {
  json: unknown;
  /** Written as it is, with and without --json. */
  raw?: string;
  /** For people; made only where it is printed. */
  text: () => string;
  exitCode?: number;
}

export const SHARED_OPTIONS: Readonly<Record<string, Option>> = {
  json: { type: 'boolean', description: 'one JSON document on standard output' },
  now: { type: 'string', value: 'INSTANT', description: 'pin the clock, such as 2026-03-01T09:00:00Z' },
  db: { type: 'string', value: 'FILE', description: 'the embedded database to use' },
  user: { type: 'string', value: 'ID', description: 'who acts (demo)' },
  help: { type: 'boolean', description: 'show this help' },
};

/** A text option; undefined where it was not given. */
export const textOption = ({ options }: Context, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};

export const flagOption = ({ options }: Context, name: string): boolean => options[name] === true;

/** A list option: repeated, or once with commas; undefined where it was not given. */
export const listOption = ({ options }: Context, name: string): string[] | undefined => {
  const value = options[name];
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((item) => String(item).split(',')).map((item) => item.trim());
};

/** A number as the schemas expect it; text that is no number is passed on for them to refuse by name. */
export const numberOption = (context: Context, name: string): number | string | undefined => {
  const value = textOption(context, name);
  return value !== undefined && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
};

/** The fields that were given, so that defaults stay with the schemas. */
export const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== false));
