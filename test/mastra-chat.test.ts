import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startStub } from '../scripts/openrouter-stub.ts';
import type { ChatEvent, ChatHandler, ChatRequest } from '../src/http/chat-route.ts';
import { createTravelAgent } from '../src/mastra/agent.ts';
import { createChat } from '../src/mastra/chat.ts';
import { NO_ANSWER } from '../src/mastra/chat-turn.ts';
import { createConversation, openConversationStorage } from '../src/mastra/conversation.ts';
import { createModel, isConfigured } from '../src/mastra/model.ts';
import { type ModelSettings, NO_MODEL } from '../src/mastra/model-errors.ts';
import { preRecall } from '../src/mastra/pre-recall.ts';
import { makeTools } from '../src/mastra/tools.ts';
import { scriptedModel } from './scripted-model.ts';
import { afterThisTest, type TestService, temporaryFolder, temporaryService } from './temporary.ts';

const request = (changes: Partial<ChatRequest> = {}): ChatRequest => ({
  message: 'How far can I walk?',
  thread: null,
  user: 'ann',
  signal: new AbortController().signal,
  ...changes,
});

interface Setup {
  service?: TestService;
  settings?: Partial<ModelSettings>;
  modelTimeoutMs?: number;
  timeoutMs?: number;
}

/** The chat over the real provider and the stub; the model's name decides how it fails. */
async function overStub(model: string, { service = temporaryService(), ...setup }: Setup = {}): Promise<ChatHandler> {
  const stub = await startStub();
  afterThisTest(stub.close);
  const settings = { apiKey: 'key-that-is-secret', model, baseUrl: stub.url, ...setup.settings };
  const agent = createTravelAgent({
    model: createModel(settings, setup.modelTimeoutMs),
    tools: makeTools({ service }),
    preRecall: preRecall({ service }),
  });
  const timeout = setup.timeoutMs === undefined ? {} : { timeoutMs: setup.timeoutMs };
  return createChat({ agent, isConfigured: () => isConfigured(settings), ...timeout });
}

async function eventsOf(chat: ChatHandler, changes: Partial<ChatRequest> = {}): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  for await (const event of chat.stream(request(changes))) events.push(event);
  return events;
}

describe('a turn', () => {
  it('answers with the reply, a thread, every step with input and output, and the usage', async () => {
    const service = temporaryService();
    await service.for('ann').remember({ id: 'knee', content: 'I can walk three miles a day.' });
    const chat = await overStub('superseded/scripted-stand-in', { service });
    const answer = await chat.generate(request());
    expect(answer.reply).toContain('I can walk three miles');
    expect(answer.thread).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.steps.map(({ tool }) => tool)).toEqual(['pre-recall', 'recall']);
    expect(answer.steps[1]).toMatchObject({ input: { query: 'How far can I walk?' }, output: { hits: [{}] } });
    expect(answer.usage).toEqual({ inputTokens: 200, outputTokens: 40, totalTokens: 240 });
  });

  it('streams text and steps as they come, and ends with the whole answer', async () => {
    const chat = await overStub('superseded/scripted-stand-in');
    const events = await eventsOf(chat);
    const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    const done = events.at(-1);
    expect(done?.type).toBe('done');
    expect(done?.type === 'done' && done.reply).toBe(text);
    expect(events.some((event) => event.type === 'step' && event.tool === 'recall')).toBe(true);
  });

  it('shows a failed tool as a step with the error, and goes on', async () => {
    const service = temporaryService();
    const { model } = scriptedModel([
      { calls: [{ tool: 'remember', input: { content: 'Long walks again.', supersedes: ['nowhere'] } }] },
      { text: 'I could not find what that replaces.' },
    ]);
    const chat = createChat({
      agent: createTravelAgent({ model, tools: makeTools({ service }) }),
      isConfigured: () => true,
    });
    const answer = await chat.generate(request());
    expect(answer.reply).toBe('I could not find what that replaces.');
    expect(answer.steps).toMatchObject([{ tool: 'remember', output: { error: { code: 'NOT_FOUND' } } }]);
  });

  it('says so where the model ends without words', async () => {
    expect((await (await overStub('test/empty')).generate(request())).reply).toBe(NO_ANSWER);
  });

  it('ends with an answer where the model keeps calling tools', async () => {
    const { reply, steps } = await (await overStub('test/loop')).generate(request());
    expect(reply).toBe(NO_ANSWER);
    expect(steps.filter(({ tool }) => tool === 'recall').length).toBeLessThanOrEqual(8);
  });
});

describe('a turn without a usable model', () => {
  it.each([
    ['test/no-tools', 'UNSUPPORTED', /cannot call tools/, /OPENROUTER_MODEL/],
    ['test/unknown', 'CONFIGURATION', /knows no model/, /OPENROUTER_MODEL/],
    ['test/bad-key', 'CONFIGURATION', /refused the key/, /OPENROUTER_API_KEY/],
    ['test/no-credit', 'CONFIGURATION', /asks for payment/, /credits/],
    ['test/busy', 'RATE_LIMITED', /no more requests/, /Wait/],
    ['test/broken', 'MODEL_FAILED', /failed \(500\)/, /Ask again/],
  ])('%s ends in %s and says what to do, whole and as a stream', async (model, code, message, hint) => {
    const chat = await overStub(model);
    const matching = { code, message: expect.stringMatching(message), hint: expect.stringMatching(hint) };
    await expect(chat.generate(request())).rejects.toMatchObject(matching);
    await expect(eventsOf(chat)).rejects.toMatchObject(matching);
    await expect(chat.generate(request())).rejects.not.toThrow(/key-that-is-secret/);
  });

  it('says what to set where no key is', async () => {
    const chat = await overStub('any', { settings: { apiKey: null, baseUrl: null } });
    await expect(chat.generate(request())).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: NO_MODEL,
      hint: expect.stringContaining('OPENROUTER_API_KEY'),
    });
  });

  it('gives a model that says what to set to surfaces that have no errors, such as Studio', async () => {
    const service = temporaryService();
    const agent = createTravelAgent({
      model: createModel({ apiKey: null, model: 'any', baseUrl: null }),
      tools: makeTools({ service }),
    });
    expect((await agent.generate('Hello')).text).toContain('OPENROUTER_API_KEY');
    expect(await (await agent.stream('Hello')).text).toContain('OPENROUTER_API_KEY');
  });

  it('gives up on a model that is silent', async () => {
    const chat = await overStub('test/silent', { modelTimeoutMs: 150 });
    await expect(chat.generate(request())).rejects.toMatchObject({ message: expect.stringMatching(/did not answer/) });
  });

  it('gives up on a turn that takes too long', async () => {
    const chat = await overStub('test/silent', { timeoutMs: 150 });
    await expect(chat.generate(request())).rejects.toMatchObject({ message: expect.stringMatching(/did not finish/) });
  });

  it('stops when the client has gone', async () => {
    const chat = await overStub('test/silent');
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 150);
    await expect(chat.generate(request({ signal: controller.signal }))).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('names the address where nothing answers there', async () => {
    const chat = await overStub('any', { settings: { baseUrl: 'http://127.0.0.1:9' } });
    await expect(chat.generate(request())).rejects.toMatchObject({
      message: expect.stringMatching(/OPENROUTER_BASE_URL cannot be reached/),
    });
  });
});

describe('threads', () => {
  async function chatWithThreads() {
    const script = scriptedModel([{ text: 'Yes.' }]);
    const storage = await openConversationStorage({ db: join(temporaryFolder(), 'm.db'), elasticsearch: null });
    const agent = createTravelAgent({
      model: script.model,
      tools: makeTools({ service: temporaryService() }),
      memory: createConversation(storage),
    });
    return { chat: createChat({ agent, isConfigured: () => true }), script };
  }

  it('go on where they stopped', async () => {
    const { chat, script } = await chatWithThreads();
    const { thread } = await chat.generate(request({ message: 'My name is Ann.' }));
    const again = await chat.generate(request({ message: 'What is my name?', thread }));
    expect(again.thread).toBe(thread);
    expect(JSON.stringify(script.calls[1]?.prompt)).toContain('My name is Ann.');
  });

  it('belong to their user: to another they are not there', async () => {
    const { chat, script } = await chatWithThreads();
    const { thread } = await chat.generate(request({ message: 'My name is Ann.' }));
    await expect(chat.generate(request({ user: 'bob', thread }))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(script.calls).toHaveLength(1);
  });
});
