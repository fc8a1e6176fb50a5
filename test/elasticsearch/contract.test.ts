import { describe, inject, it } from 'vitest';
import { describeStore } from '../store-contract.ts';
import { newStore, onWhat } from './stores.ts';

if (inject('cluster') === null) {
  describe('the Elasticsearch store', () =>
    it.skip('needs an Elasticsearch; the start of the run says what is missing', () => {}));
} else {
  for (const dialect of ['fuse', 'portable'] as const) {
    describeStore(`the Elasticsearch store, ${dialect}${onWhat()}`, {
      open: () => newStore({ dialect }),
      openLate: () => newStore({ dialect, refresh: false }),
    });
  }
}
