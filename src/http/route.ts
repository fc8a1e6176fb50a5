import { z } from 'zod';
import type { UserMemories } from '../superseded.ts';
import type { InputSchema } from './request.ts';

/** What a route is: data that the server, the OpenAPI document and the tests read alike. */

export interface Call {
  user: string;
  /** The verbs of the authenticated user. */
  memories: UserMemories;
  /** The id in the path; empty where the path has none. */
  id: string;
  /** The fields of the body (POST) or the query (GET, DELETE), checked against `input`, as they were sent. */
  fields: Readonly<Record<string, unknown>>;
  /** The body of an import. */
  text: string;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
  accept: string;
  requestId: string;
}

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** With the prefix, such as `/v1/memories/:id`. */
  path: `/v1/${string}`;
  /** The verb's name, for the OpenAPI document and generated clients. */
  name: string;
  summary: string;
  /** Fields of the body (POST) or the query (GET, DELETE); none unless given. */
  input?: InputSchema;
  /** Takes NDJSON in place of JSON fields. */
  ndjson?: true;
  /** Needs no token, and is not counted by the rate limit. */
  open?: true;
  /** Each status of success, with the shape of its answer; a string is the content type of an answer that is no JSON. */
  answers: Readonly<Record<number, z.ZodType | string>>;
  /** Statuses of failure beyond those every route has. */
  fails?: readonly number[];
  run(call: Call): Promise<Response>;
}

export const NO_FIELDS = z.strictObject({});

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers });
