import { describe, expect, it } from 'vitest';
import { SupersededError } from '../src/errors.ts';
import type { Memory } from '../src/memory.ts';
import { createSuperseded } from '../src/superseded.ts';
import { temporaryService } from './temporary.ts';

/** The error a verb ends with. */
async function failure(attempt: Promise<unknown>): Promise<SupersededError> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof SupersededError) return error;
    throw error;
  }
  throw new Error('It did not fail.');
}

const ids = ({ memories }: { memories: Memory[] }) => memories.map(({ id }) => id);

function ann(start?: string) {
  const service = temporaryService(start);
  return { service, ann: service.for('ann'), at: (instant: string) => service.at(instant) };
}

describe('remember', () => {
  it('stores what it was given, trimmed, with the defaults of the contract', async () => {
    const { ann: user } = ann();
    const { memory, stored, superseded, similar } = await user.remember({ content: '  Window seats, please.  ' });
    expect(stored).toBe(true);
    expect(superseded).toEqual([]);
    expect(similar).toEqual([]);
    expect(memory).toMatchObject({
      content: 'Window seats, please.',
      kind: 'episodic',
      topic: 'general',
      title: null,
      tags: [],
      createdAt: '2026-03-01T09:00:00.000Z',
      validFrom: '2026-03-01T09:00:00.000Z',
      freshAt: '2026-03-01T09:00:00.000Z',
      validTo: null,
      confidence: 1,
      status: 'open',
      scope: 'user',
    });
  });

  it('confirms the open memory when the same is said again, and writes no second copy', async () => {
    const { ann: user, at } = ann();
    const first = await user.remember({ content: 'I love museums', topic: 'preference', confidence: 0.6 });
    at('2026-03-05T09:00:00Z');
    const again = await user.remember({ content: 'i  LOVE\nmuseums', topic: 'preference', title: 'ignored' });
    expect(again).toMatchObject({ stored: false, reason: 'confirmed' });
    expect(again.memory).toMatchObject({
      id: first.memory.id,
      title: null,
      confidence: 1,
      confirmedAt: '2026-03-05T09:00:00.000Z',
      freshAt: '2026-03-05T09:00:00.000Z',
    });
    expect((await user.list()).memories).toHaveLength(1);
  });

  it('writes anew the text of a closed or expired memory, of another topic, or with a time of its own', async () => {
    const { ann: user, at } = ann();
    const { memory } = await user.remember({ content: 'I love museums' });
    await user.close(memory.id, {});
    const anew = await user.remember({ content: 'I love museums' });
    expect(anew.stored).toBe(true);
    expect((await user.remember({ content: 'I love museums', topic: 'opinion' })).stored).toBe(true);
    expect((await user.remember({ content: 'I love museums', validFrom: '2026-02-01T00:00:00Z' })).stored).toBe(true);
    await user.remember({ content: 'Gone soon', validTo: '2026-03-02T00:00:00Z' });
    at('2026-03-03T00:00:00Z');
    expect((await user.remember({ content: 'Gone soon' })).stored).toBe(true);
  });

  it('answers a repeated id with what is stored, and refuses other words for it', async () => {
    const { ann: user } = ann();
    const input = { id: 'seat', content: 'Window seats', tags: ['flight'] };
    await user.remember(input);
    expect(await user.remember(input)).toMatchObject({ stored: false, reason: 'unchanged' });
    expect(await failure(user.remember({ ...input, content: 'Aisle seats' }))).toMatchObject({ code: 'CONFLICT' });
    expect(await failure(user.remember({ ...input, tags: [] }))).toMatchObject({ code: 'CONFLICT' });
  });

  it('lets two users take the same id and learn nothing of each other', async () => {
    const { service, ann: user } = ann();
    await user.remember({ id: 'seat', content: 'Window seats' });
    expect((await service.for('ben').remember({ id: 'seat', content: 'Aisle seats' })).stored).toBe(true);
    expect((await user.get('seat')).content).toBe('Window seats');
  });

  it('closes what it supersedes in the same step', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'I love museums' });
    at('2026-03-02T09:00:00Z');
    const { memory, superseded } = await user.remember({ id: 'b', content: 'No more museums', supersedes: ['a', 'a'] });
    expect(superseded).toEqual(['a']);
    expect(memory.supersedes).toEqual(['a']);
    expect(await user.get('a')).toMatchObject({
      status: 'superseded',
      supersededBy: 'b',
      closedAt: '2026-03-02T09:00:00.000Z',
      validTo: '2026-03-02T09:00:00.000Z',
      content: 'I love museums',
    });
    const { hits } = await user.recall({ query: 'museums' });
    expect(hits.map((hit) => hit.memory.id)).toEqual(['b']);
  });

  it('merges several memories into one successor', async () => {
    const { ann: user } = ann();
    for (const id of ['a', 'b', 'c']) await user.remember({ id, content: `Tea with ${id}` });
    await user.remember({ id: 'd', content: 'Coffee only', supersedes: ['a', 'b', 'c'] });
    expect(ids(await user.list())).toEqual(['d']);
    expect(ids(await user.history('b')).slice(-1)).toEqual(['d']);
  });

  it.each([
    ['an unknown one', { supersedes: ['nobody'] }, 'NOT_FOUND'],
    ['one of another user', { supersedes: ['bens'] }, 'NOT_FOUND'],
    ['itself', { id: 'x', supersedes: ['x'] }, 'INVALID_INPUT'],
    ['a closed one', { supersedes: ['closed'] }, 'CONFLICT'],
    ['more than 16', { supersedes: Array.from({ length: 17 }, (_, i) => `m${i}`) }, 'INVALID_INPUT'],
    ['none', { supersedes: [] }, 'INVALID_INPUT'],
  ])('refuses to supersede %s, and writes nothing', async (_, fields, code) => {
    const { service, ann: user } = ann();
    await service.for('ben').remember({ id: 'bens', content: 'Ben is here' });
    await user.remember({ id: 'closed', content: 'Old' });
    await user.remember({ id: 'head', content: 'New', supersedes: ['closed'] });
    const error = await failure(user.remember({ content: 'Newest', ...fields }));
    expect(error.code).toBe(code);
    if (code === 'CONFLICT') expect(error.head).toBe('head');
    expect(ids(await user.list({ status: 'all' })).sort()).toEqual(['closed', 'head']);
  });

  it.each([
    ['empty content', { content: '' }, 'content'],
    ['blank content', { content: ' \n\t ' }, 'content'],
    ['content of 8,001 characters', { content: '😀'.repeat(8001) }, 'content'],
    ['a lone surrogate', { content: 'a\ud800b' }, 'content'],
    ['a NUL', { content: 'a\u0000b' }, 'content'],
    ['a naive instant', { content: 'x', validFrom: '2026-03-01T09:00:00' }, 'validFrom'],
    ['an impossible instant', { content: 'x', validFrom: '2026-02-30T09:00:00Z' }, 'validFrom'],
    [
      'an end before the beginning',
      { content: 'x', validFrom: '2026-03-02T00:00:00Z', validTo: '2026-03-01T00:00:00Z' },
      'validTo',
    ],
    ['an end before now', { content: 'x', validTo: '2026-02-01T00:00:00Z' }, 'validTo'],
    ['an unknown kind', { content: 'x', kind: 'rumour' }, 'kind'],
    ['a topic that is no slug', { content: 'x', topic: 'My Topic' }, 'topic'],
    ['33 tags', { content: 'x', tags: Array.from({ length: 33 }, (_, i) => `t${i}`) }, 'tags'],
    ['a confidence above 1', { content: 'x', confidence: 1.1 }, 'confidence'],
    ['an unknown field', { content: 'x', suprsedes: ['a'] }, 'suprsedes'],
    ['a future createdAt', { content: 'x', createdAt: '2030-01-01T00:00:00Z' }, 'createdAt'],
    ['a scope of the caller’s', { content: 'x', scope: 'user:ben' }, 'scope'],
  ])('refuses %s, naming the field, and writes nothing', async (_, input, path) => {
    const { ann: user } = ann();
    const error = await failure(user.remember(input));
    expect(error.code).toBe('INVALID_INPUT');
    expect(error.issues?.map((issue) => issue.path)).toContain(path);
    expect((await user.list({ status: 'all' })).memories).toEqual([]);
  });

  it('takes 8,000 characters of any script and gives them back verbatim', async () => {
    const { ann: user } = ann();
    const content = `${'😀'.repeat(7990)}日本語 שלום`;
    const { memory } = await user.remember({ content });
    expect((await user.get(memory.id)).content).toBe(content);
  });

  it.each([
    ['an API key', 'my key is sk-abcdefghijklmnopqrstuvwx1234'],
    ['an AWS access key', 'AKIAIOSFODNN7EXAMPLE'],
    ['a card number', 'pay with 4111 1111 1111 1111 please'],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----'],
  ])('refuses what looks like %s unless it is allowed', async (what, content) => {
    const { ann: user } = ann();
    const error = await failure(user.remember({ content }));
    expect(error).toMatchObject({ code: 'LOOKS_SECRET', message: expect.stringContaining(what) });
    expect(error.message).not.toContain(content);
    expect((await user.remember({ content, allowSecret: true })).stored).toBe(true);
  });

  it('names similar open memories, and never refuses a correction for being similar', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'a', content: 'The hotel is booked for the third of April' });
    const { stored, similar } = await user.remember({
      id: 'b',
      content: 'The hotel is booked for the third of April.',
      validFrom: '2026-03-01T09:00:00Z',
    });
    expect(stored).toBe(true);
    expect(similar.map(({ id }) => id)).toEqual(['a']);
    expect(similar[0]?.similarity).toBeGreaterThanOrEqual(0.9);
  });
});

describe('close and reopen', () => {
  it('ends a memory now, in the past or in the future, and keeps its text', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Gym on Mondays' });
    at('2026-03-10T00:00:00Z');
    const { memory } = await user.close('a', { reason: 'moved away', validTo: '2026-03-05T00:00:00Z' });
    expect(memory).toMatchObject({
      status: 'retired',
      closedReason: 'moved away',
      validTo: '2026-03-05T00:00:00.000Z',
      closedAt: '2026-03-10T00:00:00.000Z',
      content: 'Gym on Mondays',
    });
  });

  it('keeps recalling a memory until the future end it was closed with', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Gym on Mondays' });
    await user.close('a', { validTo: '2026-03-20T00:00:00Z' });
    expect((await user.recall({ query: 'gym' })).hits).toHaveLength(1);
    expect(await failure(user.confirm('a'))).toMatchObject({ code: 'CONFLICT' });
    at('2026-03-20T00:00:00Z');
    expect((await user.recall({ query: 'gym' })).hits).toHaveLength(0);
  });

  it('closes a memory once', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'a', content: 'Gym' });
    await user.close('a');
    expect(await failure(user.close('a'))).toMatchObject({ code: 'CONFLICT', head: null });
  });

  it('retires an upcoming memory at once', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'a', content: 'Course', validFrom: '2026-05-01T00:00:00Z' });
    const { memory } = await user.close('a');
    expect(memory).toMatchObject({ status: 'retired', validTo: '2026-05-01T00:00:00.000Z' });
  });

  it('reopens by a copy that holds from the old end on, and leaves the old row and its successor alone', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Gym on Mondays', tags: ['sport'] });
    at('2026-03-02T00:00:00Z');
    await user.remember({ id: 'b', content: 'No gym', supersedes: ['a'] });
    at('2026-03-04T00:00:00Z');
    const { memory, openSuccessor } = await user.reopen('a', {});
    expect(memory).toMatchObject({
      reopens: 'a',
      content: 'Gym on Mondays',
      tags: ['sport'],
      validFrom: '2026-03-02T00:00:00.000Z',
      freshAt: '2026-03-01T09:00:00.000Z',
      status: 'open',
      supersedes: [],
    });
    expect(openSuccessor?.id).toBe('b');
    expect(await user.get('a')).toMatchObject({ status: 'superseded', reopenedBy: memory.id });
    expect(await failure(user.reopen('a', {}))).toMatchObject({ code: 'CONFLICT', head: memory.id });
    expect(await failure(user.reopen('b', {}))).toMatchObject({ code: 'CONFLICT' });
    expect(ids(await user.history('b'))).toEqual(['a', 'b', memory.id]);
  });
});

describe('supersede', () => {
  it('links existing memories, and refuses a cycle, itself, and a successor recorded before its target', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Tea' });
    at('2026-03-02T00:00:00Z');
    await user.remember({ id: 'b', content: 'Coffee' });
    expect(await failure(user.supersede('a', { targets: ['b'] }))).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await failure(user.supersede('a', { targets: ['a'] }))).toMatchObject({ code: 'INVALID_INPUT' });
    expect((await user.supersede('b', { targets: ['a'] })).superseded).toEqual(['a']);
    expect(await failure(user.supersede('a', { targets: ['b'] }))).toMatchObject({ code: 'CONFLICT' });
    expect(await user.get('a')).toMatchObject({ validTo: '2026-03-02T00:00:00.000Z', supersededBy: 'b' });
  });

  it('goes A, B, A again as three memories of which the last is current', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Tea' });
    at('2026-03-02T00:00:00Z');
    await user.remember({ id: 'b', content: 'Coffee', supersedes: ['a'] });
    at('2026-03-03T00:00:00Z');
    await user.remember({ id: 'c', content: 'Tea', supersedes: ['b'] });
    expect(ids(await user.list())).toEqual(['c']);
    expect(ids(await user.history('a'))).toEqual(['a', 'b', 'c']);
  });
});

describe('confirm, deny and feedback', () => {
  it('lowers the trust of a denied memory until it is confirmed', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'a', content: 'Allergic to nuts' });
    expect((await user.deny('a', { reason: 'never said' })).memory).toMatchObject({ confidence: 0.3, status: 'open' });
    expect((await user.confirm('a')).memory).toMatchObject({ confidence: 1 });
  });

  it('closes a memory as never true when the denial is certain', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Allergic to nuts' });
    at('2026-03-02T00:00:00Z');
    const { memory } = await user.deny('a', { certain: true, reason: 'a mix-up' });
    expect(memory).toMatchObject({ status: 'denied', validTo: memory.validFrom, closedReason: 'a mix-up' });
    expect((await user.recall({ query: 'nuts', asOf: '2026-03-01T12:00:00Z' })).hits).toEqual([]);
    const then = await user.recall({ query: 'nuts', asOf: '2026-03-01T12:00:00Z', knownAt: '2026-03-01T12:00:00Z' });
    expect(then.hits).toHaveLength(1);
  });

  it('records a denial at half confidence; confirming it closes the denied', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'a', content: 'Allergic to nuts' });
    const { memory } = await user.remember({ id: 'd', content: 'I never said nuts', denies: ['a'] });
    expect(memory).toMatchObject({ confidence: 0.5, denies: ['a'] });
    expect(await user.get('a')).toMatchObject({ confidence: 0.3, deniedBy: 'd', status: 'open' });
    await user.confirm('d');
    expect(await user.get('a')).toMatchObject({ status: 'denied' });
  });

  it('averages feedback with one neutral one, bounded, and only a good outcome refreshes', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Likes ramen' });
    await user.remember({ id: 'b', content: 'Likes soba' });
    at('2026-03-02T00:00:00Z');
    expect((await user.feedback('a', { outcome: -1 })).memory).toMatchObject({
      feedback: -0.5,
      feedbackCount: 1,
      freshAt: '2026-03-01T09:00:00.000Z',
    });
    expect((await user.feedback('a', { outcome: 1, query: 'dinner?' })).memory).toMatchObject({
      feedback: 0,
      feedbackCount: 2,
      freshAt: '2026-03-02T00:00:00.000Z',
    });
    expect(await user.get('b')).toMatchObject({ feedback: 0, feedbackCount: 0 });
    expect(await failure(user.feedback('a', { outcome: 2 }))).toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('never refreshes by reading', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Likes ramen', topic: 'preference' });
    at('2026-05-01T00:00:00Z');
    for (let i = 0; i < 50; i++) await user.recall({ query: 'ramen' });
    const [hit] = (await user.recall({ query: 'ramen', explain: true })).hits;
    expect(hit?.memory.freshAt).toBe('2026-03-01T09:00:00.000Z');
    expect(hit?.parts?.ageWeight).toBeLessThan(0.6);
  });
});

describe('erase', () => {
  it('removes the text, leaves a tombstone, and answers with the same receipt again', async () => {
    const { service, ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'A secret wish', title: 'Wish' });
    const receipt = await user.erase('a');
    at('2026-04-01T00:00:00Z');
    expect(await user.erase('a')).toEqual(receipt);
    expect(await failure(user.get('a'))).toMatchObject({ code: 'ERASED' });
    expect(await failure(user.history('a'))).toMatchObject({ code: 'ERASED' });
    expect(await failure(user.remember({ id: 'a', content: 'A secret wish' }))).toMatchObject({ code: 'CONFLICT' });
    expect(await failure(user.remember({ content: 'x', supersedes: ['a'] }))).toMatchObject({ code: 'NOT_FOUND' });
    expect((await user.recall({ query: 'secret wish', includeHistory: true })).hits).toEqual([]);
    expect(JSON.stringify((await user.audit()).entries)).not.toContain('wish');
    expect(new Set(service.embedder.forgotten)).toEqual(new Set(['Wish\nA secret wish']));
  });

  it('is refused without force while others were derived from it', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'a', content: 'Ate ramen thrice' });
    await user.remember({ id: 'b', content: 'Likes ramen', derivedFrom: ['a'] });
    expect(await failure(user.erase('a'))).toMatchObject({ code: 'CONFLICT' });
    await user.erase('a', { force: true });
    expect(await user.get('b')).toMatchObject({ derivedFrom: [] });
  });

  it('takes copies and originals made by reopening along; predecessors stay closed', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'p', content: 'Pilates' });
    await user.remember({ id: 'a', content: 'Gym', supersedes: ['p'] });
    await user.close('a');
    const { memory } = await user.reopen('a');
    await user.erase(memory.id);
    expect(await failure(user.get('a'))).toMatchObject({ code: 'ERASED' });
    expect(await user.get('p')).toMatchObject({ status: 'superseded', supersededBy: null });
  });

  it('erases everything of a user, with the count, and nothing of another', async () => {
    const { service, ann: user } = ann();
    for (const id of ['a', 'b', 'c']) await user.remember({ id, content: `Note ${id}` });
    await service.for('ben').remember({ id: 'a', content: 'Bens note' });
    expect(await failure(user.eraseAll({ confirm: 'ben' }))).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await user.eraseAll({ confirm: 'ann' })).toMatchObject({ erased: 3 });
    expect((await user.list({ status: 'all' })).memories).toEqual([]);
    expect((await service.for('ben').list()).memories).toHaveLength(1);
  });
});

describe('export and import', () => {
  it('keeps ids, chains and instants, and is idempotent', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Tea', confidence: 0.7 });
    at('2026-03-02T00:00:00Z');
    await user.remember({ id: 'b', content: 'Coffee', supersedes: ['a'], title: 'Drink', tags: ['z', 'a'] });
    await user.feedback('b', { outcome: 0.3 });
    await user.remember({ id: 'c', content: 'Gym', validTo: '2026-04-01T00:00:00Z' });
    await user.close('c', { validTo: '2026-03-20T00:00:00Z', reason: 'moving' });
    await user.reopen('a', {});
    const file = await user.exportNdjson();
    const other = temporaryService('2026-03-03T00:00:00Z');
    const copy = other.for('ann');
    expect(await copy.importNdjson(file)).toEqual({ imported: 4, unchanged: 0, collisions: [], erased: [] });
    expect(await copy.importNdjson(file)).toEqual({ imported: 0, unchanged: 4, collisions: [], erased: [] });
    at('2026-03-03T00:00:00Z');
    expect(await copy.exportNdjson()).toBe(await user.exportNdjson());
    const ask = { query: 'tea coffee gym', explain: true, includeHistory: true };
    expect((await copy.recall(ask)).hits).toEqual((await user.recall(ask)).hits);
  });

  it('reports collisions and erased ids, and refuses a file with a bad line or a dangling link whole', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'a', content: 'Tea' });
    const file = await user.exportNdjson();
    expect(await user.importNdjson(file.replace('Tea', 'Mate'))).toMatchObject({ collisions: [{ id: 'a', line: 1 }] });
    const dangling = file.replace('"id":"a"', '"id":"b"').replace('"derivedFrom":[]', '"derivedFrom":["ghost"]');
    const error = await failure(user.importNdjson(`${file}\n{oops\n${dangling}`));
    expect(error.code).toBe('INVALID_INPUT');
    expect(error.issues?.map(({ path }) => path)).toEqual(['line 3']);
    expect((await failure(user.importNdjson(dangling))).message).toContain('ghost');
    await user.erase('a');
    expect(await user.importNdjson(file)).toMatchObject({ imported: 0, erased: ['a'] });
  });
});

describe('what a hostile caller found', () => {
  it('three repeats at once are one memory', async () => {
    const { ann: user } = ann();
    const answers = await Promise.all([1, 2, 3].map(() => user.remember({ content: 'I like tea' })));
    expect(answers.filter(({ stored }) => stored)).toHaveLength(1);
    expect((await user.list({ status: 'all' })).memories).toHaveLength(1);
  });

  it('erasing leaves no link behind, however many rows name the erased one', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'a', content: 'Said once' });
    await user.remember({ id: 'd1', content: 'Never said', denies: ['a'] });
    await user.remember({ id: 'd2', content: 'Not said either', denies: ['a'] });
    await user.confirm('a');
    for (let i = 0; i < 105; i++) await user.remember({ id: `c${i}`, content: `Concluded ${i}`, derivedFrom: ['a'] });
    await user.erase('a', { force: true });
    expect(await user.exportNdjson()).not.toContain('"a"');
    expect(
      await temporaryService()
        .for('bob')
        .importNdjson(await user.exportNdjson()),
    ).toMatchObject({ imported: 107 });
  });

  it('an import with counts, links or instants that cannot be is refused whole, by line', async () => {
    const { ann: user } = ann();
    await user.remember({ id: 'a', content: 'Tea' });
    const line = (await user.exportNdjson()).trim();
    const variants = {
      feedbackSum: { feedbackCount: 1, feedbackSum: -100 },
      changes: { changes: 9007199254740991 },
      confirmedAt: { confirmedAt: '9999-01-01T00:00:00.000Z' },
      id: { derivedFrom: ['b'] },
      circle: {
        supersededBy: 'c',
        supersedes: ['c'],
        closedAt: '2026-03-01T09:00:00Z',
        validTo: '2026-03-01T09:00:00Z',
      },
      mutual: { supersedes: ['a'] },
      heardAt: { heardAt: '9999-01-01T00:00:00.000Z' },
      changedMind: { changedMind: true },
    };
    for (const [name, fields] of Object.entries(variants)) {
      const bad = { ...JSON.parse(line), id: 'b', ...fields };
      const error = await failure(user.importNdjson(JSON.stringify(bad)));
      expect(error.code, name).toBe('INVALID_INPUT');
      expect(error.issues?.[0]?.path, name).toBe('line 1');
    }
    expect((await user.list({ status: 'all' })).memories).toHaveLength(1);
  });

  it('an import closes what the file knows to be closed', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Tea' });
    const copy = temporaryService('2026-03-05T00:00:00Z').for('ann');
    await copy.importNdjson(await user.exportNdjson());
    at('2026-03-02T00:00:00Z');
    await user.remember({ id: 'b', content: 'Coffee', supersedes: ['a'] });
    expect(await copy.importNdjson(await user.exportNdjson())).toMatchObject({ imported: 2, unchanged: 0 });
    expect(ids(await copy.list())).toEqual(['b']);
    expect(await copy.importNdjson(await user.exportNdjson())).toMatchObject({ imported: 0, unchanged: 2 });
  });

  it('what was reopened past its planned end can be exported and imported', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'p', content: 'Plan', validTo: '2026-03-02T00:00:00Z' });
    at('2026-03-05T00:00:00Z');
    await user.remember({ id: 'q', content: 'Other plan', supersedes: ['p'] });
    await user.reopen('p', {});
    const copy = temporaryService('2026-03-06T00:00:00Z').for('ann');
    expect(await copy.importNdjson(await user.exportNdjson())).toMatchObject({ imported: 3 });
  });

  it('a link shows from its linking on, in recall and in lists', async () => {
    const { ann: user, at } = ann();
    for (const id of ['a', 'b', 'n']) await user.remember({ id, content: `A note on ${id}` });
    at('2026-03-02T00:00:00Z');
    await user.supersede('n', { targets: ['a'] });
    at('2026-03-03T00:00:00Z');
    await user.supersede('n', { targets: ['b'] });
    at('2026-03-04T00:00:00Z');
    const knownAt = '2026-03-02T12:00:00Z';
    const shown = (memories: Memory[]) => memories.find(({ id }) => id === 'n')?.supersedes;
    const { hits } = await user.recall({ query: 'note', knownAt, includeHistory: true });
    expect(shown(hits.map(({ memory }) => memory))).toEqual(['a']);
    expect(shown((await user.list({ status: 'all', knownAt })).memories)).toEqual(['a']);
    expect((await user.get('n')).supersedes).toEqual(['a', 'b']);
  });

  it('a long chain at one instant is shown in order', async () => {
    const { ann: user } = ann();
    const at = '2026-03-01T00:00:00Z';
    const lines = Array.from({ length: 3000 }, (_, i) => ({
      id: `m${i}`,
      kind: 'episodic',
      topic: 'general',
      content: `Value ${i}`,
      createdAt: at,
      validFrom: at,
      ...(i > 0 ? { supersedes: [`m${i - 1}`] } : {}),
      ...(i < 2999 ? { supersededBy: `m${i + 1}`, closedAt: at, validTo: at } : {}),
    }));
    await user.importNdjson(lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(ids(await user.history('m1500')).slice(0, 3)).toEqual(['m0', 'm1', 'm2']);
  });

  it('a wrong type is called wrong, and a missing field missing', async () => {
    const { ann: user } = ann();
    expect((await failure(user.remember({ content: 5 }))).message).toContain('content must be a string');
    expect((await failure(user.remember({}))).message).toContain('content is missing');
  });
});

describe('review', () => {
  it('lists what is unconfirmed beyond twice its window, and keeping it confirms it', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'pref', content: 'Likes ramen', topic: 'preference' });
    await user.remember({ id: 'allergy', content: 'Allergic to nuts', topic: 'constraint' });
    at('2026-05-30T09:00:00Z');
    expect((await user.review()).items).toEqual([]);
    at('2026-05-30T09:00:01Z');
    const { items } = await user.review();
    expect(items.map(({ id, reasons }) => [id, reasons])).toEqual([['pref', ['unconfirmed']]]);
    const kept = await user.resolveReview('pref', { action: 'keep' });
    expect(kept).toMatchObject({ id: 'pref', action: 'keep', memory: { confirmedAt: '2026-05-30T09:00:01.000Z' } });
    expect((await user.review()).items).toEqual([]);
  });

  it('lists low trust, and dismissing lets it be without changing it', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'Likes ramen' });
    await user.deny('a');
    at('2026-03-02T09:00:00Z');
    expect((await user.review()).items).toMatchObject([{ id: 'a', reasons: ['low-trust'] }]);
    await user.resolveReview('a', { action: 'dismiss' });
    expect((await user.review()).items).toEqual([]);
    expect(await user.get('a')).toMatchObject({ confidence: 0.3, status: 'open' });
  });

  it('lists a pair that says nearly the same, and merging closes the one into the other', async () => {
    const { ann: user, at } = ann();
    await user.remember({ id: 'a', content: 'The hotel is booked for the third of April' });
    at('2026-03-02T09:00:00Z');
    const { similar } = await user.remember({ id: 'b', content: 'The hotel is booked for the third of April?' });
    expect(similar).toMatchObject([{ id: 'a', difference: 'the same words' }]);
    expect((await user.review()).items).toMatchObject([{ id: 'b', reasons: ['conflict'], similar: ['a'] }]);
    expect(await failure(user.resolveReview('a', { action: 'merge' }))).toMatchObject({ code: 'INVALID_INPUT' });
    await user.resolveReview('a', { action: 'merge', into: 'b' });
    expect(await user.get('a')).toMatchObject({ status: 'superseded', supersededBy: 'b' });
    expect((await user.review()).items).toEqual([]);
  });

  it('holds noise back where the gate is on, and keeping lets it in', async () => {
    const { service } = ann();
    const gated = createSuperseded({ ...service, clock: () => service.now, admission: 0.7 }).for('ann');
    const { memory, reason, admission } = await gated.remember({ id: 'a', content: 'It is Tuesday', confidence: 0.2 });
    expect(reason).toBe('held');
    expect(admission?.score).toBeLessThan(0.7);
    expect(memory).toMatchObject({ status: 'retired', closedReason: expect.stringContaining('held back') });
    expect((await gated.recall({ query: 'Tuesday' })).hits).toEqual([]);
    expect((await gated.review()).items).toMatchObject([{ id: 'a', reasons: ['held'] }]);
    const kept = await gated.resolveReview('a', { action: 'keep' });
    expect((await gated.recall({ query: 'Tuesday' })).hits).toMatchObject([{ memory: { id: kept.memory.id } }]);
    expect((await gated.review()).items).toEqual([]);
    const certain = { content: 'Allergic to nuts', topic: 'constraint', kind: 'semantic' };
    expect((await gated.remember(certain)).memory.status).toBe('open');
  });
});
