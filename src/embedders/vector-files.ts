import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EmbeddingModel } from '../embedder.ts';
import { SupersededError } from '../errors.ts';

/** Vectors on disk, one small file each, so that processes share them without locks and a kill leaves none half written. */
export interface VectorFiles {
  /** null where a vector is absent, cut short or damaged. */
  read(model: EmbeddingModel, kind: string, texts: readonly string[]): Promise<(Float32Array | null)[]>;
  write(model: EmbeddingModel, kind: string, texts: readonly string[], vectors: readonly Float32Array[]): Promise<void>;
  /** Removes the texts under all models, unfinished writes included; throws STORE_FAILED where one cannot be removed. */
  remove(kinds: readonly string[], texts: readonly string[]): Promise<void>;
}

/** Raise when the same model and text give another vector: other prefixes, another way of cutting long texts. */
const RECIPE = 1;
const CHECKSUM_BYTES = 8;
const FILES_AT_ONCE = 32;

/**
 * Layout: `<model>/<2 hex>/<sha256 of kind and text>.f32`, in it 8 bytes of sha256 and then float32, little-endian.
 * Folders are readable by their owner only: a vector says roughly what its text was about.
 */
export function openVectorFiles(directory: string): VectorFiles {
  function pathOf(model: EmbeddingModel, kind: string, text: string): string {
    return join(directory, modelFolder(model), shardedName(kind, text));
  }

  return {
    read(model, kind, texts) {
      return inGroups(texts, async (text) => {
        try {
          return decode(await readFile(pathOf(model, kind, text)), model.dimensions);
        } catch {
          return null;
        }
      });
    },

    async write(model, kind, texts, vectors) {
      await inGroups(texts, async (text, i) => {
        const path = pathOf(model, kind, text);
        const vector = vectors[i];
        if (vector === undefined) return;
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const unfinished = `${path}.${randomUUID()}.tmp`;
        try {
          await writeFile(unfinished, encode(vector), { mode: 0o600 });
          await rename(unfinished, path);
        } catch (error) {
          await rm(unfinished, { force: true });
          throw error;
        }
      });
    },

    async remove(kinds, texts) {
      const models = await entriesOf(directory);
      const names = texts.flatMap((text) => kinds.map((kind) => shardedName(kind, text)));
      await inGroups(names, async (name) => {
        for (const model of models) await removeMatching(join(directory, model, name));
      });
    },
  };
}

function modelFolder({ name, hash, dimensions }: EmbeddingModel): string {
  return sha256(JSON.stringify([RECIPE, name, hash, dimensions]))
    .toString('hex')
    .slice(0, 12);
}

function shardedName(kind: string, text: string): string {
  const key = sha256(`${kind}\0${text}`).toString('hex');
  return join(key.slice(0, 2), `${key}.f32`);
}

async function removeMatching(path: string): Promise<void> {
  const folder = dirname(path);
  const name = path.slice(folder.length + 1);
  for (const entry of await entriesOf(folder)) {
    if (!entry.startsWith(name)) continue;
    try {
      await rm(join(folder, entry), { force: true });
    } catch (cause) {
      throw new SupersededError('STORE_FAILED', `The cached vector ${join(folder, entry)} cannot be removed.`, {
        hint: 'Delete the cache folder (SUPERSEDED_CACHE); vectors are made again when needed.',
        cause,
      });
    }
  }
}

/** Names in a folder; none where there is no such folder. */
async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')) return [];
    throw new SupersededError('STORE_FAILED', `The vector cache ${folder} cannot be read.`, { cause });
  }
}

function encode(vector: Float32Array): Buffer {
  const floats = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => {
    floats.writeFloatLE(value, i * 4);
  });
  return Buffer.concat([checksum(floats), floats]);
}

function decode(file: Buffer, dimensions: number): Float32Array | null {
  const floats = file.subarray(CHECKSUM_BYTES);
  if (floats.length !== dimensions * 4) return null;
  if (!checksum(floats).equals(file.subarray(0, CHECKSUM_BYTES))) return null;
  return Float32Array.from({ length: dimensions }, (_, i) => floats.readFloatLE(i * 4));
}

function checksum(floats: Buffer): Buffer {
  return sha256(floats).subarray(0, CHECKSUM_BYTES);
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

async function inGroups<T, R>(items: readonly T[], job: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += FILES_AT_ONCE) {
    const part = items.slice(start, start + FILES_AT_ONCE);
    results.push(...(await Promise.all(part.map((item, i) => job(item, start + i)))));
  }
  return results;
}
