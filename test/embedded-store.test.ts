import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { createEmbeddedStore } from '../src/stores/embedded.ts';
import { describeStore } from './store-contract.ts';
import { modelOf } from './store-fixtures.ts';

const folder = mkdtempSync(join(tmpdir(), 'superseded-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = () => join(folder, `store-${files++}.db`);

describeStore('the embedded store', {
  open: async () => {
    const store = createEmbeddedStore({ file: newFile(), model: async () => modelOf(8) });
    await store.setup();
    return store;
  },
});
