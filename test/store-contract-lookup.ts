import { expect } from 'vitest';
import { type MemoryRow, SHARED, statusOf } from '../src/memory.ts';
import type { Filter } from '../src/store.ts';
import type { Specify } from './store-contract.ts';
import { ANA, at, BEN, closed, DAY, entryOf, NOW, put, read, rowOf, T0 } from './store-fixtures.ts';

/** Reading without ranking. */
export function lookupContract(specify: Specify): void {
  specify('a memory comes back with every field as it was written', async (store) => {
    const row: MemoryRow = {
      id: 'a.b_c:d-E',
      scope: ANA,
      kind: 'procedural',
      topic: 'lodging',
      title: 'A title “with” marks',
      content: 'content\nof two lines',
      tags: ['b', 'a', 'with "quotes"'],
      createdAt: T0 + 1,
      validFrom: T0 - 2,
      plannedTo: T0 + 30 * DAY,
      validTo: T0 + 3 * DAY,
      closedAt: T0 + 4 * DAY,
      closedAs: 'superseded',
      closedReason: 'a reason',
      supersedes: ['x', 'y'],
      supersededBy: 'z',
      denies: ['n'],
      deniedBy: 'm',
      deniedAt: T0 + 5,
      reopens: 'o',
      reopenedBy: 'p',
      reopenedAt: T0 + 6,
      derivedFrom: ['q', 'r'],
      confidence: 0.1 + 0.2,
      feedbackSum: -1 / 3,
      feedbackCount: 7,
      freshAt: T0 + 8,
      confirmedAt: T0 + 9,
      textKey: 'key',
      similarTo: ['u', 'v'],
      changedMind: true,
      reviewedAt: T0 + 10,
      changedAt: T0,
      heardAt: T0 + 11,
      changes: 3,
    };
    const bare = rowOf({ id: 'bare' });
    await put(store, [row, bare]);
    const stored = await store.for(ANA).get(['a.b_c:d-E', 'bare']);
    const byId = new Map(stored.map((one) => [one.row.id, one.row]));
    expect(byId.get('a.b_c:d-E')).toEqual(row);
    expect(byId.get('bare')).toEqual(bare);
    expect((await store.for(ANA).find({ limit: 5 })).map((one) => one.row)).toEqual([row, bare]);
  });

  specify('get prefers own memories over shared ones of the same id and leaves out unknown ids', async (store) => {
    await put(store, [
      rowOf({ id: 'both', content: 'own' }),
      rowOf({ id: 'both', content: 'of all', scope: SHARED }),
      rowOf({ id: 'landmark', scope: SHARED }),
    ]);
    const found = await store.for(ANA).get(['both', 'landmark', 'unknown', 'both']);
    expect(found.map(({ row }) => `${row.id} ${row.scope}`).sort()).toEqual([`both ${ANA}`, `landmark ${SHARED}`]);
    expect((await store.for(BEN).get(['both'])).map(({ row }) => row.content)).toEqual(['of all']);
    expect(await store.for(ANA).get([])).toEqual([]);
  });

  specify('find gives own memories newest first, and its pages join without gap or repetition', async (store) => {
    const rows = Array.from({ length: 25 }, (_, n) => rowOf({ id: `m${n}`, createdAt: T0 + (n % 5) }));
    await put(store, [...rows, rowOf({ id: 'of-all', scope: SHARED })]);
    const expected = [...rows].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
    const seen: string[] = [];
    let after: Filter['after'];
    for (;;) {
      const page = await store.for(ANA).find({ limit: 4, ...(after && { after }) });
      seen.push(...page.map(({ row }) => row.id));
      const last = page.at(-1)?.row;
      if (!last) break;
      after = { createdAt: last.createdAt, id: last.id };
    }
    expect(seen).toEqual(expected);
  });

  specify('find by status agrees with the state of each memory at the clocks', async (store) => {
    const instants = [T0, T0 + DAY, T0 + 2 * DAY];
    const rows: MemoryRow[] = [];
    for (const validFrom of instants) {
      for (const plannedTo of [null, T0 + DAY, T0 + 3 * DAY]) {
        for (const end of [null, ...instants]) {
          if ((plannedTo !== null && plannedTo <= validFrom) || (end !== null && end < validFrom)) continue;
          const row = rowOf({ id: `r${rows.length}`, validFrom, plannedTo });
          rows.push(end === null ? row : closed(row, T0 + DAY, end));
        }
      }
    }
    await put(store, [...rows, rowOf({ id: 'later', createdAt: T0 + 9 * DAY })]);
    for (const asOf of [T0 - 1, ...instants, T0 + 3 * DAY]) {
      for (const knownAt of [T0, T0 + DAY - 1, T0 + DAY, T0 + 3 * DAY]) {
        const clocks = { asOf, knownAt };
        const held = (row: MemoryRow) => ['open', 'upcoming'].includes(statusOf(row, clocks));
        const ids = async (status: 'open' | 'closed' | 'all') =>
          (await store.for(ANA).find({ status, clocks, limit: 100 })).map(({ row }) => row.id).sort();
        const of = (some: MemoryRow[]) => some.map(({ id }) => id).sort();
        expect(await ids('open')).toEqual(of(rows.filter(held)));
        expect(await ids('closed')).toEqual(of(rows.filter((row) => !held(row))));
        expect(await ids('all')).toEqual(of(rows));
      }
    }
  });

  specify('find filters by text key, source, kind, topic and exact tag, all together', async (store) => {
    await put(store, [
      rowOf({ id: 'a', content: 'Same  text', derivedFrom: ['s1', 's2'], tags: ['late show'] }),
      rowOf({ id: 'b', content: 'same text', kind: 'semantic', topic: 'fact', derivedFrom: ['s2'], tags: ['late'] }),
      rowOf({ id: 'c', content: 'other', kind: 'semantic' }),
      rowOf({ id: 's1', scope: SHARED }),
    ]);
    const ids = async (filter: Partial<Filter>) =>
      (await store.for(ANA).find({ limit: 9, ...filter })).map(({ row }) => row.id).sort();
    expect(await ids({ textKey: rowOf({ id: 'x', content: 'same text' }).textKey })).toEqual(['a']);
    expect(await ids({ derivedFrom: 's2' })).toEqual(['a', 'b']);
    expect(await ids({ derivedFrom: 's1' })).toEqual(['a']);
    expect(await ids({ derivedFrom: 's' })).toEqual([]);
    expect(await ids({ kind: 'semantic' })).toEqual(['b', 'c']);
    expect(await ids({ topic: 'fact' })).toEqual(['b']);
    expect(await ids({ tag: 'late' })).toEqual(['b']);
    expect(await ids({ kind: 'semantic', topic: 'preference' })).toEqual(['c']);
  });

  specify(
    'by link or text key find sees what get sees, whatever searches see',
    async (store) => {
      const ana = store.for(ANA);
      for (let n = 0; n < 5; n++) {
        const row = rowOf({ id: `m${n}`, content: `text ${n}`, derivedFrom: [`s${n}`], denies: [`d${n}`] });
        const links = [{ derivedFrom: `s${n}` }, { denies: `d${n}` }, { textKey: row.textKey }];
        const ids = async (filter: Partial<Filter>) =>
          (await ana.find({ limit: 9, ...filter })).map(({ row }) => row.id);
        for (const filter of links) {
          const id = `${row.id}-${Object.keys(filter)[0]}`;
          await ana.commit({ insert: [{ row: { ...row, id }, vector: at(0.5) }] });
          expect(await ids(filter)).toContain(id);
        }
        const stored = await read(store, `m${n}-denies`);
        await ana.commit({ update: [{ ...stored, row: { ...stored.row, derivedFrom: [`t${n}`], denies: [] } }] });
        expect(await ids({ derivedFrom: `t${n}` })).toEqual([`m${n}-denies`]);
        expect(await ids({ denies: `d${n}` })).toEqual([`m${n}-textKey`, `m${n}-derivedFrom`]);
      }
    },
    'late',
  );

  specify('audit entries come newest first, then by id, in pages, all or those of one memory', async (store) => {
    const row = rowOf({ id: 'm0' });
    const audit = Array.from({ length: 12 }, (_, n) =>
      entryOf({
        id: `e${String(n).padStart(2, '0')}`,
        at: T0 + (n % 4),
        memory: `m${n % 3}`,
        verb: 'feedback',
        before: row,
        after: { ...row, confidence: 0.5 },
        detail: { note: 'a "note"', outcome: -0.5, certain: true },
      }),
    );
    await store.for(ANA).commit({ insert: [{ row, vector: at(1) }], audit });
    const expected = [...audit].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
    expect(await store.for(ANA).audit({ limit: 100 })).toEqual(expected);
    const first = await store.for(ANA).audit({ limit: 5 });
    const last = first.at(-1) ?? entryOf({ id: '', memory: '' });
    const rest = await store.for(ANA).audit({ limit: 100, after: { at: last.at, id: last.id } });
    expect([...first, ...rest]).toEqual(expected);
    const one = await store.for(ANA).audit({ memory: 'm1', limit: 100 });
    expect(one).toEqual(expected.filter(({ memory }) => memory === 'm1'));
  });

  specify('tombstones tell which of these own ids were erased, and when', async (store) => {
    await put(store, [rowOf({ id: 'a' }), rowOf({ id: 'b' })]);
    const [stored] = await store.for(ANA).get(['a']);
    if (stored) await store.for(ANA).commit({ erase: [{ ...stored, at: NOW }] });
    expect(await store.for(ANA).tombstones(['a', 'b', 'c'])).toEqual([{ id: 'a', at: NOW }]);
    expect(await store.for(ANA).tombstones([])).toEqual([]);
  });
}
