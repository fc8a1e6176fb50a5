import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import type { Embedder } from '../src/embedder.ts';
import { createLocalEmbedder } from '../src/embedders/local.ts';
import { temporaryFolder } from './temporary.ts';

const MODEL = fileURLToPath(new URL('../models/e5-small-v2', import.meta.url));
const SLOW = 120_000;
/** Per element. Measured: alone and in a batch 0 (native) and 1.6e-7 (WASM); between the runtimes 2.4e-7. */
const TOLERANCE = 1e-6;

const hasNative = await import('onnxruntime-node').then(
  () => true,
  () => false,
);
if (!hasNative) console.warn('SKIPPED: the native runtime is not tested, onnxruntime-node cannot be imported here.');

const KNEE = 'Since my knee injury I walk three miles a day at most and want to stay near transit.';
const NIGHT = 'I love late shows at The Fillmore.';
const FOOD = 'I am vegetarian and allergic to peanuts.';
const TEXTS = [KNEE, NIGHT, FOOD, 'Fort Mason.'];

const open: Embedder[] = [];
afterAll(async () => {
  for (const embedder of open) await embedder.close();
});

const native = opened(createLocalEmbedder({ runtime: 'native' }));
const wasm = opened(createLocalEmbedder({ runtime: 'wasm' }));

function opened<T extends Embedder>(embedder: T): T {
  open.push(embedder);
  return embedder;
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (!a || !b) throw new Error('no vector');
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

function largestGap(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (!a || !b || a.length !== b.length) throw new Error('no two vectors of one length');
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] ?? 0))), 0);
}

/** A copy of the model's folder whose card says something else; weights are linked, or replaced by the bytes given. */
function modelWith(changes: object, weights?: string): string {
  const folder = temporaryFolder();
  const card = JSON.parse(readFileSync(join(MODEL, 'model.json'), 'utf8'));
  writeFileSync(join(folder, 'model.json'), JSON.stringify({ ...card, ...changes }));
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) cpSync(join(MODEL, name), join(folder, name));
  if (weights === undefined) symlinkSync(join(MODEL, 'model.onnx'), join(folder, 'model.onnx'));
  else writeFileSync(join(folder, 'model.onnx'), weights);
  return folder;
}

describe.each([
  { runtime: 'native', embedder: native, runs: hasNative },
  { runtime: 'wasm', embedder: wasm, runs: true },
])('the local embedder on $runtime', ({ runtime, embedder, runs }) => {
  const check = runs ? test : test.skip;

  check('runs on the runtime asked for and gives unit vectors of 384 dimensions', { timeout: SLOW }, async () => {
    expect(await embedder.runtime()).toBe(runtime);
    const [vector] = await embedder.embedPassages([KNEE]);
    expect(vector).toHaveLength(384);
    expect(cosine(vector, vector)).toBeCloseTo(1, 6);
  });

  check('gives a text the same vector alone and in a batch, in the order of the texts', { timeout: SLOW }, async () => {
    const together = await embedder.embedPassages(TEXTS);
    for (const [i, text] of TEXTS.entries()) {
      const [alone] = await embedder.embedPassages([text]);
      expect(cosine(alone, together[i])).toBeGreaterThan(1 - 1e-6);
      expect(largestGap(alone, together[i])).toBeLessThan(TOLERANCE);
    }
  });

  check('answers calls made at the same time as it does one by one', { timeout: SLOW }, async () => {
    const [question, [food]] = await Promise.all([embedder.embedQuery(NIGHT), embedder.embedPassages([FOOD])]);
    expect(largestGap(question, await embedder.embedQuery(NIGHT))).toBeLessThan(TOLERANCE);
    expect(largestGap(food, (await embedder.embedPassages([FOOD]))[0])).toBeLessThan(TOLERANCE);
  });

  check('puts a question nearest to the memory that answers it', { timeout: SLOW }, async () => {
    const question = await embedder.embedQuery('How far can the traveller go on foot?');
    const [knee, night, food] = await embedder.embedPassages([KNEE, NIGHT, FOOD]);
    expect(cosine(question, knee)).toBeGreaterThan(cosine(question, night));
    expect(cosine(question, knee)).toBeGreaterThan(cosine(question, food));
  });
});

const both = hasNative ? test : test.skip;
both('native and WASM give the same vectors within 1e-6 an element', { timeout: SLOW }, async () => {
  const [ours, theirs] = await Promise.all([native.embedPassages(TEXTS), wasm.embedPassages(TEXTS)]);
  for (const i of TEXTS.keys()) expect(largestGap(ours[i], theirs[i])).toBeLessThan(TOLERANCE);
});

const auto = hasNative ? native : wasm;

describe('the local embedder', () => {
  test('loads again after it was closed', { timeout: SLOW }, async () => {
    await auto.close();
    expect(await auto.embedQuery('')).toHaveLength(384);
  });

  test('always puts the prefix of its kind before the text', { timeout: SLOW }, async () => {
    const bare = opened(createLocalEmbedder({ modelDir: modelWith({ queryPrefix: '', passagePrefix: '' }) }));
    const [asQuery, asPassage] = await bare.embedPassages([`query: ${NIGHT}`, `passage: ${NIGHT}`]);
    expect(largestGap(await auto.embedQuery(NIGHT), asQuery)).toBeLessThan(TOLERANCE);
    expect(largestGap((await auto.embedPassages([NIGHT]))[0], asPassage)).toBeLessThan(TOLERANCE);
    expect(cosine(asQuery, asPassage)).toBeLessThan(0.999);
  });

  test('finds what only the tail of a long memory says, and reads long questions to their end', {
    timeout: SLOW,
  }, async () => {
    const walk = 'We walked along the waterfront past the piers and looked at the boats in the bay. '.repeat(16);
    const [plain, tailed] = await auto.embedPassages([walk, walk + FOOD.repeat(3)]);
    const question = await auto.embedQuery('What must the traveller not eat?');
    expect(cosine(question, tailed)).toBeGreaterThan(cosine(question, plain) + 0.01);
    expect(cosine(tailed, tailed)).toBeCloseTo(1, 6);
    expect(largestGap(await auto.embedQuery(walk), await auto.embedQuery(walk + FOOD))).toBeGreaterThan(0.001);
  });

  test('tells its progress and stops between micro-batches when aborted', { timeout: SLOW }, async () => {
    const texts = Array.from({ length: 150 }, (_, i) => `Stop ${i}.`);
    const controller = new AbortController();
    const progress: [number, number][] = [];
    const embedding = auto.embedPassages(texts, {
      signal: controller.signal,
      onProgress: (done, total) => {
        progress.push([done, total]);
        if (progress.length === 2) controller.abort(new Error('enough'));
      },
    });
    await expect(embedding).rejects.toThrow('enough');
    expect(progress).toHaveLength(2);
    expect(progress[1]?.[0]).toBeGreaterThan(progress[0]?.[0] ?? 0);
    expect(progress[1]?.[1]).toBe(150);
  });

  test('knows its model from model.json, without the weights', async () => {
    const modelDir = modelWith({});
    rmSync(join(modelDir, 'model.onnx'));
    const embedder = createLocalEmbedder({ modelDir });
    const hash = createHash('sha256')
      .update(readFileSync(join(MODEL, 'model.onnx')))
      .digest('hex');
    const identity = { name: 'e5-small-v2', dimensions: 384, hash, lo: 0.73, hi: 0.88, nearDuplicate: 0.9 };
    expect(await embedder.model()).toEqual(identity);
    await expect(embedder.embedQuery('a')).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining(join(modelDir, 'model.onnx')),
    });
  });

  test('refuses weights that are not those model.json names', async () => {
    const embedder = createLocalEmbedder({ modelDir: modelWith({}, 'version https://git-lfs.github.com/spec/v1') });
    await expect(embedder.embedQuery('a')).rejects.toMatchObject({
      code: 'MODEL_MISMATCH',
      hint: expect.stringContaining('git checkout'),
    });
  });

  test('says so where there is no model', async () => {
    await expect(createLocalEmbedder({ modelDir: '/nowhere' }).model()).rejects.toMatchObject({
      code: 'CONFIGURATION',
    });
  });

  test.each(hasNative ? (['native', 'wasm', 'auto'] as const) : (['wasm', 'auto'] as const))(
    'says so where the %s runtime cannot load the weights',
    { timeout: SLOW },
    async (runtime) => {
      const sha256 = createHash('sha256').update('no model').digest('hex');
      const embedder = createLocalEmbedder({ modelDir: modelWith({ sha256 }, 'no model'), runtime });
      await expect(embedder.embedQuery('a')).rejects.toMatchObject({ code: 'EMBEDDER_FAILED' });
    },
  );

  test('on WASM prints nothing and lets the process end by itself', { timeout: SLOW }, async () => {
    const module = new URL('../src/embedders/local.ts', import.meta.url).href;
    const script = `import { createLocalEmbedder } from ${JSON.stringify(module)};
      const vector = await createLocalEmbedder({ runtime: 'wasm' }).embedQuery('a');
      process.stdout.write(String(vector.length));`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: SLOW - 5000 });
    expect(stdout).toBe('384');
  });
});
