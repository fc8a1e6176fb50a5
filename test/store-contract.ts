import { afterEach, describe, it } from 'vitest';
import type { MemoryStore } from '../src/store.ts';
import { lifetimesContract } from './store-contract-lifetimes.ts';
import { lookupContract } from './store-contract-lookup.ts';
import { rankingContract } from './store-contract-ranking.ts';
import { selectionContract } from './store-contract-selection.ts';
import { writingContract } from './store-contract-writing.ts';

/** The behaviour every store has; a driver's own test opens it on its database. */

export interface StoreUnderTest {
  /** A new, empty store of `modelOf(8)`, set up; the suite closes it. */
  open: () => Promise<MemoryStore>;
  /** The same, with searches that lag behind what is written, where a driver has such. */
  openLate?: () => Promise<MemoryStore>;
  /** Tests the driver cannot pass, by name, each with the reason. */
  skip?: Record<string, string>;
}

/** Adds one sentence of the specification with its proof. */
export type Specify = (sentence: string, proof: (store: MemoryStore) => Promise<void>, which?: 'late') => void;

export function describeStore(name: string, { open, openLate = open, skip = {} }: StoreUnderTest): void {
  describe(name, () => {
    const opened: MemoryStore[] = [];
    const unknown = new Set(Object.keys(skip));
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });
    const specify: Specify = (sentence, proof, which) => {
      unknown.delete(sentence);
      const reason = skip[sentence];
      if (reason) return it.skip(`${sentence} (${reason})`);
      it(sentence, async () => {
        const store = await (which === 'late' ? openLate : open)();
        opened.push(store);
        await proof(store);
      });
    };
    describe('ranking', () => rankingContract(specify));
    describe('what is ranked', () => selectionContract(specify));
    describe('looking up', () => lookupContract(specify));
    describe('lifetimes', () => lifetimesContract(specify));
    describe('writing', () => writingContract(specify));
    if (unknown.size > 0) throw new Error(`skipped tests that do not exist: ${[...unknown].join('; ')}`);
  });
}
