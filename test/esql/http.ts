/** The stand-in's dealings with HTTP: answers in Elasticsearch's shapes. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { EsqlError } from './values.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}
/** An answer of the node that the caller of `_query` gets as it is. */
export class NodeAnswer extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(`the node answered ${answer.status}`);
    this.answer = answer;
  }
}

const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'proxy-connection',
  'expect',
];
export const notFound = (endpoint: string): EsqlError =>
  new EsqlError('resource_not_found_exception', `Inference endpoint not found [${endpoint}]`, 404);

/** Elasticsearch's form of a warning header; what is not ASCII is percent-encoded. */
export const warningOf = (text: string, version: string): string => {
  const quoted = text.replace(/["\\]/g, '\\$&').replace(/\s/g, ' ');
  return `299 Elasticsearch-${version} "${quoted.replace(/[^\x20-\x7e]/gu, encodeURIComponent)}"`;
};

export async function whole(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  const content = Buffer.concat(parts);
  return stream.headers['content-encoding'] === 'gzip' ? gunzipSync(content) : content;
}

export function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
}

export function json(answer: Answer): Record<string, unknown> {
  if (answer.status !== 200) throw new NodeAnswer(answer);
  return JSON.parse(answer.body.toString('utf8')) as Record<string, unknown>;
}

export function license(type: 'trial' | 'basic'): unknown {
  const issued = Date.UTC(2026, 0, 1);
  const expiry = issued + 30 * 86_400_000;
  return {
    license: {
      status: 'active',
      uid: '00000000-0000-4000-8000-000000000000',
      type,
      issue_date: new Date(issued).toISOString(),
      issue_date_in_millis: issued,
      ...(type === 'trial' ? { expiry_date: new Date(expiry).toISOString(), expiry_date_in_millis: expiry } : {}),
      max_nodes: 1000,
      max_resource_units: null,
      issued_to: 'stand-in',
      issuer: 'elasticsearch',
      start_date_in_millis: -1,
    },
  };
}
