import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { SupersededError } from '../errors.ts';
import type { Pieces } from './passages.ts';

const card = z.strictObject({
  name: z.string().min(1),
  dimensions: z.int().positive(),
  file: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  lo: z.number(),
  hi: z.number(),
  nearDuplicate: z.number(),
  queryPrefix: z.string(),
  passagePrefix: z.string(),
  maxTokens: z.int().min(16),
});

/** What `model.json` beside a model says of it: identity, calibration and how its inputs are made. */
export type ModelCard = z.infer<typeof card>;

const HINT = 'Restore the folder from the repository (git checkout -- models), or name the right one as modelDir.';

/** Reads `model.json`; the model itself is not touched. Throws CONFIGURATION where it is missing or wrong. */
export async function readModelCard(directory: string): Promise<ModelCard> {
  const path = join(directory, 'model.json');
  const text = (await readModelFile(path)).toString('utf8');
  try {
    return card.parse(JSON.parse(text));
  } catch (cause) {
    throw new SupersededError('CONFIGURATION', `${path} does not describe an embedding model.`, { hint: HINT, cause });
  }
}

/** Reads the model's weights and checks their sha256. Throws MODEL_MISMATCH where it is not the file the card names. */
export async function readWeights(directory: string, { file, sha256 }: ModelCard): Promise<Uint8Array> {
  const path = join(directory, file);
  const bytes = await readModelFile(path);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found === sha256) return bytes;
  throw new SupersededError(
    'MODEL_MISMATCH',
    `${path} is not the model that model.json names: its ${bytes.length} bytes have sha256 ${found}, not ${sha256}.`,
    { hint: HINT },
  );
}

/** Loads the tokenizer; the function it returns gives ids and word pieces without special tokens. */
export async function readTokenizer(directory: string): Promise<(text: string) => Pieces> {
  const [vocabulary, config] = await Promise.all(
    ['tokenizer.json', 'tokenizer_config.json'].map(async (name) => {
      const path = join(directory, name);
      const text = (await readModelFile(path)).toString('utf8');
      try {
        return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
      } catch (cause) {
        throw new SupersededError('CONFIGURATION', `${path} is not a tokenizer file.`, { hint: HINT, cause });
      }
    }),
  );
  const tokenizer = new Tokenizer(vocabulary ?? {}, config ?? {});
  return (text) => tokenizer.encode(breakLongWords(text), { add_special_tokens: false });
}

/** WordPiece turns a word of more than 100 characters into one unknown token; cut, its text counts. */
function breakLongWords(text: string): string {
  return text.replace(/[\p{L}\p{M}\p{N}]{100}(?=[\p{L}\p{M}\p{N}])/gu, '$& ');
}

async function readModelFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new SupersededError('CONFIGURATION', `The embedding model's file ${path} cannot be read.`, {
      hint: HINT,
      cause,
    });
  }
}
