import { z } from 'zod';
import { KINDS } from './memory.ts';

/** How each field of an input is checked at the edge; every message says what is wrong and how to mend it. */

/** Limits in Unicode code points, after trimming. */
export const LIMITS = {
  content: 8000,
  title: 200,
  tags: 32,
  tag: 64,
  query: 2000,
  reason: 500,
  id: 128,
  targets: 16,
  hits: 100,
} as const;

const codePoints = (text: string): number => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

/** Text without NUL and lone surrogates, trimmed, of `min` to `max` code points. */
export const text = (max: number, min = 0) =>
  z
    .string()
    .refine((value) => value.isWellFormed(), 'holds a lone surrogate: send well-formed Unicode')
    .refine((value) => !value.includes('\u0000'), 'holds a NUL character: remove it')
    .transform((value) => value.trim())
    .refine((value) => min === 0 || value.length > 0, 'is empty: give at least one character that is not white space')
    .refine((value) => codePoints(value) <= max, `is longer than ${max.toLocaleString('en')} characters: shorten it`);

/** A short name; null where there is none. */
export const title = text(LIMITS.title)
  .nullish()
  .transform((value) => value || null);

/** Why something was done; null where nothing was said. */
export const reason = text(LIMITS.reason)
  .nullish()
  .transform((value) => value || null);

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i;

/** Reads an ISO 8601 instant with `Z` or an offset into UTC milliseconds; null where it is naive, impossible or no instant. */
export function parseInstant(value: string): number | null {
  const match = INSTANT.exec(value);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offset = match[7]?.toUpperCase() === 'Z' ? null : match[7];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month >= 1;
  if (!real || hour > 23 || minute > 59 || second > 59) return null;
  if (offset && (Number(offset.slice(1, 3)) > 23 || Number(offset.slice(4, 6)) > 59)) return null;
  const instant = Date.parse(value.toUpperCase());
  if (Number.isNaN(instant)) return null;
  const utcYear = new Date(instant).getUTCFullYear();
  return utcYear < 0 || utcYear > 9999 ? null : instant;
}

/** An instant in ISO 8601 with `Z` or an offset, as UTC milliseconds. */
export const instant = z.string().transform((value, context) => {
  const parsed = parseInstant(value);
  if (parsed !== null) return parsed;
  context.addIssue({
    code: 'custom',
    message: 'is not an instant: use ISO 8601 with Z or an offset, such as 2026-03-01T09:00:00Z',
  });
  return z.NEVER;
});

export const id = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'is not an id: use 1 to 128 of the characters A–Z a–z 0–9 . _ : -')
  .refine((value) => !/^\.{1,2}$/.test(value), 'is not an id: . and .. name folders in an address');
export const user = z
  .string()
  .regex(/^[A-Za-z0-9._@-]{1,64}$/, 'is not a user id: use 1 to 64 of the characters A–Z a–z 0–9 . _ @ -');
export const topic = z.string().regex(/^[a-z0-9-]{1,40}$/, 'is not a topic: use 1 to 40 of the characters a–z 0–9 -');
export const kind = z.enum(KINDS, { error: `is not a kind: use ${KINDS.join(', ')}` });
export const tags = z.array(text(LIMITS.tag, 1)).max(LIMITS.tags, `are more than ${LIMITS.tags}: send fewer`);
export const confidence = z.number().min(0, 'must be 0 to 1').max(1, 'must be 0 to 1');
export const limit = (fallback: number) =>
  z
    .int('must be a whole number')
    .min(1, `must be 1 to ${LIMITS.hits}`)
    .max(LIMITS.hits, `must be 1 to ${LIMITS.hits}`)
    .default(fallback);
