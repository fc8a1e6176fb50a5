import type { Story } from './tell.ts';

/** Endings without a successor: close, expire, reopen, deny, erase. */
export const ENDINGS: Story[] = [
  {
    name: 'a closed memory stops being recalled, and stays in history',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 3, verb: 'close', id: 'a', input: { reason: 'over' } },
    ],
    readings: [
      {
        recall: [],
        history: ['a'],
        open: [],
        statuses: { a: 'retired' },
        audit: { of: 'a', verbs: ['remember', 'close'] },
      },
      { asOf: 2, recall: ['a'] },
      { knownAt: 2, recall: ['a'] },
    ],
  },
  {
    name: 'a memory closed in the past stops there, as known from the closing on',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 9, verb: 'close', id: 'a', input: { validTo: 4 } },
    ],
    readings: [
      { asOf: 3, recall: ['a'] },
      { asOf: 5, recall: [] },
      { asOf: 5, knownAt: 8, recall: ['a'], statuses: { a: 'open' } },
      { asOf: 4, recall: [] },
    ],
  },
  {
    name: 'a memory closed for the future holds until then, and is closed for every verb',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'close', id: 'a', input: { validTo: 8 } },
      { at: 3, verb: 'confirm', id: 'a', fails: 'CONFLICT' },
      { at: 3, verb: 'close', id: 'a', fails: 'CONFLICT' },
      { at: 3, verb: 'deny', id: 'a', fails: 'CONFLICT' },
      { at: 3, verb: 'feedback', id: 'a', input: { outcome: 1 }, fails: 'CONFLICT' },
      { at: 3, verb: 'remember', id: 'b', input: { supersedes: ['a'] }, fails: 'CONFLICT' },
    ],
    readings: [
      { now: 5, recall: ['a'], statuses: { a: 'open' } },
      { now: 8, recall: [], statuses: { a: 'retired' } },
      { now: 5, asOf: 9, recall: [] },
    ],
  },
  {
    name: 'closing before the memory became true is refused',
    steps: [
      { at: 3, verb: 'remember', id: 'a' },
      { at: 4, verb: 'close', id: 'a', input: { validTo: 2 }, fails: 'INVALID_INPUT' },
    ],
    readings: [{ recall: ['a'] }],
  },
  {
    name: 'an upcoming memory is retired at once',
    steps: [
      { at: 1, verb: 'remember', id: 'a', input: { validFrom: 10 } },
      { at: 2, verb: 'close', id: 'a' },
    ],
    readings: [
      { now: 3, recall: [], statuses: { a: 'retired' } },
      { now: 11, recall: [] },
      { now: 11, knownAt: 1, asOf: 11, recall: ['a'] },
    ],
  },
  {
    name: 'an upcoming memory is recalled from its beginning on',
    steps: [{ at: 1, verb: 'remember', id: 'a', input: { validFrom: 10 } }],
    readings: [
      { now: 2, recall: [], open: ['a'], statuses: { a: 'upcoming' } },
      { now: '2026-03-10T11:59:59.999Z', recall: [] },
      { now: '2026-03-10T12:00:00.000Z', recall: ['a'] },
    ],
  },
  {
    name: 'a plan drops out by itself at its end, to the millisecond',
    steps: [{ at: 1, verb: 'remember', id: 'a', input: { validTo: 5, topic: 'plan' } }],
    readings: [
      { now: '2026-03-05T11:59:59.999Z', recall: ['a'], statuses: { a: 'open' } },
      { now: 5, recall: [], history: ['a'], open: [], statuses: { a: 'expired' } },
      { now: 9, asOf: 4, recall: ['a'] },
    ],
  },
  {
    name: 'an expired plan can be closed, and keeps its own end',
    steps: [
      { at: 1, verb: 'remember', id: 'a', input: { validTo: 5 } },
      { at: 9, verb: 'close', id: 'a' },
    ],
    readings: [{ asOf: 4, recall: ['a'] }, { asOf: 7, recall: [] }, { statuses: { a: 'retired' } }],
  },
  {
    name: 'reopening writes a copy that holds from the old end on',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 3, verb: 'close', id: 'a' },
      { at: 6, verb: 'reopen', id: 'a', named: 'a2' },
    ],
    readings: [
      { recall: ['a2'], chain: ['a', 'a2'], statuses: { a: 'retired', a2: 'open' } },
      { asOf: 2, recall: ['a'] },
      { asOf: 4, recall: ['a2'] },
      { asOf: 4, knownAt: 5, recall: [] },
      { asOf: 2, knownAt: 2, recall: ['a'] },
    ],
  },
  {
    name: 'a memory is reopened once, and an open one not at all',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'reopen', id: 'a', fails: 'CONFLICT' },
      { at: 3, verb: 'close', id: 'a' },
      { at: 4, verb: 'reopen', id: 'a', named: 'a2' },
      { at: 5, verb: 'reopen', id: 'a', fails: 'CONFLICT' },
      { at: 6, verb: 'close', id: 'a2' },
      { at: 7, verb: 'reopen', id: 'a2', named: 'a3' },
    ],
    readings: [
      { recall: ['a3'], chain: ['a', 'a2', 'a3'] },
      { asOf: '2026-03-06T18:00:00Z', knownAt: '2026-03-06T18:00:00Z', recall: [] },
    ],
  },
  {
    name: 'undoing a supersession leaves both the copy and the successor open',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
      { at: 3, verb: 'reopen', id: 'a', named: 'a2' },
    ],
    readings: [
      { recall: ['a2', 'b'], chain: ['a', 'b', 'a2'] },
      { knownAt: '2026-03-02T18:00:00Z', recall: ['b'] },
    ],
  },
  {
    name: 'a copy can supersede the successor it came back from',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
      { at: 3, verb: 'reopen', id: 'a', named: 'a2' },
      { at: 4, verb: 'supersede', id: 'a2', input: { targets: ['b'] } },
    ],
    readings: [{ recall: ['a2'], chain: ['a', 'b', 'a2'] }],
  },
  {
    name: 'reopening an expired plan that was closed brings no day back',
    steps: [
      { at: 1, verb: 'remember', id: 'a', input: { validTo: 4 } },
      { at: 5, verb: 'close', id: 'a' },
      { at: 6, verb: 'reopen', id: 'a', named: 'a2' },
    ],
    readings: [{ recall: [], statuses: { a: 'retired', a2: 'expired' } }],
  },
  {
    name: 'reopening what was closed for the future continues it',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'close', id: 'a', input: { validTo: 8 } },
      { at: 3, verb: 'reopen', id: 'a', named: 'a2' },
    ],
    readings: [
      { now: 5, recall: ['a'] },
      { now: 9, recall: ['a2'] },
    ],
  },
  {
    name: 'a flat denial keeps the memory, less trusted, until it is confirmed',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'deny', id: 'a', input: { reason: 'never said' } },
    ],
    readings: [{ recall: ['a'], statuses: { a: 'open' }, audit: { of: 'a', verbs: ['remember', 'deny'] } }],
  },
  {
    name: 'a certain denial closes a memory as never true, at any time asked about',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 5, verb: 'deny', id: 'a', input: { certain: true } },
    ],
    readings: [
      { recall: [], history: ['a'], statuses: { a: 'denied' } },
      { asOf: 3, recall: [] },
      { asOf: 3, knownAt: 4, recall: ['a'] },
    ],
  },
  {
    name: 'confirming the denial closes the denied as never true',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'd', input: { denies: ['a'] } },
      { at: 3, verb: 'confirm', id: 'd' },
    ],
    readings: [
      { recall: ['d'], statuses: { a: 'denied', d: 'open' } },
      { knownAt: '2026-03-02T18:00:00Z', recall: ['a', 'd'] },
    ],
  },
  {
    name: 'confirming the denied restores it beside the denial',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'd', input: { denies: ['a'] } },
      { at: 3, verb: 'confirm', id: 'a' },
    ],
    readings: [{ recall: ['a', 'd'], statuses: { a: 'open', d: 'open' } }],
  },
  {
    name: 'denying itself, a closed one or an unknown one is refused',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'close', id: 'a' },
      { at: 3, verb: 'remember', id: 'd', input: { denies: ['d'] }, fails: 'INVALID_INPUT' },
      { at: 3, verb: 'remember', id: 'd', input: { denies: ['a'] }, fails: 'CONFLICT' },
      { at: 3, verb: 'remember', id: 'd', input: { denies: ['ghost'] }, fails: 'NOT_FOUND' },
    ],
    readings: [{ recall: [] }],
  },
  {
    name: 'a denied memory can be reopened',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'deny', id: 'a', input: { certain: true } },
      { at: 3, verb: 'reopen', id: 'a', named: 'a2' },
    ],
    readings: [
      { recall: ['a2'] },
      { asOf: '2026-03-01T18:00:00Z', recall: ['a2'] },
      { asOf: '2026-03-01T18:00:00Z', knownAt: '2026-03-02T18:00:00Z', recall: [] },
    ],
  },
  {
    name: 'an erased memory is gone from every reading at any time, and its neighbours stay',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
      { at: 3, verb: 'remember', id: 'c', input: { supersedes: ['b'] } },
      { at: 4, verb: 'erase', id: 'b' },
      { at: 5, verb: 'confirm', id: 'b', fails: 'ERASED' },
      { at: 5, verb: 'erase', id: 'b' },
    ],
    readings: [
      { recall: ['c'], history: ['a', 'c'], statuses: { a: 'superseded', c: 'open' } },
      { asOf: '2026-03-02T18:00:00Z', recall: [] },
      { asOf: '2026-03-01T18:00:00Z', recall: ['a'] },
    ],
  },
  {
    name: 'erasing a copy takes its original along',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'close', id: 'a' },
      { at: 3, verb: 'reopen', id: 'a', named: 'a2' },
      { at: 4, verb: 'erase', id: 'a2' },
    ],
    readings: [{ recall: [], history: [], statuses: {} }],
  },
  {
    name: 'a memory others were derived from is erased by force alone',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 2, verb: 'remember', id: 'b', input: { derivedFrom: ['a'] } },
      { at: 3, verb: 'erase', id: 'a', fails: 'CONFLICT' },
      { at: 3, verb: 'erase', id: 'a', input: { force: true } },
    ],
    readings: [{ recall: ['b'] }],
  },
];
