import { describe, expect, it } from 'vitest';
import { SupersededError } from '../src/errors.ts';
import { temporaryService } from './temporary.ts';

/** What users of other memories report, one test a row: each is a failure that must not happen here. */

function ann(start?: string) {
  const service = temporaryService(start);
  return { service, user: service.for('ann'), at: (instant: string) => service.at(instant) };
}
const ids = (hits: { memory: { id: string } }[]) => hits.map(({ memory }) => memory.id);
const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'none',
    (error: unknown) => (error instanceof SupersededError ? error.code : 'unknown'),
  );

describe('complaints about other memories', () => {
  it('row 1: a double correction leaves only the last value', async () => {
    const { user } = ann();
    await user.remember({ id: '1', content: 'Lives in Bern' });
    await user.remember({ id: '2', content: 'Lives in Basel', supersedes: ['1'] });
    await user.remember({ id: '3', content: 'Lives in Zug', supersedes: ['2'] });
    expect(ids((await user.recall({ query: 'She lives where?' })).hits)).toEqual(['3']);
  });

  it('row 2: a correction stores the new fact in the step that closes the old', async () => {
    const { user } = ann();
    await user.remember({ id: '1', content: 'Lives in Bern' });
    await user.remember({ id: '2', content: 'Lives in Basel', supersedes: ['1'] });
    expect((await user.get('2')).content).toBe('Lives in Basel');
    expect((await user.get('1')).supersededBy).toBe('2');
  });

  it('row 3: the same text twice is one row, still recalled', async () => {
    const { user } = ann();
    await user.remember({ content: 'Lives in Bern' });
    await user.remember({ content: 'Lives in Bern' });
    expect((await user.recall({ query: 'Bern' })).hits).toHaveLength(1);
  });

  it('row 4: content is what was given, after each write', async () => {
    const { user } = ann();
    for (const content of ['Tea  with   spaces', 'Tëa “quoted”', 'Tea\nover\tlines']) {
      const { memory } = await user.remember({ content });
      expect((await user.get(memory.id)).content).toBe(content);
    }
  });

  it('row 6: instants are UTC in one format on every route', async () => {
    const { user } = ann('2026-03-29T00:59:59.999Z');
    const { memory } = await user.remember({ id: 'a', content: 'A note' });
    const shown = [
      memory.createdAt,
      (await user.get('a')).createdAt,
      (await user.list()).memories[0]?.createdAt,
      (await user.history('a')).memories[0]?.createdAt,
      (await user.recall({ query: 'note' })).hits[0]?.memory.createdAt,
      (await user.audit()).entries[0]?.at,
      JSON.parse(await user.exportNdjson()).createdAt,
    ];
    expect(new Set(shown)).toEqual(new Set(['2026-03-29T00:59:59.999Z']));
  });

  it('row 7: an instant is converted by its own offset, whatever the machine’s zone', async () => {
    const { user } = ann();
    const { memory } = await user.remember({ content: 'A note', validFrom: '2026-03-01T16:00:00+08:00' });
    expect(memory.validFrom).toBe('2026-03-01T08:00:00.000Z');
    expect(process.env.TZ).toBe('America/St_Johns');
  });

  it('row 8: an instant without an offset is a clear error', async () => {
    const { user } = ann();
    expect(await codeOf(user.remember({ content: 'x', validFrom: '2026-03-01T16:00:00' }))).toBe('INVALID_INPUT');
    expect(await codeOf(user.recall({ query: 'x', asOf: '2026-03-01' }))).toBe('INVALID_INPUT');
  });

  it('row 9: many unrelated writes retire nothing, and one write closes at most 16', async () => {
    const { user } = ann();
    for (let i = 0; i < 30; i++) await user.remember({ id: `m${i}`, content: `Fact number ${i} about the house` });
    expect((await user.list({ limit: 100 })).memories).toHaveLength(30);
    const supersedes = Array.from({ length: 17 }, (_, i) => `m${i}`);
    expect(await codeOf(user.remember({ content: 'All wrong', supersedes }))).toBe('INVALID_INPUT');
  });

  it('row 10: query-language characters are data in every field', async () => {
    const { user } = ann();
    const odd = `a-b/c "d" \\e (f) AND NOT x:y* ~2 | ? ?? // /* */ ' ; DROP TABLE memories; --`;
    const { memory } = await user.remember({ content: odd, title: odd, tags: [odd.slice(0, 60)], id: 'a:b.c-d_e' });
    const { hits } = await user.recall({ query: odd });
    expect(hits[0]?.memory).toMatchObject({ content: odd, title: odd, id: memory.id });
    for (const query of ['*:*', 'content:tea', '"', '\\', '(((', 'NOT', '| DROP content', "') OR 1=1"]) {
      expect(await codeOf(user.recall({ query }))).toBe('none');
    }
  });

  it('row 11: a second import and single writes give the same rows', async () => {
    const { user } = ann();
    await user.remember({ id: 'a', content: 'Tea' });
    const file = await user.exportNdjson();
    await user.importNdjson(file);
    await user.importNdjson(file);
    expect(await user.exportNdjson()).toBe(file);
  });

  it('row 14: text is kept verbatim in any script, and found', async () => {
    const { user } = ann();
    for (const content of [
      '我喜欢博物馆',
      'أحب المتاحف',
      'אני אוהב מוזיאונים',
      'ミュージアムが好き',
      '🏛️ yes',
      'Łódź naïve Straße',
    ]) {
      const { memory } = await user.remember({ content });
      const { hits } = await user.recall({ query: content });
      expect(hits[0]?.memory).toMatchObject({ id: memory.id, content });
    }
  });

  it('row 15: text over the limit is refused by name, and below it the tail is findable', async () => {
    const { user } = ann();
    expect(await codeOf(user.remember({ content: 'x'.repeat(100_000) }))).toBe('INVALID_INPUT');
    const { memory } = await user.remember({ content: `${'word '.repeat(1500)}zanzibar` });
    await user.remember({ content: 'Something else entirely' });
    expect((await user.recall({ query: 'zanzibar' })).hits[0]?.memory.id).toBe(memory.id);
  });

  it('row 16: an erased fact surfaces on no route', async () => {
    const { user } = ann();
    await user.remember({ id: 'a', content: 'The code word is zanzibar', tags: ['zanzibar'] });
    await user.feedback('a', { outcome: 1, query: 'zanzibar?', note: 'zanzibar!' });
    await user.erase('a');
    const everything = JSON.stringify([
      await user.recall({ query: 'zanzibar', includeHistory: true }),
      await user.list({ status: 'all' }),
      await user.audit(),
      await user.review(),
      await user.exportNdjson(),
    ]);
    expect(everything).not.toContain('zanzibar');
  });

  it('rows 17 and 18: a superseded memory is absent from every path unless history is asked for', async () => {
    const { user } = ann();
    await user.remember({ id: 'a', content: 'Likes museums', topic: 'preference', tags: ['art'] });
    await user.remember({ id: 'b', content: 'No more museums', topic: 'preference', tags: ['art'], supersedes: ['a'] });
    for (const more of [
      {},
      { explain: true },
      { strict: true },
      { tags: ['art'] },
      { topics: ['preference'] },
      { kinds: ['episodic'] },
      { preset: 'flat' },
      { limit: 100 },
    ]) {
      expect(ids((await user.recall({ query: 'museums', ...more })).hits)).toEqual(['b']);
    }
    expect(ids((await user.recall({ query: 'museums', includeHistory: true })).hits)).toEqual(['b', 'a']);
  });

  it('row 19: a general rule and its exception both stay', async () => {
    const { user } = ann();
    await user.remember({ id: 'rule', content: 'Never books flights before 8am' });
    await user.remember({ id: 'exception', content: 'Books flights before 8am when Ines travels along' });
    expect((await user.list()).memories).toHaveLength(2);
  });

  it('row 20: A, B, A leaves the last A current and three in history', async () => {
    const { user } = ann();
    await user.remember({ id: '1', content: 'Drinks tea' });
    await user.remember({ id: '2', content: 'Drinks coffee', supersedes: ['1'] });
    const { memory } = await user.remember({ content: 'Drinks tea', supersedes: ['2'] });
    expect(ids((await user.recall({ query: 'drinks' })).hits)).toEqual([memory.id]);
    expect((await user.history('1')).memories).toHaveLength(3);
  });

  it('row 21: concurrent writers lose nothing', async () => {
    const { user } = ann();
    await Promise.all(Array.from({ length: 25 }, (_, i) => user.remember({ id: `m${i}`, content: `Note ${i}` })));
    await Promise.all(Array.from({ length: 25 }, () => user.feedback('m0', { outcome: 1 })));
    expect((await user.list({ limit: 100 })).memories).toHaveLength(25);
    expect((await user.get('m0')).feedbackCount).toBe(25);
  });

  it('row 23: equal times come in one order, a hundred times', async () => {
    const { user } = ann();
    for (const id of ['c', 'a', 'b', 'd'])
      await user.remember({
        id,
        content: `Same words ${'x'.repeat(id.charCodeAt(0) % 1)}`,
        validFrom: '2026-02-01T00:00:00Z',
      });
    for (let i = 0; i < 100; i++)
      expect(ids((await user.recall({ query: 'same words' })).hits)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('row 24: one memory can be shown, corrected and closed, and its neighbours stay untouched', async () => {
    const { user } = ann();
    for (const id of ['a', 'b', 'c']) await user.remember({ id, content: `Note ${id}` });
    const before = [await user.get('a'), await user.get('c')];
    await user.close('b', { reason: 'wrong' });
    expect([await user.get('a'), await user.get('c')]).toEqual(before);
  });

  it('row 25: paraphrases are reported as similar', async () => {
    const { user } = ann();
    await user.remember({ id: 'a', content: 'She lives in the old town of Bern' });
    const { similar } = await user.remember({ content: 'In the old town of Bern she lives' });
    expect(similar.map(({ id }) => id)).toEqual(['a']);
  });

  it('row 26: what A stores, B sees on no route', async () => {
    const { service, user } = ann();
    await user.remember({ id: 'a', content: 'Ann likes museums' });
    const ben = service.for('ben');
    const attempts = [
      ben.get('a'),
      ben.history('a'),
      ben.close('a'),
      ben.confirm('a'),
      ben.deny('a'),
      ben.erase('a'),
      ben.reopen('a'),
      ben.feedback('a', { outcome: 1 }),
      ben.supersede('a', { targets: ['a2'] }),
      ben.resolveReview('a', { action: 'keep' }),
      ben.audit({ memory: 'a' }),
      ben.remember({ content: 'x', derivedFrom: ['a'] }),
    ];
    for (const attempt of attempts) expect(await codeOf(attempt)).toBe('NOT_FOUND');
    expect((await ben.recall({ query: 'museums', includeHistory: true })).hits).toEqual([]);
    expect((await ben.list({ status: 'all' })).memories).toEqual([]);
    expect(await ben.exportNdjson()).toBe('');
    expect((await ben.audit()).entries).toEqual([]);
    expect((await ben.remember({ content: 'Ann likes museums' })).similar).toEqual([]);
  });

  it('row 27: fifty readings leave the weight as it was', async () => {
    const { user, at } = ann();
    await user.remember({ content: 'Likes ramen', topic: 'preference' });
    at('2026-04-15T09:00:00Z');
    const weigh = async () => (await user.recall({ query: 'ramen', explain: true })).hits[0]?.parts?.ageWeight;
    const before = await weigh();
    for (let i = 0; i < 50; i++) await weigh();
    expect(await weigh()).toBe(before);
    expect(before).toBeCloseTo(0.625, 6);
  });

  it('row 29: Z and +00:00 are the same instant', async () => {
    const { user } = ann();
    const { memory } = await user.remember({ content: 'A note', validFrom: '2026-03-01T09:00:00+00:00' });
    expect(memory.validFrom).toBe('2026-03-01T09:00:00.000Z');
    expect((await user.recall({ query: 'note', asOf: '2026-03-01T09:00:00Z' })).hits).toHaveLength(1);
  });

  it('row 30: strict recall leaves out what is expired, doubted or too old, and says since when the rest holds', async () => {
    const { user, at } = ann();
    await user.remember({ id: 'old', content: 'Ramen on Mondays', topic: 'preference' });
    at('2026-05-01T09:00:00Z');
    await user.remember({ id: 'plan', content: 'Ramen tonight', validTo: '2026-05-02T00:00:00Z' });
    await user.remember({ id: 'doubted', content: 'Ramen is too salty' });
    await user.deny('doubted');
    await user.remember({ id: 'before', content: 'Ramen at Ippudo' });
    await user.remember({ id: 'now', content: 'Ramen at Hinoya', supersedes: ['before'] });
    await user.remember({
      id: 'allergy',
      content: 'Ramen without egg: an allergy',
      topic: 'constraint',
      validFrom: '2020-01-01T00:00:00Z',
    });
    at('2026-05-03T09:00:00Z');
    const { hits } = await user.recall({ query: 'ramen', strict: true });
    expect(ids(hits).sort()).toEqual(['allergy', 'now']);
    expect(hits.find(({ memory }) => memory.id === 'now')?.note).toMatch(
      /Holds since 2026-05-01; replaced .*\(before\)/,
    );
    expect(await codeOf(user.recall({ query: 'ramen', strict: true, includeHistory: true }))).toBe('INVALID_INPUT');
  });

  it('row 31: an export imported twice is an identical store', async () => {
    const { user } = ann();
    await user.remember({ id: 'a', content: 'Tea', title: 'Drink', tags: ['b', 'a'] });
    await user.remember({ id: 'b', content: 'Coffee', supersedes: ['a'] });
    const file = await user.exportNdjson();
    const copy = temporaryService().for('ann');
    await copy.importNdjson(file);
    await copy.importNdjson(file);
    expect(await copy.exportNdjson()).toBe(file);
  });

  it('row 32: writes a millisecond apart keep their order, “not X” stays apart from “X”, long text is cut nowhere', async () => {
    const { user, at } = ann();
    at('2026-03-01T09:00:00.000Z');
    await user.remember({ id: 'x', content: 'Likes olives' });
    at('2026-03-01T09:00:00.001Z');
    await user.remember({ id: 'not-x', content: 'Does not like olives' });
    expect((await user.list()).memories.map(({ id }) => id)).toEqual(['not-x', 'x']);
    const content = `${'a long story '.repeat(600)}end`;
    expect((await user.get((await user.remember({ content })).memory.id)).content).toBe(content);
  });

  it('row 33: a correction one word apart is stored; hits and scores stay within bounds after feedback', async () => {
    const { user } = ann();
    await user.remember({ id: 'a', content: 'The flight leaves on Monday at noon from Bern' });
    const correction = await user.remember({ content: 'The flight leaves on Tuesday at noon from Bern' });
    expect(correction.stored).toBe(true);
    for (let i = 0; i < 20; i++) await user.feedback('a', { outcome: 1 });
    const { hits } = await user.recall({ query: 'The flight leaves on Monday at noon from Bern', limit: 1 });
    expect(hits).toHaveLength(1);
    expect(hits[0]?.score).toBeLessThanOrEqual(1);
  });
});
