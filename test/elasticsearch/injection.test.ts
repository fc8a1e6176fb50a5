import { describe, expect, inject, it } from 'vitest';
import type { Kind } from '../../src/memory.ts';
import { HOSTILE } from '../hostile-texts.ts';
import { ANA, at, BEN, FLAT, NOW, rowOf } from '../store-fixtures.ts';
import { newStore, onWhat } from './stores.ts';

describe.skipIf(inject('cluster') === null).each(['fuse', 'portable'] as const)(
  `hostile texts, %s${onWhat()}`,
  (dialect) => {
    it('are stored, found and asked as what they are, and no other scope is read', async () => {
      const store = await newStore({ dialect });
      const texts = Object.values(HOSTILE);
      const own = texts.map((text, n) =>
        rowOf({
          id: `own-${n}`,
          title: text.slice(0, 200),
          content: text,
          tags: [text.slice(0, 64)],
          topic: text.slice(0, 40),
          closedReason: text.slice(0, 500),
        }),
      );
      const foreign = own.map((row) => ({ ...row, scope: BEN, id: row.id.replace('own', 'foreign') }));
      await store.load({ insert: [...own, ...foreign].map((row) => ({ row, vector: at(0.5) })) });
      const ana = store.for(ANA);
      for (const text of texts) {
        const query = {
          text,
          vector: at(1),
          calibration: { lo: 0, hi: 1 },
          aging: FLAT,
          limit: 100,
          includeHistory: false,
          strict: false,
        };
        const clocks = { asOf: NOW, knownAt: NOW };
        const all = await ana.rank({ ...query, ...clocks, kinds: [], topics: [], tags: [] });
        expect(all.ranked.map(({ row }) => row.scope)).toEqual(own.map(() => ANA));
        const tags = [text.slice(0, 64)];
        const tagged = await ana.rank({ ...query, ...clocks, kinds: [], topics: [text.slice(0, 40)], tags });
        expect(tagged.ranked.map(({ row }) => row)).toEqual(own.filter(({ content }) => content === text));
        const none = await ana.rank({ ...query, ...clocks, kinds: [text as Kind], topics: [], tags: [] });
        expect(none.ranked).toEqual([]);
        expect((await ana.find({ tag: tags[0] ?? '', limit: 99 })).map(({ row }) => row.content)).toEqual([text]);
        expect(await ana.get([text, 'foreign-0', `${BEN}|foreign-0`, '../own-0'])).toEqual([]);
        expect(await ana.tombstones([text])).toEqual([]);
      }
      await store.close();
    });
  },
);
