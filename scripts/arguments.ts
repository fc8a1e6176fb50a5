import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The options of a script; help ends it with exit code 0, wrong use with a sentence, the usage and exit code 2. */
export function optionsOrExit<T extends NonNullable<ParseArgsConfig['options']>>(usage: string, options: T) {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } as T });
    if ((values as { help?: boolean }).help !== true) return values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}\n`);
    process.exit(2);
  }
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
