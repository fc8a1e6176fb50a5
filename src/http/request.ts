import { z } from 'zod';
import { type Issue, SupersededError } from '../errors.ts';
import { invalid, issuesOf, refuse } from '../validation.ts';
import { HttpError } from './problems.ts';

/** Reads what a request says: its body within a limit, its query, and both against a schema. */

/** Bytes of a JSON body. */
export const BODY_BYTES = 64 * 1024;
/** Bytes of a file to import. */
export const IMPORT_BYTES = 64 * 1024 * 1024;

export type Fields = Readonly<Record<string, unknown>>;
export type InputSchema = z.ZodObject;

const JSON_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json$/;
const NDJSON_TYPE = /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)$/;

/** The fields of a JSON body, none where the body is empty. Throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_INPUT. */
export async function jsonBody(request: Request): Promise<Fields> {
  const text = await bodyText(request, BODY_BYTES, JSON_TYPE, 'application/json');
  if (text === '') return {};
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid([{ path: '', message: 'must be a JSON object' }], 'The body');
  }
  return { ...value };
}

/** The lines of a file to import, as one text. */
export const ndjsonBody = (request: Request): Promise<string> =>
  bodyText(request, IMPORT_BYTES, NDJSON_TYPE, 'application/x-ndjson');

/** A body where none belongs could hold fields that nobody would read. */
export async function noBody(request: Request): Promise<void> {
  const text = request.body === null ? '' : new TextDecoder().decode(await bytesOf(request, BODY_BYTES));
  if (!/^\s*(?:\{\s*\})?\s*$/.test(text)) {
    throw invalid([{ path: '', message: 'must be empty: send parameters in the query' }], 'The body');
  }
}

async function bodyText(request: Request, limit: number, type: RegExp, wanted: string): Promise<string> {
  const bytes = await bytesOf(request, limit);
  if (bytes.length === 0) return '';
  const given = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (!type.test(given)) {
    const said = given === '' ? 'no content type' : `the content type ${given.slice(0, 100)}`;
    throw new HttpError('UNSUPPORTED_MEDIA_TYPE', `The body has ${said}.`, `Send content-type: ${wanted}.`);
  }
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') {
    throw new HttpError('UNSUPPORTED_MEDIA_TYPE', 'The body is compressed.', 'Send it without content-encoding.');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid([{ path: '', message: 'is not UTF-8' }], 'The body');
  }
}

/** The body, counted as it arrives: a length that is wrong or missing changes nothing. */
async function bytesOf(request: Request, limit: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > limit) {
    await request.body?.cancel();
    throw tooLarge(limit);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof SupersededError) throw error;
    throw invalid([{ path: '', message: 'was cut short' }], 'The body');
  }
  return Buffer.concat(chunks);
}

const tooLarge = (limit: number): SupersededError =>
  new SupersededError('TOO_LARGE', `The body is larger than ${limit / 1024} KiB.`, {
    hint: 'Send less at once; an import takes up to 64 MiB.',
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid([{ path: '', message: 'is not JSON' }], 'The body');
  }
}

/** The parameters of a query as the types their schema wants. Throws INVALID_INPUT where one is sent twice. */
export function queryFields(url: string, schema: InputSchema): Fields {
  const fields: Record<string, unknown> = {};
  const types = typesOf(schema);
  for (const [name, value] of new URL(url).searchParams) {
    if (Object.hasOwn(fields, name)) refuse(name, 'is given twice: send it once');
    Object.defineProperty(fields, name, { value: typed(value, types[name]), enumerable: true });
  }
  return fields;
}

function typed(value: string, type: string | undefined): unknown {
  if (type === 'boolean' && /^(?:true|false)$/.test(value)) return value === 'true';
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(?:\.\d+)?$/.test(value)) return Number(value);
  return value;
}

const known = new WeakMap<InputSchema, Record<string, string | undefined>>();

function typesOf(schema: InputSchema): Record<string, string | undefined> {
  const types = known.get(schema) ?? readTypes(schema);
  known.set(schema, types);
  return types;
}

function readTypes(schema: InputSchema): Record<string, string | undefined> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' });
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      typeof field === 'object' && typeof field.type === 'string' ? field.type : undefined,
    ]),
  );
}

/** Fields that set the clock; only a service that replays takes them. */
export const REPLAY_FIELDS = ['now', 'recordedAt'] as const;

/** Checks fields against their schema and the settings, and names everything wrong. Throws INVALID_INPUT. */
export function checkFields(schema: InputSchema, fields: Fields, replay: boolean): void {
  const refused = replay ? [] : REPLAY_FIELDS.filter((name) => name in schema.shape && Object.hasOwn(fields, name));
  const issues: Issue[] = refused.map((path) => ({
    path,
    message: 'sets the clock, which needs SUPERSEDED_REPLAY=1 on the server: remove it',
  }));
  const rest = Object.entries(fields).filter(([name]) => !refused.some((field) => field === name));
  const result = schema.safeParse(Object.fromEntries(rest));
  if (!result.success) issues.push(...issuesOf(result.error));
  if (issues.length > 0) throw invalid(issues);
}
