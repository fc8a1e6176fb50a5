import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { DEFAULT_POLICY, type WindowPolicy } from '../src/learned-windows.ts';
import { createEmbeddedStore } from '../src/stores/embedded.ts';
import { createSuperseded, type Superseded } from '../src/superseded.ts';
import { createFakeEmbedder, FAKE_MODEL } from './fake-embedder.ts';

const undo: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** Runs after the test, last given first. */
export const afterThisTest = (step: () => Promise<void> | void): void => {
  undo.push(step);
};

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'superseded-test-'));
  afterThisTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface TestService extends Superseded {
  /** The instant of the next verb, in milliseconds; moved by tests. */
  now: number;
  at(instant: string): void;
  embedder: ReturnType<typeof createFakeEmbedder>;
}

/** A service over a temporary embedded store, with a clock that stands still until a test moves it. */
export function temporaryService(
  start = '2026-03-01T09:00:00Z',
  file = join(temporaryFolder(), 'test.db'),
  windows: WindowPolicy = DEFAULT_POLICY,
): TestService {
  const embedder = createFakeEmbedder();
  const state = { now: Date.parse(start) };
  const store = createEmbeddedStore({ file, model: async () => FAKE_MODEL });
  const service = createSuperseded({ store, embedder, clock: () => state.now, windows });
  afterThisTest(() => service.close());
  return Object.assign(state, service, {
    embedder,
    at(instant: string) {
      state.now = Date.parse(instant);
    },
  });
}
