import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withVectorCache } from '../src/embedders/cache.ts';
import { createEmbeddedStore } from '../src/stores/embedded.ts';
import { createSuperseded } from '../src/superseded.ts';
import { createFakeEmbedder, FAKE_MODEL } from './fake-embedder.ts';
import { afterThisTest, temporaryFolder } from './temporary.ts';

/** After an erasure the bytes are in no file: neither text, words, vectors nor what was said about it. */

const SECRET = 'zanzibarquartz';
const NOTE = 'xylophonevortex';

function service() {
  const folder = temporaryFolder();
  const embedder = withVectorCache(createFakeEmbedder(), { directory: join(folder, 'cache') });
  const store = createEmbeddedStore({ file: join(folder, 'memories.db'), model: async () => FAKE_MODEL });
  const opened = createSuperseded({ store, embedder });
  afterThisTest(() => opened.close());
  return { folder, embedder, opened };
}

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
const holding = (folder: string, bytes: Buffer): string[] =>
  files(folder).filter((path) => readFileSync(path).includes(bytes));

describe('an erased memory', () => {
  it('leaves none of its bytes in the database, its log or the cache, while its neighbours stay', async () => {
    const { folder, embedder, opened } = service();
    const user = opened.for('ann');
    for (let i = 0; i < 50; i++)
      await user.remember({ id: `n${i}`, content: `Neighbour number ${i} with words of its own` });
    await user.remember({
      id: 'a',
      content: `The word is ${SECRET}`,
      title: `About ${SECRET}`,
      tags: [`${SECRET}-tag`],
    });
    await user.feedback('a', { outcome: 1, query: `what about ${NOTE}`, note: NOTE });
    await user.close('a', { reason: `because of ${NOTE}` });
    await user.reopen('a', { reason: NOTE });
    const [vector] = await embedder.embedPassages([`About ${SECRET}\nThe word is ${SECRET}`]);
    const bytes = Buffer.from(vector?.buffer ?? new ArrayBuffer(0));
    expect(holding(folder, Buffer.from(SECRET)).length).toBeGreaterThan(0);
    expect(holding(folder, bytes).length).toBeGreaterThan(0);
    await user.erase('a');
    for (const trace of [Buffer.from(SECRET), Buffer.from(NOTE), bytes]) expect(holding(folder, trace)).toEqual([]);
    await opened.close();
    for (const trace of [Buffer.from(SECRET), Buffer.from(NOTE), bytes]) expect(holding(folder, trace)).toEqual([]);
    expect(holding(folder, Buffer.from('Neighbour number 7')).length).toBeGreaterThan(0);
  });

  it('leaves nothing behind when everything of a user goes', async () => {
    const { folder, opened } = service();
    const user = opened.for('ann');
    for (let i = 0; i < 20; i++) await user.remember({ content: `Note ${i} about ${SECRET}` });
    expect(await user.eraseAll({ confirm: 'ann' })).toMatchObject({ erased: 20 });
    expect(holding(folder, Buffer.from(SECRET))).toEqual([]);
  });
});
