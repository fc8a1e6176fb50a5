import type { Story } from './tell.ts';

/** Time itself: zones, leap days, far pasts and futures, clocks that step back, both clocks at once. */
export const CLOCKS: Story[] = [
  {
    name: 'an offset is the same instant as Z',
    steps: [{ at: 1, verb: 'remember', id: 'a', input: { validFrom: '2026-03-01T10:00:00+01:00' } }],
    readings: [
      { asOf: '2026-03-01T09:00:00Z', recall: ['a'] },
      { asOf: '2026-03-01T08:59:59.999Z', recall: [] },
      { asOf: '2026-03-01T04:00:00-05:00', recall: ['a'] },
    ],
  },
  {
    name: 'the hour that daylight saving repeats is told apart by its offset',
    steps: [
      { at: '2026-10-25T00:30:00Z', verb: 'remember', id: 'a', input: { validFrom: '2026-10-25T02:30:00+02:00' } },
      {
        at: '2026-10-25T01:30:00Z',
        verb: 'remember',
        id: 'b',
        input: { validFrom: '2026-10-25T02:30:00+01:00', supersedes: ['a'] },
      },
    ],
    readings: [
      { recall: ['b'] },
      { asOf: '2026-10-25T02:45:00+02:00', recall: ['a'] },
      { asOf: '2026-10-25T02:45:00+01:00', recall: ['b'] },
    ],
  },
  {
    name: 'the hour that daylight saving skips exists in UTC',
    steps: [{ at: '2026-03-29T01:30:00Z', verb: 'remember', id: 'a' }],
    readings: [{ asOf: '2026-03-29T03:30:00+02:00', recall: ['a'] }],
  },
  {
    name: 'a leap day is a day',
    steps: [
      {
        at: '2028-02-28T12:00:00Z',
        verb: 'remember',
        id: 'a',
        input: { validFrom: '2028-02-29T00:00:00Z', validTo: '2028-03-01T00:00:00Z' },
      },
    ],
    readings: [
      { now: '2028-02-28T23:59:59.999Z', recall: [] },
      { now: '2028-02-29T12:00:00Z', recall: ['a'] },
      { now: '2028-03-01T00:00:00Z', recall: [] },
    ],
  },
  {
    name: 'an impossible leap day is refused',
    steps: [{ at: 1, verb: 'remember', id: 'a', input: { validFrom: '2027-02-29T00:00:00Z' }, fails: 'INVALID_INPUT' }],
    readings: [{ recall: [] }],
  },
  {
    name: 'the year 1 and the year 9999 are instants like any other',
    steps: [
      { at: 1, verb: 'remember', id: 'a', input: { validFrom: '0001-01-01T00:00:00Z' } },
      { at: 1, verb: 'remember', id: 'b', input: { validTo: '9999-12-31T23:59:59.999Z' } },
      { at: 1, verb: 'remember', id: 'c', input: { validFrom: '9999-01-01T00:00:00Z' } },
    ],
    readings: [
      { recall: ['a', 'b'], open: ['a', 'b', 'c'] },
      { asOf: '0001-01-01T00:00:00Z', recall: ['a'] },
      { asOf: '9999-06-01T00:00:00Z', recall: ['a', 'b', 'c'] },
    ],
  },
  {
    name: 'the turn of the year is midnight UTC',
    steps: [
      { at: '2026-12-31T23:59:59.999Z', verb: 'remember', id: 'a' },
      { at: '2027-01-01T00:00:00.000Z', verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
    ],
    readings: [
      { asOf: '2026-12-31T23:59:59.999Z', recall: ['a'] },
      { asOf: '2027-01-01T00:00:00Z', recall: ['b'] },
    ],
  },
  {
    name: 'a clock that steps back breaks no chain',
    steps: [
      { at: 5, verb: 'remember', id: 'a' },
      { at: 4, verb: 'remember', id: 'b', input: { supersedes: ['a'] } },
      { at: 3, verb: 'remember', id: 'c', input: { supersedes: ['b'] } },
    ],
    readings: [{ now: 6, recall: ['c'], chain: ['a', 'b', 'c'] }],
  },
  {
    name: 'a clock that steps back closes and reopens exactly',
    steps: [
      { at: 5, verb: 'remember', id: 'a' },
      { at: 3, verb: 'close', id: 'a' },
      { at: 2, verb: 'reopen', id: 'a', named: 'a2' },
    ],
    readings: [
      { now: 6, recall: ['a2'] },
      { now: 6, asOf: 4, recall: [] },
    ],
  },
  {
    name: 'a memory said again by a clock that stepped back is still confirmed',
    steps: [
      { at: 5, verb: 'remember', id: 'a' },
      { at: 3, verb: 'confirm', id: 'a' },
    ],
    readings: [{ now: 6, recall: ['a'], audit: { of: 'a', verbs: ['remember', 'confirm'] } }],
  },
  {
    name: 'a memory told of the past was true then, and known only since',
    steps: [{ at: 9, verb: 'remember', id: 'a', input: { validFrom: 2 } }],
    readings: [
      { asOf: 3, recall: ['a'] },
      { asOf: 3, knownAt: 8, recall: [] },
      { asOf: 1, recall: [] },
      { knownAt: 9, recall: ['a'] },
    ],
  },
  {
    name: 'what we knew on the 4th about the 2nd, of something corrected on the 6th',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 6, verb: 'remember', id: 'b', input: { supersedes: ['a'], validFrom: '2026-03-01T18:00:00Z' } },
    ],
    readings: [
      { asOf: 2, knownAt: 4, recall: ['a'] },
      { asOf: 2, knownAt: 7, recall: ['b'] },
      { asOf: 2, recall: ['b'] },
      { asOf: '2026-03-01T13:00:00Z', recall: ['a'] },
    ],
  },
  {
    name: 'knownAt alone answers as of that time too',
    steps: [
      { at: 1, verb: 'remember', id: 'a', input: { validTo: 4 } },
      { at: 5, verb: 'remember', id: 'b' },
    ],
    readings: [
      { knownAt: 3, recall: ['a'] },
      { knownAt: 5, recall: ['b'] },
    ],
  },
  {
    name: 'both clocks are exact after a reopening, for every pair',
    steps: [
      { at: 1, verb: 'remember', id: 'a' },
      { at: 4, verb: 'close', id: 'a', input: { validTo: 3 } },
      { at: 7, verb: 'reopen', id: 'a', named: 'a2' },
      { at: 9, verb: 'close', id: 'a2', input: { validTo: 8 } },
    ],
    readings: [
      { asOf: 2, knownAt: 2, recall: ['a'] },
      { asOf: '2026-03-03T18:00:00Z', knownAt: '2026-03-03T18:00:00Z', recall: ['a'] },
      { asOf: '2026-03-03T18:00:00Z', knownAt: 5, recall: [] },
      { asOf: '2026-03-03T18:00:00Z', knownAt: 8, recall: ['a2'] },
      { asOf: '2026-03-08T18:00:00Z', knownAt: '2026-03-08T18:00:00Z', recall: ['a2'] },
      { asOf: '2026-03-08T18:00:00Z', knownAt: 10, recall: [] },
      { asOf: 2, knownAt: 10, recall: ['a'] },
      { asOf: 5, knownAt: 10, recall: ['a2'] },
    ],
  },
  {
    name: 'the beginning counts and the end does not',
    steps: [
      {
        at: 1,
        verb: 'remember',
        id: 'a',
        input: { validFrom: '2026-03-02T00:00:00Z', validTo: '2026-03-03T00:00:00Z' },
      },
    ],
    readings: [
      { asOf: '2026-03-01T23:59:59.999Z', recall: [] },
      { asOf: '2026-03-02T00:00:00.000Z', recall: ['a'] },
      { asOf: '2026-03-02T23:59:59.999Z', recall: ['a'] },
      { asOf: '2026-03-03T00:00:00.000Z', recall: [] },
    ],
  },
  {
    name: 'an empty span is refused',
    steps: [
      { at: 1, verb: 'remember', id: 'a', input: { validFrom: 3, validTo: 3 }, fails: 'INVALID_INPUT' },
      { at: 1, verb: 'remember', id: 'a', input: { validFrom: 3, validTo: 2 }, fails: 'INVALID_INPUT' },
    ],
    readings: [{ recall: [] }],
  },
  {
    name: 'nothing is known before it was recorded',
    steps: [{ at: '2026-03-01T12:00:00.005Z', verb: 'remember', id: 'a' }],
    readings: [
      { knownAt: '2026-03-01T12:00:00.004Z', recall: [], statuses: {} },
      { knownAt: '2026-03-01T12:00:00.005Z', recall: ['a'], statuses: { a: 'open' } },
    ],
  },
];
