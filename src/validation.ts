import type { z } from 'zod';
import { type Issue, SupersededError } from './errors.ts';

/** Checks an input against its schema; throws INVALID_INPUT that names every field at fault and the fix. */
export function check<T extends z.ZodType>(schema: T, input: unknown, what = 'The request'): z.output<T> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalid(issuesOf(parsed.error), what);
}

/** Every problem as a path and a sentence about it; unknown fields are named one by one. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue): Issue[] => {
    const path = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys') {
      const fields = [...issue.keys];
      return fields.map((key) => ({ path: path ? `${path}.${key}` : key, message: 'is not a known field: remove it' }));
    }
    if (issue.code === 'invalid_type') return [{ path, message: expectation(issue.expected, issue.input) }];
    return [{ path, message: issue.message }];
  });
}

const expectation = (expected: string, input: unknown): string =>
  input === undefined ? `is missing: give ${article(expected)}` : `must be ${article(expected)}`;

const article = (noun: string): string => (/^[aeio]/.test(noun) ? `an ${noun}` : `a ${noun}`);

export function invalid(issues: Issue[], what = 'The request'): SupersededError {
  const list = issues.map(({ path, message }) => (path ? `${path} ${message}` : `it ${message}`)).join('; ');
  return new SupersededError('INVALID_INPUT', `${what} is not valid: ${list}.`, { issues });
}

/** One field is wrong: throws INVALID_INPUT for it. */
export const refuse = (path: string, message: string): never => {
  throw invalid([{ path, message }]);
};
