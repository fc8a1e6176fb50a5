import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { type Message, type StandInReply, standIn } from './stand-in.ts';

/**
 * A server with the shape of OpenRouter's chat completions, answered by a scripted stand-in: nothing in it is a
 * language model. As JSON and as server-sent events. Some model names make it fail on purpose, for tests.
 */

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const body = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(
    z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(part), z.null()]).optional() }),
  ),
  tools: z.array(z.unknown()).optional(),
  tool_choice: z.unknown().optional(),
});
type Body = z.output<typeof body>;

export const STAND_IN_MODEL = 'superseded/scripted-stand-in';

export interface Stub {
  /** For OPENROUTER_BASE_URL. */
  url: string;
  /** The requests so far, as parsed. */
  requests: Body[];
  close(): Promise<void>;
}

export async function startStub(port = 0): Promise<Stub> {
  const requests: Body[] = [];
  const server = createServer((request, response) => {
    answer(request, response, requests).catch((error: unknown) => {
      send(response, 400, { error: { message: String(error), code: 400 } });
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/api/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, requests: Body[]): Promise<void> {
  if (request.method !== 'POST' || !request.url?.endsWith('/chat/completions')) {
    return send(response, 404, { error: { message: 'This stub only has chat completions.', code: 404 } });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const parsed = body.parse(JSON.parse(Buffer.concat(chunks).toString()));
  requests.push(parsed);
  const refusal = REFUSALS[parsed.model];
  if (refusal) return send(response, refusal.status, { error: { message: refusal.message, code: refusal.status } });
  if (parsed.model === 'test/silent') return;
  const reply = replyTo(parsed);
  if (parsed.stream) stream(response, parsed, reply);
  else send(response, 200, completion(parsed, reply));
}

/** Models that fail as OpenRouter fails. */
const REFUSALS: Record<string, { status: number; message: string } | undefined> = {
  'test/no-tools': { status: 404, message: 'No endpoints found that support tool use.' },
  'test/unknown': { status: 404, message: 'No endpoints found for test/unknown.' },
  'test/bad-key': { status: 401, message: 'No auth credentials found' },
  'test/no-credit': { status: 402, message: 'Insufficient credits' },
  'test/busy': { status: 429, message: 'Rate limit exceeded' },
  'test/broken': { status: 500, message: 'Internal Server Error' },
};

function replyTo({ model, messages, tools, tool_choice }: Body): StandInReply {
  const canCall = (tools?.length ?? 0) > 0 && tool_choice !== 'none';
  if (model === 'test/empty') return { text: '', calls: [] };
  if (model === 'test/loop') return { text: '', calls: [{ tool: 'recall', input: { query: 'round and round' } }] };
  const plain: Message[] = messages.map(({ role, content }) => ({
    role,
    content: role === 'user' ? lastWords(content) : wordsOf(content),
  }));
  const answered = tools?.length && tool_choice === 'none';
  return answered ? { text: 'Scripted stand-in: no more tools, so no answer.', calls: [] } : standIn(plain, canCall);
}

const wordsOf = (content: Body['messages'][number]['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n');

/** The user's own words are the last part; what an agent recalled stands before them. */
const lastWords = (content: Body['messages'][number]['content']): string =>
  Array.isArray(content) ? (content.at(-1)?.text ?? '') : (content ?? '');

const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
let lastId = 0;

const toolCalls = ({ calls }: StandInReply) =>
  calls.map(({ tool, input }, index) => ({
    index,
    id: `call_${++lastId}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }));

const finishOf = ({ calls }: StandInReply): string => (calls.length > 0 ? 'tool_calls' : 'stop');

const completion = ({ model }: Body, reply: StandInReply) => ({
  id: `gen-${++lastId}`,
  object: 'chat.completion',
  created: 0,
  model,
  choices: [
    {
      index: 0,
      finish_reason: finishOf(reply),
      message: {
        role: 'assistant',
        content: reply.text === '' ? null : reply.text,
        ...(reply.calls.length > 0 ? { tool_calls: toolCalls(reply) } : {}),
      },
    },
  ],
  usage: USAGE,
});

function stream(response: ServerResponse, { model }: Body, reply: StandInReply): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const base = { id: `gen-${++lastId}`, object: 'chat.completion.chunk', created: 0, model };
  const chunk = (delta: unknown, finish: string | null = null, usage: unknown = undefined): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(`data: ${JSON.stringify({ ...base, choices, ...(usage ? { usage } : {}) })}\n\n`);
  };
  for (const word of reply.text === '' ? [] : reply.text.split(/(?<=\s)/)) chunk({ role: 'assistant', content: word });
  for (const toolCall of toolCalls(reply)) chunk({ role: 'assistant', tool_calls: [toolCall] });
  chunk({}, finishOf(reply), USAGE);
  response.end('data: [DONE]\n\n');
}

function send(response: ServerResponse, status: number, json: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
}
