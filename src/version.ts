import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectFile } from './project-file.ts';

/** The version of this package, from the package.json beside the seeds: a bundle has another one nearer by. */
export function packageVersion(): string {
  const file = join(dirname(projectFile('seeds')), 'package.json');
  const { version }: { version?: unknown } = JSON.parse(readFileSync(file, 'utf8'));
  return typeof version === 'string' ? version : '0.0.0';
}
