import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that breaks requests as networks, overloaded clusters and dying processes do. */

export interface Seen {
  method: string;
  path: string;
  body: string;
  /** Counts the requests of the proxy, from 1. */
  number: number;
}

export type Fault =
  /** Passed on as it is. */
  | 'pass'
  /** The connection breaks before the request arrives. */
  | 'drop'
  /** The request is carried out, and the connection breaks instead of the answer. */
  | 'lose'
  /** Nothing arrives and nothing comes back, until `release` passes it on. */
  | 'hold'
  /** The request is carried out, and its answer never comes. */
  | 'swallow'
  /** The request is carried out, and half its answer comes. */
  | 'cut'
  /** Answered here, in place of the cluster. */
  | { status: number; body: object; headers?: Record<string, string> }
  /** The request is carried out, and its answer changed. */
  | { change: (answer: string) => string }
  /** A bulk is carried out but for the items on these documents, which are answered with 429. */
  | { busy: (document: string) => boolean };

export interface FaultProxy {
  url: string;
  /** Decides what becomes of each request. */
  fault: (request: Seen) => Fault;
  seen: Seen[];
  /** Carries out the requests held back so far; their senders have long gone. */
  release(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const held: (() => Promise<unknown>)[] = [];
  const proxy: Omit<FaultProxy, 'url' | 'stop'> = {
    fault: () => 'pass',
    seen: [],
    release: async () => {
      await Promise.all(held.splice(0).map((send) => send().catch(() => undefined)));
    },
  };
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const method = incoming.method ?? 'GET';
    const path = incoming.url ?? '/';
    const request = { method, path, body: body.toString(), number: proxy.seen.length + 1 };
    proxy.seen.push(request);
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) {
      if (!['host', 'connection', 'content-length', 'accept-encoding'].includes(name)) headers.set(name, String(value));
    }
    const fault = proxy.fault(request);
    const part = typeof fault === 'object' && 'busy' in fault ? takeApart(request.body, fault.busy) : null;
    const sent = part ? part.taken : body;
    const send = () => fetch(new URL(path, target), { method, headers, ...(sent.length > 0 ? { body: sent } : {}) });
    if (part?.taken === '') {
      outgoing.writeHead(200, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' });
      return void outgoing.end(part.put({ errors: true, items: [] }));
    }
    if (fault === 'drop') return void outgoing.destroy();
    if (fault === 'hold') return void held.push(send);
    if (typeof fault === 'object' && 'status' in fault) {
      outgoing.writeHead(fault.status, {
        'content-type': 'application/json',
        'x-elastic-product': 'Elasticsearch',
        ...fault.headers,
      });
      return void outgoing.end(JSON.stringify(fault.body));
    }
    const response = await send();
    const text = await response.text();
    if (fault === 'lose') return void outgoing.destroy();
    if (fault === 'swallow') return;
    const change = typeof fault === 'object' && 'change' in fault ? fault.change : (answer: string) => answer;
    const full = Buffer.from(part ? part.put(JSON.parse(text) as BulkAnswer) : change(text));
    const kept = Object.fromEntries(
      [...response.headers].filter(
        ([name]) => !['content-encoding', 'content-length', 'transfer-encoding', 'connection'].includes(name),
      ),
    );
    outgoing.writeHead(response.status, method === 'HEAD' ? kept : { ...kept, 'content-length': full.length });
    if (fault !== 'cut') return void outgoing.end(full);
    outgoing.write(full.subarray(0, full.length / 2), () => outgoing.destroy());
  };
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  });
}

interface BulkAnswer {
  errors: boolean;
  items: object[];
}

/** What of a bulk is sent on, and how the answer is put together again. */
function takeApart(body: string, isBusy: (document: string) => boolean) {
  const lines = body.trim().split('\n');
  const items: { action: string; id: string; lines: string[]; busy: boolean }[] = [];
  while (lines.length > 0) {
    const header = lines.shift() ?? '';
    const [[action, { _id: id }] = ['', { _id: '' }]] = Object.entries(
      JSON.parse(header) as Record<string, { _id: string }>,
    );
    items.push({ action, id, busy: isBusy(id), lines: [header, ...(action === 'delete' ? [] : lines.splice(0, 1))] });
  }
  const error = { type: 'es_rejected_execution_exception', reason: 'busy' };
  return {
    taken: items.flatMap(({ busy, lines }) => (busy ? [] : lines.map((line) => `${line}\n`))).join(''),
    put: ({ items: answered }: BulkAnswer): string => {
      const rest = [...answered];
      const all = items.map(({ action, id, busy }) =>
        busy ? { [action]: { _id: id, status: 429, error } } : rest.shift(),
      );
      return JSON.stringify({ took: 1, errors: true, items: all });
    },
  };
}
