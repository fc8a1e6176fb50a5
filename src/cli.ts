#!/usr/bin/env node
import { runCommandLine } from './command-line.ts';

/** A reader that left, such as `head`, is no fault of the command; any other failure to write is. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.stderr.write(`The output cannot be written: ${error.message}.\n`);
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await runCommandLine(process.argv.slice(2), process);
