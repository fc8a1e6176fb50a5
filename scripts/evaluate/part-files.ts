import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from './part.ts';

/** Finished parts on disk, so that a stopped run goes on where it was; a part belongs to its data, model and seed. */
export interface PartFiles {
  read(label: string, key: string): Part | null;
  write(label: string, key: string, part: Part): void;
}

/** Raise when parts are measured differently. */
const FORMAT = '1';

export function openParts(cache: string, resume: boolean, identity: readonly string[]): PartFiles {
  const folder = join(cache, 'evaluation');
  const pathOf = (label: string, key: string): string => {
    const hash = createHash('sha256').update([FORMAT, ...identity, label, key].join('\n'));
    return join(folder, `${label.replace(/[^a-z0-9]+/gi, '-')}-${hash.digest('hex').slice(0, 16)}.json`);
  };
  return {
    read(label, key) {
      if (!resume) return null;
      try {
        return JSON.parse(readFileSync(pathOf(label, key), 'utf8')) as Part;
      } catch {
        return null;
      }
    },
    write(label, key, part) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const path = pathOf(label, key);
      writeFileSync(`${path}.part`, JSON.stringify(part));
      renameSync(`${path}.part`, path);
    },
  };
}
