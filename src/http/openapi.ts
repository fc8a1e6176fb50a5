import { z } from 'zod';
import { id, instant } from '../fields.ts';
import * as answer from './answers.ts';
import { type InputSchema, REPLAY_FIELDS } from './request.ts';
import type { Route } from './route.ts';

/** The OpenAPI 3.1 document, made from the same schemas that check requests. */

type Json = Record<string, unknown>;

const FAILURES: Readonly<Record<number, string>> = {
  400: 'A field is invalid or unknown; issues names each.',
  401: 'No token, or a wrong one.',
  403: 'The memory is shared, and no user changes it.',
  404: 'No such memory of this user.',
  409: 'In conflict with what is stored; head names the open memory of a closed chain.',
  410: 'The memory was erased.',
  413: 'The body is too large.',
  415: 'The body has another content type.',
  422: 'The text looks like a secret.',
  429: 'Too many requests; Retry-After says how long to wait.',
  500: 'A fault of the service.',
  503: 'The store cannot be reached, or a model is not configured.',
};

const SHAPES: readonly [z.ZodType, string][] = [
  [answer.memory, 'Memory'],
  [answer.recalled, 'Recalled'],
  [answer.remembered, 'Remembered'],
  [answer.page, 'Page'],
  [answer.chain, 'Chain'],
  [answer.changed, 'Changed'],
  [answer.linked, 'Linked'],
  [answer.reopened, 'Reopened'],
  [answer.receipt, 'Receipt'],
  [answer.receiptForAll, 'ReceiptForAll'],
  [answer.audited, 'Audited'],
  [answer.imported, 'Imported'],
  [answer.health, 'Health'],
  [answer.chatted, 'Chatted'],
  [answer.problem, 'Problem'],
];

/** The document; without `replay` the fields that set the clock are left out, since they would be refused. */
export function openApiDocument(routes: readonly Route[], { version, replay }: { version: string; replay: boolean }) {
  const shapes = z.registry<{ id: string }>();
  for (const [schema, name] of SHAPES) shapes.add(schema, { id: name });
  const { schemas } = z.toJSONSchema(shapes, { io: 'input', uri: refOf });
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, replay) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Superseded',
      version,
      description: 'Long-term memory for AI agents whose users change their minds.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Not needed for the demo user on loopback.' },
      },
      schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)])),
    },
  };
}

const refOf = (name: string): string => `#/components/schemas/${name}`;

function operationOf(route: Route, replay: boolean): Json {
  const fields = route.input ? inputOf(route.input, replay) : null;
  const parameters = [...pathParameters(route), ...(route.method === 'POST' ? [] : queryParameters(fields))];
  const body = bodyOf(route, fields);
  return {
    operationId: route.name,
    summary: route.summary,
    ...(route.open ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: responsesOf(route),
  };
}

const pathParameters = ({ path }: Route): Json[] =>
  path.includes('/:id') ? [{ name: 'id', in: 'path', required: true, schema: schemaOf(id) }] : [];

const queryParameters = (fields: ObjectSchema | null): Json[] =>
  Object.entries(fields?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: fields?.required?.includes(name) ?? false,
    schema,
  }));

function bodyOf(route: Route, fields: ObjectSchema | null): Json | null {
  if (route.ndjson) {
    const schema = { type: 'string', description: 'One JSON document a line, as GET /v1/export writes them.' };
    return { required: true, content: { 'application/x-ndjson': { schema } } };
  }
  if (route.method !== 'POST' || !fields) return null;
  return { required: (fields.required ?? []).length > 0, content: { 'application/json': { schema: fields } } };
}

function responsesOf(route: Route): Json {
  const failures = [
    ...(route.open ? [400] : [400, 401, 429]),
    ...(route.method === 'POST' ? [413, 415] : []),
    ...(route.fails ?? []),
    500,
    503,
  ];
  const succeeded = Object.entries(route.answers).map(([status, shape]) => [status, successOf(route, shape)]);
  const failed = failures.map((status) => [
    status,
    {
      description: FAILURES[status],
      ...(status === 429 ? { headers: { 'Retry-After': { schema: { type: 'integer' } } } } : {}),
      content: { 'application/json': { schema: { $ref: refOf('Problem') } } },
    },
  ]);
  return Object.fromEntries([...succeeded, ...failed]);
}

function successOf(route: Route, shape: z.ZodType | string): Json {
  const description = route.summary;
  if (typeof shape === 'string')
    return { description, content: { [shape]: { schema: { type: stringOrObject(shape) } } } };
  const name = SHAPES.find(([schema]) => schema === shape)?.[1];
  const schema = name ? { $ref: refOf(name) } : schemaOf(shape);
  const events = route.name === 'chat' ? { 'text/event-stream': { schema: { type: 'string' } } } : {};
  return { description, content: { 'application/json': { schema }, ...events } };
}

const stringOrObject = (contentType: string): string => (contentType === 'application/json' ? 'object' : 'string');

interface ObjectSchema extends Json {
  properties?: Record<string, unknown>;
  required?: string[];
}

function inputOf(input: InputSchema, replay: boolean): ObjectSchema {
  const { properties = {}, required = [], ...schema } = schemaOf(input);
  const kept = Object.entries(properties).filter(([name]) => replay || !REPLAY_FIELDS.some((field) => field === name));
  return { ...schema, properties: Object.fromEntries(kept), ...(required.length > 0 ? { required } : {}) };
}

const schemaOf = (schema: z.ZodType): ObjectSchema =>
  plain(
    z.toJSONSchema(schema, {
      io: 'input',
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema === instant) jsonSchema.format = 'date-time';
      },
    }),
  );

/** Without the fields that only a document of its own has. */
function plain(schema: Json): ObjectSchema {
  const { $schema: _, $id: __, ...rest } = schema;
  return rest;
}
