import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Embedder } from '../src/embedder.ts';
import { withVectorCache } from '../src/embedders/cache.ts';
import { createLocalEmbedder } from '../src/embedders/local.ts';
import { createFakeEmbedder } from './fake-embedder.ts';
import { temporaryFolder } from './temporary.ts';

const KNEE = 'Since my knee injury I walk three miles a day at most and want to stay near transit.';
const NIGHT = 'I love late shows at The Fillmore.';
const FOOD = 'I am vegetarian and allergic to peanuts.';

describe('the vector cache', () => {
  const filesIn = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.f32'));

  test('serves a text again without the embedder, in the next run too, and each kind apart', async () => {
    const directory = temporaryFolder();
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

  test('spares loading the local model', async () => {
    const directory = temporaryFolder();
    const modelDir = temporaryFolder();
    cpSync(fileURLToPath(new URL('../models/e5-small-v2/model.json', import.meta.url)), join(modelDir, 'model.json'));
    const local = createLocalEmbedder({ modelDir });
    const vector = new Float32Array(384).fill(Math.sqrt(1 / 384));
    const earlier: Embedder = { ...local, embedPassages: async () => [vector] };
    await withVectorCache(earlier, { directory }).embedPassages([KNEE]);

    const cached = withVectorCache(local, { directory });
    expect(await cached.embedPassages([KNEE])).toEqual([vector]);
    await expect(cached.embedPassages([NIGHT])).rejects.toMatchObject({ code: 'CONFIGURATION' });
  });

  test('keeps the vectors of another model apart', async () => {
    const directory = temporaryFolder();
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
    const directory = temporaryFolder();
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
    const directory = temporaryFolder();
    const [made] = await withVectorCache(createFakeEmbedder(), { directory }).embedPassages([KNEE]);
    damage(join(directory, filesIn(directory)[0] ?? ''));
    const again = createFakeEmbedder();
    expect(await withVectorCache(again, { directory }).embedPassages([KNEE])).toEqual([made]);
    expect(again.embedded).toEqual([KNEE]);
  });

  test('that cannot be written is said once, and embedding goes on', async () => {
    const file = join(temporaryFolder(), 'a-file');
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
    const directory = temporaryFolder();
    const texts = Array.from({ length: 35 }, (_, i) => `Text ${i}`);
    const model = { ...(await createFakeEmbedder().model()), dimensions: 384 };
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
