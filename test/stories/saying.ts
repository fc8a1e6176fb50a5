import type { Story } from './tell.ts';

/** Saying again, identity and order of what is said. */
const said = (at: number, id: string, content: string, more: Record<string, unknown> = {}) => ({
  at,
  verb: 'remember' as const,
  id,
  input: { content, ...more },
});

export const SAYING: Story[] = [
  {
    name: 'the same id with the same words changes nothing',
    steps: [said(1, 'a', 'A note on tea'), said(2, 'a', 'A note on tea')],
    readings: [{ recall: ['a'], audit: { of: 'a', verbs: ['remember'] } }],
  },
  {
    name: 'the same id with other words is a conflict, and the first words stay',
    steps: [said(1, 'a', 'A note on tea'), { ...said(2, 'a', 'A note on coffee'), fails: 'CONFLICT' }],
    readings: [{ recall: ['a'], statuses: { a: 'open' } }],
  },
  {
    name: 'the id of a closed memory still answers to its words',
    steps: [said(1, 'a', 'A note on tea'), { at: 2, verb: 'close', id: 'a' }, said(3, 'a', 'A note on tea')],
    readings: [{ recall: [], statuses: { a: 'retired' } }],
  },
  {
    name: 'the id of an erased memory stays taken',
    steps: [
      said(1, 'a', 'A note on tea'),
      { at: 2, verb: 'erase', id: 'a' },
      { ...said(3, 'a', 'A note on tea'), fails: 'CONFLICT' },
    ],
    readings: [{ recall: [] }],
  },
  {
    name: 'a repeated supersession by id is answered with what is stored',
    steps: [
      said(1, 'a', 'A note on tea'),
      said(2, 'b', 'A note on coffee', { supersedes: ['a'] }),
      said(3, 'b', 'A note on coffee', { supersedes: ['a'] }),
    ],
    readings: [{ recall: ['b'], chain: ['a', 'b'] }],
  },
  {
    name: '“not X” after “X” is a memory of its own',
    steps: [said(1, 'a', 'A note: likes X'), said(2, 'b', 'A note: does not like X')],
    readings: [{ recall: ['a', 'b'] }],
  },
  {
    name: 'a correction one word apart is stored and closes its target',
    steps: [said(1, 'a', 'A note: flight on Monday'), said(2, 'b', 'A note: flight on Tuesday', { supersedes: ['a'] })],
    readings: [{ recall: ['b'] }],
  },
  {
    name: 'a rule and its exception both stay open',
    steps: [said(1, 'a', 'A note: no late shows'), said(2, 'b', 'A note: late shows are fine on birthdays')],
    readings: [{ recall: ['a', 'b'] }],
  },
  {
    name: 'text of any script is a memory like any other',
    steps: [
      said(1, 'a', 'note 東京タワー'),
      said(1, 'b', 'note שלום'),
      said(1, 'c', 'note 😀'),
      said(1, 'd', 'note \' OR 1=1; -- " \\ | ? ??'),
    ],
    readings: [{ recall: ['a', 'b', 'c', 'd'] }],
  },
  {
    name: 'confirming and feedback leave one row with its whole audit',
    steps: [
      said(1, 'a', 'A note on tea'),
      { at: 2, verb: 'confirm', id: 'a' },
      { at: 3, verb: 'feedback', id: 'a', input: { outcome: 0.5, query: 'tea?', note: 'good' } },
      { at: 4, verb: 'deny', id: 'a' },
    ],
    readings: [{ recall: ['a'], audit: { of: 'a', verbs: ['remember', 'confirm', 'feedback', 'deny'] } }],
  },
];
