/**
 * A reverse proxy that gives a real Elasticsearch node the ES|QL it lacks: POST /_query is answered by the stand-in
 * in test/esql, the licence and the inference endpoints as told, and everything else by the node itself.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { columnsOf, type IndexFields, type Mapping } from './esql/fields.ts';
import { type Answer, json, license, NodeAnswer, notFound, warningOf, whole, withoutHops } from './esql/http.ts';
import { readRequest } from './esql/params.ts';
import { type Rules, runQuery } from './esql/run.ts';
import type { Backend, Found } from './esql/search.ts';
import { EsqlError } from './esql/values.ts';

export interface StandInOptions {
  /** The node, as `http://127.0.0.1:9200`. */
  target: string;
  license?: 'trial' | 'basic';
  /** Told in the answer to `GET /`, and decides which commands exist; by default the node's own, and all exist. */
  version?: string;
  snapshot?: boolean;
  now?: () => number;
  /** Whether KNN takes the filter beside the query with it (`pre`, the default), or its neighbours pass it afterwards. */
  requestFilter?: 'pre' | 'post';
  /** The inference endpoints that exist, by id, and what they make of a text. */
  inference?: Record<string, (text: string) => Promise<number[]>>;
}
export interface StandIn {
  url: string;
  /** The bodies of the `_query` requests answered so far, the newest last. */
  queries: string[];
  stop(): Promise<void>;
}

const COMPATIBLE = 'application/vnd.elasticsearch+json;compatible-with=9';
const JSON_TYPE = { accept: COMPATIBLE, 'content-type': COMPATIBLE };

export async function startStandIn(options: StandInOptions): Promise<StandIn> {
  const queries: string[] = [];
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, outgoing) => {
    const standIn = new Exchange(options, agent, incoming, outgoing, queries);
    // What fails here failed on the way to the node: the caller sees its connection break, as it would without us.
    standIn.answer().catch(() => outgoing.destroy());
  });
  server.requestTimeout = 0;
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    queries,
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

class Exchange implements Backend {
  private readonly options: StandInOptions;
  private readonly agent: Agent;
  private readonly incoming: IncomingMessage;
  private readonly outgoing: ServerResponse;
  private readonly queries: string[];
  private readonly url: URL;
  private readonly gone = new AbortController();
  private partialAllowed = true;
  private readonly mappings = new Map<string, Promise<IndexFields | null>>();

  constructor(
    options: StandInOptions,
    agent: Agent,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    queries: string[],
  ) {
    this.options = options;
    this.agent = agent;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.queries = queries;
    this.url = new URL(incoming.url ?? '/', options.target);
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) this.gone.abort();
    });
  }

  async answer(): Promise<void> {
    const { method } = this.incoming;
    const path = this.url.pathname.replace(/\/+$/, '') || '/';
    if (path === '/_query' && method === 'POST') return await this.query();
    if (path.startsWith('/_query'))
      return this.refuse(
        new EsqlError('illegal_argument_exception', `the ES|QL stand-in does not answer ${method} ${path}`),
      );
    if (path === '/_license' && method === 'GET') return this.send(200, license(this.options.license ?? 'trial'));
    if (path.startsWith('/_inference')) return await this.inference(method ?? 'GET', path);
    if (path === '/' && method === 'GET' && this.options.version) return await this.root(this.options.version);
    this.pass();
  }

  private send(status: number, body: unknown, warnings: string[] = []): void {
    const type = this.incoming.headers.accept?.includes('compatible-with') ? COMPATIBLE : 'application/json';
    const { version = '9.5.3' } = this.options;
    if (warnings.length > 0)
      this.outgoing.setHeader(
        'warning',
        warnings.map((text) => warningOf(text, version)),
      );
    this.outgoing.writeHead(status, { 'X-elastic-product': 'Elasticsearch', 'content-type': type });
    this.outgoing.end(JSON.stringify(body));
  }
  private refuse(error: EsqlError): void {
    this.send(error.status, error.body());
  }

  /** Streams a request to the node and its answer back, whatever their size. */
  private pass(): void {
    const headers = withoutHops(this.incoming.headers);
    const upstream = request(this.url, {
      method: this.incoming.method ?? 'GET',
      agent: this.agent,
      headers: { ...headers, host: this.url.host },
      signal: this.gone.signal,
    });
    upstream.on('response', (answer) => {
      this.outgoing.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
      answer.on('error', () => this.outgoing.destroy());
      answer.pipe(this.outgoing);
    });
    upstream.on('error', () => this.outgoing.destroy());
    this.incoming.pipe(upstream);
  }

  /** A request of our own to the node, with the caller's credentials. */
  private async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const { authorization } = this.incoming.headers;
    const headers = { ...JSON_TYPE, ...(authorization ? { authorization } : {}) };
    const text = body === undefined ? '' : JSON.stringify(body);
    return await new Promise((done, failed) => {
      const upstream = request(new URL(path, this.options.target), {
        method,
        agent: this.agent,
        headers: { ...headers, ...(text ? { 'content-length': Buffer.byteLength(text) } : {}) },
        signal: this.gone.signal,
      });
      upstream.on('error', failed);
      upstream.on('response', (answer) => {
        whole(answer).then(
          (content) => done({ status: answer.statusCode ?? 502, headers: answer.headers, body: content }),
          failed,
        );
      });
      upstream.end(text);
    });
  }

  private async query(): Promise<void> {
    const began = Date.now();
    const body = (await whole(this.incoming)).toString('utf8');
    this.queries.push(body);
    try {
      for (const [name, value] of this.url.searchParams) this.flag(name, value);
      const result = await runQuery(readRequest(body), this, this.rules());
      const { columns, values, partial, warnings } = result;
      this.send(200, { took: Date.now() - began, is_partial: partial, columns, values }, warnings);
    } catch (error) {
      if (error instanceof EsqlError) this.refuse(error);
      else if (error instanceof NodeAnswer) {
        this.outgoing.writeHead(error.answer.status, withoutHops(error.answer.headers));
        this.outgoing.end(error.answer.body);
      } else throw error;
    }
  }
  private rules(): Rules {
    const { license = 'trial', version = '9.5.3', snapshot, now, requestFilter = 'pre' } = this.options;
    return { license, version, requestFilter, ...(snapshot ? { snapshot } : {}), ...(now ? { now } : {}) };
  }
  private flag(name: string, value: string): void {
    if (name === 'allow_partial_results') this.partialAllowed = value !== 'false';
    else if (!((name === 'format' && value === 'json') || (name === 'drop_null_columns' && value === 'false')))
      throw new EsqlError(
        'illegal_argument_exception',
        `the ES|QL stand-in does not know the parameter [${name}=${value}]`,
      );
  }

  /** The branches of one query share one look at the mapping. */
  fields(index: string): Promise<IndexFields | null> {
    const asked = this.mappings.get(index) ?? this.mapping(index);
    this.mappings.set(index, asked);
    return asked;
  }
  private async mapping(index: string): Promise<IndexFields | null> {
    const answer = await this.ask('GET', `/${encodeURIComponent(index)}/_mapping`);
    if (answer.status === 404) return null;
    const found = Object.values(json(answer)) as { mappings: Mapping }[];
    if (found.length !== 1)
      throw new EsqlError(
        'illegal_argument_exception',
        `the ES|QL stand-in reads one index at a time: [${index}] is ${found.length}`,
      );
    return columnsOf(found[0]?.mappings ?? {});
  }

  async search(index: string, body: unknown): Promise<Found> {
    const path = `/${encodeURIComponent(index)}/_search?allow_partial_search_results=${this.partialAllowed}`;
    const { hits, _shards, timed_out } = json(await this.ask('POST', path, body)) as {
      hits: { hits: Found['hits'] };
      _shards: { failed: number };
      timed_out: boolean;
    };
    return { hits: hits.hits, partial: timed_out || _shards.failed > 0 };
  }

  async embed(endpoint: string, text: string): Promise<number[]> {
    const known = this.options.inference ?? {};
    if (!Object.hasOwn(known, endpoint)) throw notFound(endpoint);
    return await (known[endpoint] as (text: string) => Promise<number[]>)(text);
  }

  /** GET tells whether an endpoint exists, POST embeds; none can be made here. */
  private async inference(method: string, path: string): Promise<void> {
    const endpoint = decodeURIComponent(path.split('/').at(-1) ?? '');
    const body = (await whole(this.incoming)).toString('utf8');
    if (!Object.hasOwn(this.options.inference ?? {}, endpoint)) return this.refuse(notFound(endpoint));
    if (method === 'GET')
      return this.send(200, {
        endpoints: [{ inference_id: endpoint, task_type: 'text_embedding', service: 'stand-in' }],
      });
    if (method !== 'POST')
      return this.refuse(
        new EsqlError('illegal_argument_exception', `the ES|QL stand-in does not answer ${method} ${path}`),
      );
    const input = [(JSON.parse(body) as { input: string | string[] }).input].flat();
    const vectors = await Promise.all(input.map((text) => this.embed(endpoint, text)));
    this.send(200, { text_embedding: vectors.map((embedding) => ({ embedding })) });
  }

  private async root(version: string): Promise<void> {
    const answer = await this.ask('GET', '/');
    if (answer.status !== 200) return this.send(answer.status, JSON.parse(answer.body.toString('utf8')));
    const root = json(answer) as { version: object };
    this.send(200, { ...root, version: { ...root.version, number: version } });
  }
}
