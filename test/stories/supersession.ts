import type { Story } from './tell.ts';

/** Chains: replace, merge, return, refuse. */
export const SUPERSESSION: Story[] = [
  {
    name: 'a correction leaves one current memory',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
    ],
    readings: [
      {
        recall: ['b'],
        history: ['a', 'b'],
        open: ['b'],
        statuses: { a: 'superseded', b: 'open' },
        chain: ['a', 'b'],
        audit: { of: 'a', verbs: ['remember', 'supersede'] },
      },
      { asOf: '2026-03-01T18:00:00Z', recall: ['a'] },
      { knownAt: '2026-03-01T18:00:00Z', recall: ['a'], statuses: { a: 'open' } },
    ],
  },
  {
    name: 'a double correction leaves only the last recalled',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
      { at: 3, verb: 'remember', id: 'c', input: { supersedes: ['b'] } },
    ],
    readings: [
      { recall: ['c'], chain: ['a', 'b', 'c'] },
      { asOf: 2, recall: ['b'] },
      { asOf: 2, knownAt: '2026-03-02T11:59:59.999Z', recall: ['a'] },
    ],
  },
  {
    name: 'A, B, A again leaves the last one current and three in history',
    steps: [
      { at: 1, verb: 'remember', id: 'a', input: { content: 'Tea, a note' } },
      { at: 2, verb: 'remember', id: 'b', input: { content: 'Coffee, a note', supersedes: ['a'] } },
      { at: 3, verb: 'remember', id: 'c', input: { content: 'Tea, a note', supersedes: ['b'] } },
    ],
    readings: [{ recall: ['c'], history: ['a', 'b', 'c'], chain: ['a', 'b', 'c'] }],
  },
  {
    name: 'several memories merge into one successor',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 1, verb: 'remember', id: 'b' },
      { at: 1, verb: 'remember', id: 'c' },
      { at: 2, verb: 'remember', id: 'd', input: { supersedes: ['a', 'b', 'c'] } },
    ],
    readings: [{ recall: ['d'], statuses: { a: 'superseded', b: 'superseded', c: 'superseded', d: 'open' } }],
  },
  {
    name: 'one memory is never replaced by two',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
      { at: 3, verb: 'remember', id: 'c', input: { supersedes: ['a'] }, fails: 'CONFLICT' },
    ],
    readings: [{ recall: ['b'], statuses: { a: 'superseded', b: 'open' } }],
  },
  {
    name: 'a refused merge closes none of its targets',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 1, verb: 'remember', id: 'b' },
      { at: 2, verb: 'close', id: 'b' },
      { at: 3, verb: 'remember', id: 'c', input: { supersedes: ['a', 'b'] }, fails: 'CONFLICT' },
      { at: 3, verb: 'remember', id: 'd', input: { supersedes: ['a', 'ghost'] }, fails: 'NOT_FOUND' },
    ],
    readings: [{ recall: ['a'], open: ['a'] }],
  },
  {
    name: 'a correction in the same millisecond is exact',
    steps: [
      { at: '2026-03-01T12:00:00.000Z', verb: 'remember', id: 'a' },
      { at: '2026-03-01T12:00:00.000Z', verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
    ],
    readings: [
      { recall: ['b'], chain: ['a', 'b'] },
      { asOf: '2026-03-01T12:00:00.000Z', recall: ['b'] },
    ],
  },
  {
    name: 'corrections a millisecond apart keep their order',
    steps: [
      { at: '2026-03-01T12:00:00.000Z', verb: 'remember', id: 'a' },
      { at: '2026-03-01T12:00:00.001Z', verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
      { at: '2026-03-01T12:00:00.002Z', verb: 'remember', id: 'c', input: { supersedes: ['b'] } },
    ],
    readings: [
      { recall: ['c'], chain: ['a', 'b', 'c'] },
      { asOf: '2026-03-01T12:00:00.001Z', knownAt: '2026-03-01T12:00:00.001Z', recall: ['b'] },
      { asOf: '2026-03-01T12:00:00.000Z', knownAt: '2026-03-01T12:00:00.002Z', recall: ['a'] },
    ],
  },
  {
    name: 'an existing memory can take the place of others later',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'b' },
      { at: 5, verb: 'supersede', id: 'b', input: { targets: ['a'] } },
    ],
    readings: [
      { recall: ['b'], chain: ['a', 'b'] },
      { knownAt: 3, recall: ['a', 'b'] },
      { asOf: 3, knownAt: 6, recall: ['b'] },
      { asOf: '2026-03-01T18:00:00Z', recall: ['a'] },
    ],
  },
  {
    name: 'a cycle is refused',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 1, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
      { at: 1, verb: 'supersede', id: 'a', input: { targets: ['b'] }, fails: 'CONFLICT' },
      { at: 1, verb: 'supersede', id: 'b', input: { targets: ['b'] }, fails: 'INVALID_INPUT' },
    ],
    readings: [{ recall: ['b'] }],
  },
  {
    name: 'a successor recorded before its target is refused',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'b' },
      { at: 3, verb: 'supersede', id: 'a', input: { targets: ['b'] }, fails: 'INVALID_INPUT' },
    ],
    readings: [{ recall: ['a', 'b'] }],
  },
  {
    name: 'a successor true before its target is refused',
    steps: [
      { at: 2, verb: 'remember', id: 'a' },
      { at: 3, verb: 'remember', id: 'b', input: { supersedes: ['a'], validFrom: 1 }, fails: 'INVALID_INPUT' },
    ],
    readings: [{ recall: ['a'] }],
  },
  {
    name: 'a successor of the future takes over at its time',
    steps: [
      { at: 1, verb: 'remember', id: 'old' },
      { at: 2, verb: 'remember', id: 'new', input: { supersedes: ['old'], validFrom: 10 } },
    ],
    readings: [
      { now: 5, recall: ['old'], open: ['new', 'old'], statuses: { old: 'open', new: 'upcoming' } },
      { now: 10, recall: ['new'], statuses: { old: 'superseded', new: 'open' } },
      { now: 5, asOf: 11, recall: ['new'] },
    ],
  },
  {
    name: 'a successor backdated within its target’s time ends it there',
    steps: [
      { at: 1, verb: 'remember', id: 'old' },
      { at: 9, verb: 'remember', id: 'new', input: { supersedes: ['old'], validFrom: 4 } },
    ],
    readings: [
      { recall: ['new'] },
      { asOf: 3, recall: ['old'] },
      { asOf: 5, recall: ['new'] },
      { asOf: 5, knownAt: 8, recall: ['old'] },
    ],
  },
  {
    name: 'an upcoming memory superseded before its time never holds',
    steps: [
      { at: 1, verb: 'remember', id: 'a', input: { validFrom: 10 } },
      { at: 2, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
    ],
    readings: [
      { now: 3, recall: [], statuses: { a: 'superseded', b: 'upcoming' } },
      { now: 11, recall: ['b'] },
      { now: 11, asOf: 11, knownAt: '2026-03-01T18:00:00Z', recall: ['a'] },
    ],
  },
  {
    name: 'an expired memory may still be superseded; its own end stays',
    steps: [
      { at: 1, verb: 'remember', id: 'a', input: { validTo: 3 } },
      { at: 8, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
    ],
    readings: [
      { recall: ['b'], statuses: { a: 'superseded', b: 'open' } },
      { asOf: 5, recall: [] },
      { asOf: 5, knownAt: 5, statuses: { a: 'expired' } },
    ],
  },
  {
    name: 'another user’s memory is not found, for every verb',
    steps: [
      { at: 1, verb: 'remember', id: 'bens', as: 'ben' },
      { at: 2, verb: 'remember', id: 'a', input: { supersedes: ['bens'] }, fails: 'NOT_FOUND' },
      { at: 2, verb: 'close', id: 'bens', fails: 'NOT_FOUND' },
      { at: 2, verb: 'reopen', id: 'bens', fails: 'NOT_FOUND' },
      { at: 2, verb: 'confirm', id: 'bens', fails: 'NOT_FOUND' },
      { at: 2, verb: 'deny', id: 'bens', fails: 'NOT_FOUND' },
      { at: 2, verb: 'feedback', id: 'bens', input: { outcome: 1 }, fails: 'NOT_FOUND' },
      { at: 2, verb: 'erase', id: 'bens', fails: 'NOT_FOUND' },
    ],
    readings: [
      { recall: [], open: [] },
      { as: 'ben', recall: ['bens'], open: ['bens'] },
    ],
  },
  {
    name: 'the same id of two users makes two memories with two lives',
    steps: [
      { at: 1, verb: 'remember', id: 'x' },
      { at: 1, verb: 'remember', id: 'x', as: 'ben' },
      { at: 2, verb: 'close', id: 'x' },
    ],
    readings: [{ recall: [] }, { as: 'ben', recall: ['x'] }],
  },
  {
    name: 'a chain of six shows only its head',
    steps: ['a', 'b', 'c', 'd', 'e', 'f'].map((id, index, all) => ({
      at: index + 1,
      verb: 'remember' as const,
      id,
      input: index === 0 ? {} : { supersedes: [all[index - 1] ?? ''] },
    })),
    readings: [
      { recall: ['f'], history: ['a', 'b', 'c', 'd', 'e', 'f'], chain: ['a', 'b', 'c', 'd', 'e', 'f'] },
      { asOf: 3, recall: ['c'] },
      { knownAt: 4, recall: ['d'] },
      { asOf: 2, knownAt: 4, recall: ['b'] },
    ],
  },
  {
    name: 'unrelated writes retire nothing',
    steps: Array.from({ length: 12 }, (_, index) => ({ at: index + 1, verb: 'remember' as const, id: `m${index}` })),
    readings: [{ recall: Array.from({ length: 12 }, (_, index) => `m${index}`) }],
  },
];
