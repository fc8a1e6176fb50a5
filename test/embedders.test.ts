import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Embedder } from '../src/embedder.ts';
import { withVectorCache } from '../src/embedders/cache.ts';
import { createLocalEmbedder } from '../src/embedders/local.ts';
import { readModelCard, readTokenizer } from '../src/embedders/local-model.ts';
import { toMicroBatches } from '../src/embedders/micro-batches.ts';
import { splitIntoRuns } from '../src/embedders/passages.ts';
import { createFakeEmbedder } from './fake-embedder.ts';

const MODEL = fileURLToPath(new URL('../models/e5-small-v2', import.meta.url));
const SLOW = 60_000;
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

const folders: string[] = [];
const open: Embedder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
afterAll(async () => {
  for (const embedder of open) await embedder.close();
});

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'superseded-embedders-'));
  folders.push(folder);
  return folder;
}

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
  const folder = temporary();
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
    const [question, [night], [food]] = await Promise.all([
      embedder.embedQuery(KNEE),
      embedder.embedPassages([NIGHT]),
      embedder.embedPassages([FOOD]),
    ]);
    expect(largestGap(question, await embedder.embedQuery(KNEE))).toBeLessThan(TOLERANCE);
    expect(largestGap(night, (await embedder.embedPassages([NIGHT]))[0])).toBeLessThan(TOLERANCE);
    expect(largestGap(food, (await embedder.embedPassages([FOOD]))[0])).toBeLessThan(TOLERANCE);
  });

  check('puts a question nearest to the memory that answers it', { timeout: SLOW }, async () => {
    const question = await embedder.embedQuery('How far can the traveller go on foot?');
    const [knee, night, food] = await embedder.embedPassages([KNEE, NIGHT, FOOD]);
    expect(cosine(question, knee)).toBeGreaterThan(cosine(question, night));
    expect(cosine(question, knee)).toBeGreaterThan(cosine(question, food));
  });

  check('loads again after it was closed', { timeout: SLOW }, async () => {
    await embedder.close();
    expect(await embedder.embedQuery('')).toHaveLength(384);
  });
});

const both = hasNative ? test : test.skip;
both('native and WASM give the same vectors within 1e-6 an element', { timeout: SLOW }, async () => {
  const [ours, theirs] = await Promise.all([native.embedPassages(TEXTS), wasm.embedPassages(TEXTS)]);
  for (const i of TEXTS.keys()) expect(largestGap(ours[i], theirs[i])).toBeLessThan(TOLERANCE);
});

const auto = hasNative ? native : wasm;

describe('the local embedder', () => {
  test('always puts the prefix of its kind before the text', { timeout: SLOW }, async () => {
    const bare = opened(createLocalEmbedder({ modelDir: modelWith({ queryPrefix: '', passagePrefix: '' }) }));
    const [asQuery, asPassage] = await bare.embedPassages([`query: ${NIGHT}`, `passage: ${NIGHT}`]);
    expect(largestGap(await auto.embedQuery(NIGHT), asQuery)).toBeLessThan(TOLERANCE);
    expect(largestGap((await auto.embedPassages([NIGHT]))[0], asPassage)).toBeLessThan(TOLERANCE);
    expect(cosine(asQuery, asPassage)).toBeLessThan(0.999);
  });

  test('finds what only the tail of a long memory says, also by a long question', { timeout: SLOW }, async () => {
    const walk = 'We walked along the waterfront past the piers and looked at the boats in the bay. '.repeat(25);
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

describe('splitting', async () => {
  const tokenize = await readTokenizer(MODEL);
  const { maxTokens } = await readModelCard(MODEL);
  const budget = maxTokens - 4;

  test.each([
    ['sentences', 'The cable car leaves from Powell and Market. It costs eight dollars! Worth it? '.repeat(100)],
    ['one endless sentence', 'and then we walked on past incomprehensibilities '.repeat(160)],
    ['Chinese', '我不吃花生。我喜欢博物馆。'.repeat(600)],
    ['one word', 'a'.repeat(8000)],
    ['emoji', '🌉 '.repeat(4000)],
  ])('keeps every token of 8,000 characters of %s, in order, in runs within the budget', (_, text) => {
    const runs = splitIntoRuns(text, { budget, tokenize });
    expect(runs.length).toBeGreaterThan(1);
    expect(Math.max(...runs.map((run) => run.length))).toBeLessThanOrEqual(budget);
    expect(Math.min(...runs.map((run) => run.length))).toBeGreaterThan(budget / 4);
    expect(runs.flat()).toEqual(tokenize(text).ids);
  });

  test('leaves a text within the budget whole', () => {
    expect(splitIntoRuns(KNEE, { budget, tokenize })).toEqual([tokenize(KNEE).ids]);
  });

  test('tells words of more than 100 characters apart', () => {
    expect(tokenize('a'.repeat(150)).ids).not.toEqual(tokenize('b'.repeat(150)).ids);
  });
});

test('micro-batches hold each run once, sorted by length, within the limit', () => {
  const runs = Array.from({ length: 60 }, (_, i) => Array.from({ length: 1 + ((i * 37) % 90) }, () => i + 1));
  const batches = toMicroBatches(runs, 256);
  for (const { rows, columns, ids, mask, positions } of batches) {
    expect(rows * columns).toBeLessThanOrEqual(256);
    positions.forEach((position, row) => {
      const length = runs[position]?.length ?? 0;
      expect([...ids.slice(row * columns, row * columns + length)].map(Number)).toEqual(runs[position]);
      expect(mask.slice(row * columns, (row + 1) * columns).reduce((sum, bit) => sum + bit, 0n)).toBe(BigInt(length));
    });
  }
  expect(batches.flatMap((batch) => batch.positions).toSorted((a, b) => a - b)).toEqual([...runs.keys()]);
});

describe('the vector cache', () => {
  const filesIn = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.f32'));

  test('serves a text again without the embedder, in the next run too, and each kind apart', async () => {
    const directory = temporary();
    const first = createFakeEmbedder();
    const vectors = await withVectorCache(first, { directory }).embedPassages([KNEE, NIGHT, KNEE]);
    expect(first.embedded).toEqual([KNEE, NIGHT]);
    expect(vectors[2]).toEqual(vectors[0]);

    const second = createFakeEmbedder();
    const cached = withVectorCache(second, { directory });
    const progress: number[] = [];
    const options = { onProgress: (done: number) => progress.push(done) };
    expect(await cached.embedPassages([NIGHT, KNEE], options)).toEqual([vectors[1], vectors[0]]);
    expect(second.embedded).toEqual([]);
    await cached.embedPassages([NIGHT, FOOD], options);
    await cached.embedQuery(NIGHT);
    expect(second.embedded).toEqual([FOOD, NIGHT]);
    expect(progress).toEqual([2, 2]);
  });

  test(
    'spares loading the local model',
    async () => {
      const directory = temporary();
      const modelDir = modelWith({});
      rmSync(join(modelDir, 'model.onnx'));
      const withoutWeights = createLocalEmbedder({ modelDir });
      const vector = (await auto.embedPassages([KNEE]))[0] ?? new Float32Array();
      const model = await auto.model();
      const known: Embedder = { ...withoutWeights, model: async () => model, embedPassages: async () => [vector] };
      await withVectorCache(known, { directory }).embedPassages([KNEE]);

      const cached = withVectorCache(withoutWeights, { directory });
      expect(await cached.embedPassages([KNEE])).toEqual([vector]);
      await expect(cached.embedPassages([NIGHT])).rejects.toMatchObject({ code: 'CONFIGURATION' });
    },
    SLOW,
  );

  test('keeps the vectors of another model apart', async () => {
    const directory = temporary();
    await withVectorCache(createFakeEmbedder(), { directory }).embedPassages([KNEE]);
    const other = createFakeEmbedder();
    const model = await other.model();
    await withVectorCache(
      { ...other, model: async () => ({ ...model, hash: 'words-2' }) },
      { directory },
    ).embedPassages([KNEE]);
    expect(other.embedded).toEqual([KNEE]);
  });

  test('holds no text, and forgets a text under every model and kind, unfinished writes included', async () => {
    const directory = temporary();
    const fake = createFakeEmbedder();
    const model = await fake.model();
    const other = withVectorCache({ ...fake, model: async () => ({ ...model, hash: 'words-2' }) }, { directory });
    const cached = withVectorCache(fake, { directory });
    await other.embedPassages([KNEE]);
    await cached.embedPassages([KNEE]);
    const unfinished = join(directory, `${filesIn(directory)[0]}.killed.tmp`);
    writeFileSync(unfinished, 'half');
    await cached.embedQuery(KNEE);
    await cached.embedPassages([NIGHT]);
    expect(filesIn(directory)).toHaveLength(5);
    for (const name of filesIn(directory)) expect(readFileSync(join(directory, name), 'latin1')).not.toContain('knee');

    await cached.forget([KNEE]);
    expect(filesIn(directory)).toHaveLength(1);
    expect(fake.forgotten).toEqual([KNEE]);
    await withVectorCache(fake, { directory: join(directory, 'absent') }).forget([KNEE]);
  });

  test.each<[string, (path: string) => void]>([
    ['cut short', (path) => truncateSync(path, 100)],
    ['empty', (path) => truncateSync(path, 0)],
    ['of zeros', (path) => writeFileSync(path, new Uint8Array(readFileSync(path).length))],
  ])('makes a vector again where its file is %s', async (_, damage) => {
    const directory = temporary();
    const [made] = await withVectorCache(createFakeEmbedder(), { directory }).embedPassages([KNEE]);
    damage(join(directory, filesIn(directory)[0] ?? ''));
    const again = createFakeEmbedder();
    expect(await withVectorCache(again, { directory }).embedPassages([KNEE])).toEqual([made]);
    expect(again.embedded).toEqual([KNEE]);
  });

  test('that cannot be written is said once, and embedding goes on', async () => {
    const file = join(temporary(), 'a-file');
    writeFileSync(file, '');
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const cached = withVectorCache(createFakeEmbedder(), { directory: join(file, 'cache'), warn });
    expect(await cached.embedPassages([KNEE])).toHaveLength(1);
    expect(await cached.embedQuery(KNEE)).toHaveLength(64);
    expect(warnings).toHaveLength(1);
    await cached.forget([KNEE]);
  });

  test('reads 35 vectors of 384 dimensions in under 50 ms', async () => {
    const directory = temporary();
    const texts = Array.from({ length: 35 }, (_, i) => `Text ${i}`);
    const model = await auto.model();
    const wide: Embedder = {
      ...createFakeEmbedder(),
      model: async () => model,
      embedPassages: async (all) => all.map((_, i) => new Float32Array(384).fill(i)),
    };
    const cached = withVectorCache(wide, { directory });
    await cached.embedPassages(texts);
    const times: number[] = [];
    for (let run = 0; run < 5; run++) {
      const start = performance.now();
      await cached.embedPassages(texts);
      times.push(performance.now() - start);
    }
    expect(Math.min(...times)).toBeLessThan(50);
  });
});
