import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInstant } from '../src/fields.ts';

describe('an instant', () => {
  it.each([
    ['2026-03-01T09:00:00Z', '2026-03-01T09:00:00.000Z'],
    ['2026-03-01T09:00:00.123456Z', '2026-03-01T09:00:00.123Z'],
    ['2026-03-01T09:00+01:00', '2026-03-01T08:00:00.000Z'],
    ['2026-03-29T02:30:00+02:00', '2026-03-29T00:30:00.000Z'],
    ['2024-02-29T23:59:59-11:30', '2024-03-01T11:29:59.000Z'],
    ['2026-03-01t09:00:00z', '2026-03-01T09:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (given, utc) => {
    expect(new Date(parseInstant(given) ?? Number.NaN).toISOString()).toBe(utc);
  });

  it.each([
    '2026-03-01T09:00:00',
    '2026-03-01',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T10:60:00Z',
    '2026-01-01T10:00:60Z',
    '2026-01-01T10:00:00+25:00',
    '2026-01-01 10:00:00Z',
    'yesterday',
    '',
    '1767225600000',
    '9999-12-31T23:59:59-23:00',
  ])('%s is refused', (given) => {
    expect(parseInstant(given)).toBeNull();
  });

  it('survives the round trip through its own form', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
        (date) => {
          expect(parseInstant(date.toISOString())).toBe(date.getTime());
        },
      ),
    );
  });
});
