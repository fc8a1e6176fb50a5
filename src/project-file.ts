import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Path of a file the project ships: in the nearest folder above this module that has it.
 * So it is found from `src` and from a bundle in a subfolder alike; where none has it, the path in the project root.
 */
export function projectFile(relative: string): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; ; folder = dirname(folder)) {
    const candidate = join(folder, relative);
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) return join(here, '..', relative);
  }
}
