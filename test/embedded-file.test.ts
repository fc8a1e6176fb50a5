import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@libsql/client/sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import type { EmbeddingModel } from '../src/embedder.ts';
import { createEmbeddedStore } from '../src/stores/embedded.ts';
import { openDatabase } from '../src/stores/embedded-database.ts';
import { migrate } from '../src/stores/embedded-schema.ts';
import { ANA, at, entryOf, modelOf, NOW, put, questionOf, read, rowOf } from './store-fixtures.ts';

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

describe('the file of the embedded store', () => {
  it('is made with its folder, and keeps everything between runs', async () => {
    const file = join(folder, 'a folder with 100% #odd? characters é', 'deep', 'store.db');
    const first = storeOf(file);
    await put(first, [rowOf({ id: 'a', content: 'knee' })]);
    const before = await first.for(ANA).rank(questionOf({ text: 'knee' }));
    await first.close();
    expect(readdirSync(join(file, '..'))).toContain('store.db');
    const second = storeOf(file);
    expect(await second.for(ANA).rank(questionOf({ text: 'knee' }))).toEqual(before);
    await second.close();
  });

  it('takes statistics back exactly when memories are erased', async () => {
    const file = newFile();
    const store = storeOf(file);
    await put(store, [rowOf({ id: 'a', title: 'knee', content: 'knee tram' })]);
    const tables = [
      'SELECT * FROM field_statistics',
      'SELECT * FROM term_statistics',
      'SELECT * FROM postings',
      'SELECT seq, terms FROM term_lists',
    ];
    const before = await sql(file, ...tables);
    await put(store, [
      rowOf({ id: 'b', content: 'knee late late', tags: ['show'] }),
      rowOf({ id: 'c', content: 'late' }),
    ]);
    const erase = await Promise.all(['b', 'c'].map(async (id) => ({ ...(await read(store, id)), at: NOW })));
    await store.for(ANA).commit({ erase });
    const empty = { documents: 0, tokens: 0 };
    const after = await sql(file, ...tables);
    expect(after.slice(1)).toEqual(before.slice(1));
    expect(after[0]?.filter((row) => row.documents !== empty.documents)).toEqual(
      before[0]?.filter((row) => row.documents !== 0),
    );
    await store.close();
  });

  it('holds no byte of an erased memory, its words, vector or audit contents', async () => {
    const file = newFile();
    const store = storeOf(file);
    const filler = Array.from({ length: 150 }, (_, n) => rowOf({ id: `f${n}`, content: `filler ${n} `.repeat(30) }));
    await put(store, filler);
    const vector = Float32Array.of(0.31, 0.42, 0.53, 0, 0, 0, 0, 0);
    vector[7] = Math.sqrt(1 - vector.reduce((sum, value) => sum + value * value, 0));
    const row = rowOf({
      id: 'a',
      title: 'Zanzibar',
      content: 'quokkas xylophone',
      tags: ['wyvern'],
      derivedFrom: ['s'],
    });
    const detail = { note: 'zeppelin' };
    await store
      .for(ANA)
      .commit({ insert: [{ row, vector }], audit: [entryOf({ id: '1', memory: 'a', after: row, detail })] });
    const stored = await read(store, 'a');
    await store.for(ANA).commit({ update: [{ ...stored, row: { ...stored.row, closedReason: 'quagmire' } }] });
    await put(
      store,
      filler.map((one) => ({ ...one, id: `${one.id}-2` })),
    );
    const bytes = () => Buffer.concat([file, `${file}-wal`].map((path) => readFileSync(path)));
    const traces = ['anzibar', 'quokka', 'xylophone', 'wyvern', 'zeppelin', 'quagmire'].map((word) =>
      Buffer.from(word),
    );
    const marks = [...traces, Buffer.from(vector.buffer)];
    expect(marks.map((mark) => bytes().includes(mark))).toEqual(marks.map(() => true));
    await store.for(ANA).commit({ erase: [{ ...(await read(store, 'a')), at: NOW }] });
    expect(marks.map((mark) => bytes().includes(mark))).toEqual(marks.map(() => false));
    await store.close();
  });

  it('is brought to the newest schema step by step, keeping what it holds', async () => {
    const file = newFile();
    const steps = [
      ['CREATE TABLE old (text TEXT)', "INSERT INTO old VALUES ('kept')"],
      ['ALTER TABLE old ADD COLUMN more TEXT'],
    ];
    const database = await openDatabase(file, 1000);
    await migrate(database, steps.slice(0, 1));
    await migrate(database, steps);
    await migrate(database, steps);
    expect((await sql(file, 'SELECT * FROM old', 'PRAGMA user_version')).map((rows) => rows[0])).toMatchObject([
      { text: 'kept', more: null },
      { user_version: 2 },
    ]);
    await database.close();
  });

  it('of schema 1 gets to know when a person spoke of each memory: when it was recorded or confirmed', async () => {
    const file = newFile();
    const store = storeOf(file);
    await put(store, [rowOf({ id: 'a' }), rowOf({ id: 'b', confirmedAt: NOW - 5 })]);
    await store.close();
    await sql(
      file,
      'DROP INDEX memories_by_life',
      'ALTER TABLE memories DROP COLUMN heard_at',
      'PRAGMA user_version = 1',
    );
    const opened = storeOf(file);
    expect((await read(opened, 'a')).row).toEqual(rowOf({ id: 'a' }));
    expect((await read(opened, 'b')).row.heardAt).toBe(NOW - 5);
    expect((await opened.for(ANA).lifetimes(NOW))[0]?.open.count).toBe(2);
    await opened.close();
  });

  it('is left as it was where a step of the migration fails', async () => {
    const file = newFile();
    const database = await openDatabase(file, 1000);
    await migrate(database, [['CREATE TABLE old (text TEXT)']]);
    const broken = [['CREATE TABLE old (text TEXT)'], ['CREATE TABLE half (text TEXT)', 'NO SQL']];
    await expect(migrate(database, broken)).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect((await sql(file, "SELECT 1 FROM sqlite_schema WHERE name = 'half'"))[0]).toHaveLength(0);
    await database.close();
  });

  it('is refused where a newer version of the schema wrote it', async () => {
    const file = newFile();
    const store = storeOf(file);
    await store.setup();
    await store.close();
    await sql(file, 'PRAGMA user_version = 99');
    await expect(storeOf(file).setup()).rejects.toMatchObject({
      code: 'SCHEMA_MISMATCH',
      hint: expect.stringContaining('--db'),
    });
  });

  it('is refused where it holds the vectors of another model, saying how to re-embed', async () => {
    const file = newFile();
    await put(storeOf(file), [rowOf({ id: 'a' })]);
    for (const other of [{ name: 'other' }, { dimensions: 9 }, { hash: 'other' }]) {
      const error = { code: 'MODEL_MISMATCH', hint: expect.stringMatching(/export.*import.*new database/) };
      await expect(storeOf(file, other).setup()).rejects.toMatchObject(error);
    }
    await storeOf(file, { hash: null, lo: 0 }).setup();
  });

  it('refuses vectors that would give wrong cosines', async () => {
    const store = storeOf(newFile());
    for (const vector of [
      null,
      new Float32Array(8),
      new Float32Array(7).fill(0.5),
      at(1).map((x) => x * 2),
      new Float32Array(8).fill(Number.NaN),
    ]) {
      await expect(store.for(ANA).commit({ insert: [{ row: rowOf({ id: 'a' }), vector }] })).rejects.toMatchObject({
        code: /MODEL_MISMATCH|EMBEDDER_FAILED/,
      });
    }
    await expect(store.for(ANA).rank(questionOf({ vector: null }))).rejects.toMatchObject({ code: 'MODEL_MISMATCH' });
    expect(await store.for(ANA).find({ limit: 9 })).toEqual([]);
    await store.close();
  });

  it('is refused, with advice, where it is no database, another program’s, a folder or out of reach', async () => {
    const text = newFile();
    writeFileSync(text, 'this is no database, only text that is long enough to look like a header of one '.repeat(40));
    const foreign = newFile();
    await sql(foreign, 'CREATE TABLE notes (text TEXT)');
    const directory = newFile();
    mkdirSync(directory);
    const below = join(text, 'below', 'store.db');
    for (const file of [text, foreign, directory, below]) {
      const error = {
        name: 'SupersededError',
        code: 'STORE_UNAVAILABLE',
        hint: expect.stringMatching(/SUPERSEDED_DB.*--db/),
      };
      await expect(storeOf(file).setup(), file).rejects.toMatchObject(error);
    }
    expect((await sql(foreign, 'SELECT name FROM sqlite_schema'))[0]).toHaveLength(1);
  });

  it.skipIf(process.getuid?.() === 0)('is refused, with advice, where it may not be written', async () => {
    const file = newFile();
    await put(storeOf(file), [rowOf({ id: 'a' })]);
    chmodSync(file, 0o444);
    await expect(put(storeOf(file), [rowOf({ id: 'b' })])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('is not reopened by a store that was closed', async () => {
    const store = storeOf(newFile());
    await store.setup();
    await store.close();
    await expect(store.for(ANA).get(['a'])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await store.close();
  });
});
