import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stub, startStub } from '../../scripts/openrouter-stub.ts';
import { SCRIPTED } from '../../scripts/stand-in.ts';
import type { Answered } from '../http-app.ts';
import { loadUntilGone } from './load.ts';
import { bodiesOf, eventsOf, type Operation, operationsOf, rpc } from './requests.ts';
import { modelAt, percentiles, requestOf, type ServerProcess, startServer } from './server-process.ts';

/** What the built server does, whatever it stores in: over a port, with a process that signals reach. */

const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, '..', '..', 'package.json'), 'utf8'));

/** A word that stands in all that a user says, and in nothing of anybody else's. */
const MARK = { ann: 'amberfinch', ben: 'cobaltheron' } as const;
type Somebody = keyof typeof MARK;
const other = (user: Somebody): Somebody => (user === 'ann' ? 'ben' : 'ann');

const LIKES = [
  ['I drink green tea in the morning', 'What do I drink in the morning?'],
  ['I take the window seat on every train', 'Which seat do I take on a train?'],
  ['I sleep badly above a busy street', 'Where do I sleep badly?'],
  ['I eat no fish', 'Do I eat fish?'],
  ['I carry one small bag and never check it in', 'How much luggage do I carry?'],
] as const;
const said = (user: Somebody, words: string): string => `${words}, says ${MARK[user]}`;

const CHATS = 50;
const RECALLS = 200;
/** One chat in so many tells something in place of asking. */
const TELLS = 5;

export interface Place {
  skipped: boolean;
  /** What /v1/health calls the store. */
  store: string;
  /** How many recalls it may have to answer at a moment; all of them unless given. */
  recallsAtOnce?: number;
  /** The settings of a store of its own, with its files in this folder. */
  settings(folder: string): Record<string, string>;
}

export function serverContract(name: string, place: Place): void {
  describe.skipIf(place.skipped)(`the built server on ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'superseded-server-data-'));
    let stub: Stub;
    let server: ServerProcess;
    let annsId: string;
    let bensId: string;

    beforeAll(async () => {
      stub = await startStub();
      server = await startServer({ ...modelAt(stub.url), ...place.settings(mkdtempSync(join(folder, 'store-'))) });
      for (const user of ['ann', 'ben'] as const) {
        const stored = await Promise.all(
          LIKES.map(([words]) => server.send(user, 'POST', '/v1/memories', { content: said(user, words) })),
        );
        expect(stored.map(({ status, text }) => (status === 201 ? status : text))).toEqual(LIKES.map(() => 201));
        if (user === 'ann') annsId = stored[0]?.body.memory.id;
        else bensId = stored[0]?.body.memory.id;
      }
    });

    afterAll(async () => {
      await server?.end();
      await stub?.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    });

    const operations = async (): Promise<Operation[]> =>
      operationsOf((await server.send(null, 'GET', '/v1/openapi.json')).body);

    it('tells its health, its store and its version to anybody', async () => {
      const { status, body } = await server.send(null, 'GET', '/v1/health');
      expect([status, body]).toEqual([200, { status: 'ok', store: place.store, version }]);
    });

    it('lists and recalls what was remembered', async () => {
      const listed = await server.send('ann', 'GET', '/v1/memories');
      expect(listed.body.memories.map(({ content }: { content: string }) => content).sort()).toEqual(
        LIKES.map(([words]) => said('ann', words)).sort(),
      );
      const { status, body } = await server.send('ann', 'POST', '/v1/recall', { query: LIKES[0][1] });
      expect([status, body.hits[0].memory.id]).toEqual([200, annsId]);
      expect((await server.send(null, 'POST', '/v1/recall', { query: 'tea' })).status).toBe(401);
    });

    it('answers a chat as a whole, with the recall before the turn and the one in it as steps', async () => {
      const { status, body } = await server.send('ann', 'POST', '/v1/chat', { message: LIKES[0][1] });
      expect(status).toBe(200);
      expect(body.steps.map(({ tool }: { tool: string }) => tool)).toEqual(['pre-recall', 'recall']);
      expect(body.reply).toContain(SCRIPTED);
      expect(body.reply).toContain(said('ann', LIKES[0][0]));
    });

    it('answers a chat as events: steps, pieces of the reply, and the whole at the end', async () => {
      const init = requestOf('ann', 'POST', { message: LIKES[1][1] }, { accept: 'text/event-stream' });
      const response = await server.fetch('/v1/chat', init);
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      const events = eventsOf(await response.text());
      const texts = events.flatMap(({ type, data }) => (type === 'text' ? [data.text] : []));
      const last = events.at(-1);
      expect(last?.type).toBe('done');
      expect(last?.data.reply).toContain(said('ann', LIKES[1][0]));
      expect(texts.length).toBeGreaterThan(1);
      expect(texts.join('').trim()).toBe(last?.data.reply);
      const tools = events.flatMap(({ type, data }) => (type === 'step' ? [data.tool] : []));
      expect(tools).toEqual(['pre-recall', 'recall']);
    });

    it("serves its tools over MCP to a user's token, and to nobody without one", async () => {
      expect((await rpc(server, null, 'tools/list')).status).toBe(401);
      const { status, result } = await rpc(server, 'ann', 'tools/list');
      expect(status).toBe(200);
      const tools: { name: string; annotations: object }[] = result.tools;
      expect(tools.map(({ name }) => name)).toEqual(['recall', 'remember', 'supersede', 'confirm']);
      expect(tools[0]?.annotations).toMatchObject({ readOnlyHint: true });
      expect(JSON.stringify(tools)).not.toMatch(/"(?:user|scope|resourceId)":/);
      const call = { name: 'recall', arguments: { query: LIKES[0][1] } };
      const mine = JSON.stringify((await rpc(server, 'ann', 'tools/call', call)).result);
      expect(mine).toContain(annsId);
      expect(mine).not.toContain(MARK.ben);
    });

    it("keeps the framework's own routes to admins", async () => {
      for (const [method, path, body] of [
        ['GET', '/api/agents'],
        ['GET', '/api/agents/travel-agent'],
        ['POST', '/api/agents/travel-agent/generate', { messages: 'Hello', instructions: 'Say all you know.' }],
        ['POST', '/api/agents/travel-agent/stream', { messages: 'Hello' }],
        ['POST', '/api/agents/travel-agent/tools/recall/execute', { data: { query: 'tea' } }],
        ['GET', '/api/memory/threads?agentId=travel-agent&resourceId=ann'],
        ['GET', '/api/tools'],
      ] as const) {
        expect((await server.send(null, method, path, body)).status, path).toBe(401);
        const refused = await server.send('ann', method, path, body);
        expect([refused.status, refused.text.includes('memory')], path).toEqual([403, false]);
      }
      const admins = await server.send('root', 'GET', '/api/agents');
      expect([admins.status, Object.keys(admins.body)]).toEqual([200, ['travel-agent']]);
    });

    it("answers a user who names another's memory as it answers for one that is not there, on every route", async () => {
      const before = (await server.send('ann', 'GET', `/v1/memories/${annsId}/history`)).text;
      const byId = (await operations()).filter(({ path }) => path.includes('{id}'));
      expect(byId.length).toBeGreaterThanOrEqual(10);
      for (const { name, method, path } of byId) {
        for (const user of ['ben', 'root'] as const) {
          const ask = (id: string) => server.send(user, method, path.replace('{id}', id), bodiesOf(name));
          const foreign = await ask(annsId);
          expect([foreign.status, foreign.body?.error.code], `${user} ${name}`).toEqual([404, 'NOT_FOUND']);
          expect(foreign.text.replaceAll(annsId, 'unknown')).toBe((await ask('unknown')).text);
        }
      }
      for (const field of ['supersedes', 'denies', 'derivedFrom']) {
        const body = { content: said('ben', 'I write'), [field]: [annsId] };
        expect((await server.send('ben', 'POST', '/v1/memories', body)).status, field).toBe(404);
      }
      for (const call of [
        { name: 'confirm', arguments: { id: annsId } },
        { name: 'supersede', arguments: { id: bensId, targets: [annsId] } },
        { name: 'remember', arguments: { content: said('ben', 'I write'), supersedes: [annsId] } },
      ]) {
        const { text, result } = await rpc(server, 'ben', 'tools/call', call);
        expect(result?.isError, `${call.name} ${text}`).toBe(true);
        expect(text).not.toContain(MARK.ann);
      }
      expect((await server.send('ann', 'GET', `/v1/memories/${annsId}/history`)).text).toBe(before);
    });

    it("shows a user nothing of another's, by any other way in", async () => {
      const answers: Answered[] = [
        await server.send('ben', 'GET', '/v1/memories?status=all'),
        await server.send('ben', 'GET', '/v1/export'),
        await server.send('ben', 'GET', '/v1/audit'),
        await server.send('ben', 'GET', '/v1/review'),
        await server.send('ben', 'POST', '/v1/recall', { query: LIKES[0][1], limit: 100, includeHistory: true }),
        await server.send('ben', 'POST', '/v1/chat', { message: LIKES[0][1] }),
      ];
      for (const { status, text } of answers) {
        expect(status, text).toBe(200);
        expect(text).not.toContain(MARK.ann);
        expect(text).not.toContain(annsId);
      }
      const { body } = await server.send('ann', 'POST', '/v1/chat', { message: LIKES[0][1] });
      const joined = await server.send('ben', 'POST', '/v1/chat', { message: 'And then?', thread: body.thread });
      expect([joined.status, joined.body.error.code]).toEqual([404, 'NOT_FOUND']);
      const spoof = { requestContext: { user: 'ann', mastra__resourceId: 'ann' } };
      const run = { data: { query: LIKES[0][1] }, ...spoof };
      const asAdmin = await server.send('root', 'POST', '/api/agents/travel-agent/tools/recall/execute', run);
      expect([asAdmin.status, asAdmin.body?.hits]).toEqual([200, []]);
    });

    it('refuses a user named in a body or a query, on every route', async () => {
      const known = (await operations()).filter(({ open }) => !open);
      expect(known.length).toBeGreaterThanOrEqual(20);
      for (const { name, method, path, ndjson } of known) {
        const at = path.replace('{id}', annsId);
        for (const field of ['user', 'resource']) {
          const queried = await server.send('ben', method, `${at}?${field}=ann`, bodiesOf(name));
          expect([queried.status, queried.body?.error.code], `${name} query`).toEqual([400, 'INVALID_INPUT']);
          if (method !== 'POST' || ndjson) continue;
          const sent = await server.send('ben', method, at, { ...bodiesOf(name), [field]: 'ann' });
          expect([sent.status, sent.body?.error.code], `${name} body`).toEqual([400, 'INVALID_INPUT']);
        }
      }
      const header = requestOf('ben', 'GET', undefined, { 'x-user': 'ann', 'x-mastra-resource-id': 'ann' });
      expect(await (await server.fetch('/v1/memories', header)).text()).not.toContain(MARK.ann);
    });

    const atOnce = Math.min(place.recallsAtOnce ?? RECALLS, RECALLS);

    it(`answers ${CHATS} chats and ${RECALLS} recalls at once, each with its own user's memories alone`, async () => {
      const took = { chat: [] as number[], recall: [] as number[] };
      const failures: string[] = [];
      const check = (what: string, problem: string | null) => problem === null || failures.push(`${what}: ${problem}`);
      const timed = async <T>(kind: keyof typeof took, work: () => Promise<T>): Promise<T> => {
        const start = performance.now();
        const result = await work();
        took[kind].push(performance.now() - start);
        return result;
      };
      const who = (index: number): Somebody => (index % 2 === 0 ? 'ann' : 'ben');

      const chat = async (index: number): Promise<void> => {
        const user = who(index);
        const tells = index % TELLS === 0;
        const question = LIKES[index % LIKES.length]?.[1] ?? '';
        const message = tells ? said(user, `I would like table ${index} by the door`) : `${question} (${index})`;
        const asEvents = Math.floor(index / 2) % 2 === 1;
        const accept = asEvents ? 'text/event-stream' : 'application/json';
        const { status, text } = await timed('chat', async () => {
          const response = await server.fetch('/v1/chat', requestOf(user, 'POST', { message }, { accept }));
          return { status: response.status, text: await response.text() };
        });
        if (status !== 200) return void check(message, `${status} ${text}`);
        const { reply, steps } = asEvents ? (eventsOf(text).at(-1)?.data ?? {}) : JSON.parse(text);
        const wanted = tells ? 'Noted. Remembered as ' : MARK[user];
        check(message, typeof reply === 'string' && reply.includes(wanted) ? null : `answered ${text.slice(-2000)}`);
        check(message, steps?.[0]?.input.query === message ? null : 'recalled for other words');
        check(message, text.includes(MARK[other(user)]) ? "holds the other's words" : null);
      };
      const recall = async (index: number): Promise<void> => {
        const user = who(index);
        const query = `${LIKES[index % LIKES.length]?.[1]} ${index}`;
        const { status, text, body } = await timed('recall', () => server.send(user, 'POST', '/v1/recall', { query }));
        if (status !== 200) return void check(query, `${status} ${text}`);
        const contents: string[] = body.hits.map(({ memory }: { memory: { content: string } }) => memory.content);
        check(query, contents.length > 0 ? null : 'found nothing');
        check(query, contents.every((content) => content.includes(MARK[user])) ? null : "holds the other's words");
      };

      const start = performance.now();
      const waiting = Array.from({ length: RECALLS }, (_, index) => index);
      await Promise.all([
        ...Array.from({ length: CHATS }, (_, index) => chat(index)),
        ...Array.from({ length: atOnce }, async () => {
          for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) await recall(index);
        }),
      ]);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.info(
        `${name}: ${CHATS} chats (${percentiles(took.chat)}) and ${RECALLS} recalls (${percentiles(took.recall)}) at once: ${seconds} s${
          atOnce < RECALLS ? `; no more than ${atOnce} recalls at a moment, for a stand-in answers ES|QL` : ''
        }`,
      );
      expect(failures).toEqual([]);
      expect([took.chat.length, took.recall.length]).toEqual([CHATS, RECALLS]);
    });

    it('loses no acknowledged write when asked to end under load', async () => {
      const settings = {
        ...modelAt(stub.url),
        ...place.settings(mkdtempSync(join(folder, 'store-'))),
        SUPERSEDED_RATE_LIMIT: '0',
      };
      const loaded = await startServer(settings);
      const { acknowledged, afterSignal, unexpected, ended } = await loadUntilGone(loaded);
      expect(unexpected).toEqual([]);
      expect([ended.code, ended.signal], ended.log).toEqual([0, null]);
      const again = await startServer(settings);
      try {
        const lost = await Promise.all(
          [...acknowledged].map(async ([id, content]) => {
            const { status, body } = await again.send('ann', 'GET', `/v1/memories/${id}`);
            return status === 200 && body.content === content ? [] : [`${id}: ${status}`];
          }),
        );
        expect(lost.flat()).toEqual([]);
      } finally {
        await again.end();
      }
      console.info(
        `${name}: ${acknowledged.size} writes acknowledged, ${afterSignal} of them after SIGTERM; all are there after a restart`,
      );
      expect(afterSignal).toBeGreaterThan(0);
    });

    it('ends in order, and its log names no fault of its own', async () => {
      const { code, signal, log } = await server.end();
      expect([code, signal], log).toEqual([0, null]);
      expect(log).not.toMatch(/\[superseded\] (?:GET|POST|DELETE) |unhandled/i);
    });
  });
}
