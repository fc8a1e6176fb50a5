import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@libsql/client/sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import type { EmbeddingModel } from '../src/embedder.ts';
import { createEmbeddedStore } from '../src/stores/embedded.ts';
import { ANA, BEN, modelOf, NOW, put, questionOf, ranked, read, rowOf } from './store-fixtures.ts';

const folder = mkdtempSync(join(tmpdir(), 'superseded-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = () => join(folder, `${files++}.db`);
const storeOf = (file: string, model: Partial<EmbeddingModel> = {}, busyTimeoutMs = 5000) =>
  createEmbeddedStore({ file, model: async () => ({ ...modelOf(8), ...model }), busyTimeoutMs });

async function sql(file: string, ...statements: string[]) {
  const client = createClient({ url: `file:${file}` });
  const results = await client.batch(statements, 'write');
  client.close();
  return results.map(({ rows }) => rows);
}

/** Runs a script that has `store`, `put` and `rowOf` at hand in another process. */
function runScript(file: string, script: string) {
  const imports = `
    import { createEmbeddedStore } from '${new URL('../src/stores/embedded.ts', import.meta.url)}';
    import { ANA, entryOf, modelOf, put, rowOf } from '${new URL('./store-fixtures.ts', import.meta.url)}';
    const store = createEmbeddedStore({ file: ${JSON.stringify(file)}, model: async () => modelOf(8), busyTimeoutMs: 20000 });`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', imports + script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return { child, ended };
}

describe('the file of the embedded store, used by several at once', () => {
  it('is shared by stores that see each other write, update and erase', async () => {
    const file = newFile();
    const [one, two] = [storeOf(file), storeOf(file)];
    await Promise.all([one.setup(), two.setup()]);
    await put(one, [rowOf({ id: 'a', content: 'knee' })]);
    expect(await ranked(two, questionOf({ text: 'knee' }))).toEqual(['a']);
    const stored = await read(two, 'a');
    await two.for(ANA).commit({ update: [{ ...stored, row: { ...stored.row, confidence: 0.5 } }] });
    expect((await one.for(ANA).rank(questionOf())).ranked[0]?.trust).toBe(0.75);
    await one.for(ANA).commit({ erase: [{ ...(await read(one, 'a')), at: NOW }] });
    expect(await ranked(two, questionOf({ text: 'knee' }))).toEqual([]);
    await Promise.all([one.close(), two.close()]);
  });

  it('gives consistent rankings while another store rewrites the rows', async () => {
    const file = newFile();
    const [reader, writer] = [storeOf(file), storeOf(file)];
    await put(
      writer,
      Array.from({ length: 20 }, (_, n) => rowOf({ id: `m${n}` })),
    );
    await ranked(reader, questionOf());
    // The write starts this many steps after the ranking, so that it falls before, between and after its readings.
    for (let steps = 0; steps < 40; steps++) {
      const { row, version } = await read(writer, `m${steps % 20}`);
      const ranking = reader.for(ANA).rank(questionOf());
      for (let step = 0; step < steps; step++) await null;
      await writer.for(ANA).commit({ update: [{ row: { ...row, confidence: row.confidence / 2 }, version }] });
      for (const { row, trust } of (await ranking).ranked) expect(trust).toBe(0.5 + 0.5 * row.confidence);
    }
    await Promise.all([reader.close(), writer.close()]);
  });

  it('tells that it is busy where another process keeps it locked', async () => {
    const file = newFile();
    const store = storeOf(file, {}, 50);
    await put(store, [rowOf({ id: 'a' })]);
    const client = createClient({ url: `file:${file}` });
    const lock = await client.transaction('write');
    await expect(put(store, [rowOf({ id: 'b' })])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('busy'),
    });
    expect(await ranked(store, questionOf())).toEqual(['a']);
    await lock.rollback();
    await put(store, [rowOf({ id: 'b' })]);
    client.close();
    await store.close();
  });

  it('loses nothing where two processes make it and write at once', async () => {
    const file = newFile();
    const script = (name: string) => `
      for (let n = 0; n < 40; n++) await put(store, [rowOf({ id: '${name}' + n, content: 'knee ${name}' })]);
      await store.close();`;
    const runs = ['left', 'right'].map((name) => runScript(file, script(name)));
    expect(await Promise.all(runs.map(({ ended }) => ended))).toEqual([0, 0]);
    const store = storeOf(file);
    expect(await store.for(ANA).find({ limit: 99 })).toHaveLength(80);
    expect(await ranked(store, questionOf({ text: 'knee' }))).toHaveLength(80);
    await store.close();
  }, 60_000);

  it('holds all of a commit or none where its process is killed', async () => {
    const file = newFile();
    const { child, ended } = runScript(
      file,
      `
      for (let batch = 0; ; batch++) {
        const rows = Array.from({ length: 25 }, (_, n) => rowOf({ id: batch + '-' + n, content: 'knee ' + n }));
        await store.load({
          insert: rows.map((row) => ({ row, vector: Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0) })),
          audit: rows.map((row) => entryOf({ id: row.id, memory: row.id, after: row })),
        });
        if (batch === 3) console.log('writing');
      }`,
    );
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGKILL');
    await ended;
    const store = storeOf(file);
    const count = (await store.for(ANA).find({ limit: 100_000 })).length;
    expect(count).toBeGreaterThanOrEqual(100);
    expect(count % 25).toBe(0);
    expect(await store.for(ANA).audit({ limit: 100_000 })).toHaveLength(count);
    const tables = ['vectors', 'term_lists'].map((table) => `SELECT COUNT(*) AS rows FROM ${table}`);
    const [vectors, lists, field, integrity] = await sql(
      file,
      ...tables,
      'SELECT documents AS rows FROM field_statistics WHERE field = 1',
      'PRAGMA integrity_check',
    );
    expect([vectors, lists, field].map((rows) => rows?.[0]?.rows)).toEqual([count, count, count]);
    expect(integrity?.[0]?.[0]).toBe('ok');
    await put(store, [rowOf({ id: 'again', scope: BEN })]);
    await store.close();
  }, 60_000);
});
