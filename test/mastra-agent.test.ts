import { join } from 'node:path';
import { MASTRA_RESOURCE_ID_KEY, RequestContext } from '@mastra/core/request-context';
import { describe, expect, it } from 'vitest';
import { createTravelAgent, MAX_STEPS } from '../src/mastra/agent.ts';
import { createConversation, openConversationStorage } from '../src/mastra/conversation.ts';
import { preRecall } from '../src/mastra/pre-recall.ts';
import { makeTools } from '../src/mastra/tools.ts';
import { type ScriptedModel, scriptedModel, wordsOf } from './scripted-model.ts';
import { type TestService, temporaryFolder, temporaryService } from './temporary.ts';

const as = (user: string): RequestContext => {
  const context = new RequestContext();
  context.set(MASTRA_RESOURCE_ID_KEY, user);
  return context;
};

async function knee(): Promise<TestService> {
  const service = temporaryService();
  await service.for('ann').remember({
    id: 'knee-injury',
    content: 'I have injured my knee: three miles of walking a day at most.',
    topic: 'constraint',
  });
  return service;
}

const agentOf = (service: TestService, { model }: ScriptedModel, withPreRecall = false) =>
  createTravelAgent({
    model,
    tools: makeTools({ service }),
    ...(withPreRecall ? { preRecall: preRecall({ service }) } : {}),
  });

const reversal = () =>
  scriptedModel([
    { calls: [{ tool: 'recall', input: { query: 'knee walking' } }] },
    {
      calls: [
        {
          tool: 'remember',
          input: { content: 'My knee has healed.', topic: 'constraint', supersedes: ['knee-injury'] },
        },
      ],
    },
    { text: 'Noted: long walks again.' },
  ]);

describe('the agent', () => {
  it('recalls, remembers with what it supersedes, and answers, when generating', async () => {
    const service = await knee();
    const script = reversal();
    const result = await agentOf(service, script).generate('My knee has healed.', { requestContext: as('ann') });
    expect(result.text).toBe('Noted: long walks again.');
    expect(result.steps.flatMap((step) => step.toolCalls.map((call) => call.payload.toolName))).toEqual([
      'recall',
      'remember',
    ]);
    expect((await service.for('ann').get('knee-injury')).status).toBe('superseded');
  });

  it('does the same when streaming', async () => {
    const service = await knee();
    const script = reversal();
    const output = await agentOf(service, script).stream('My knee has healed.', { requestContext: as('ann') });
    let text = '';
    for await (const piece of output.textStream) text += piece;
    expect(text).toBe('Noted: long walks again.');
    expect((await service.for('ann').get('knee-injury')).status).toBe('superseded');
  });

  it('shows the model words, not JSON: id, age, kind, topic, status, and what was closed', async () => {
    const service = await knee();
    service.at('2026-04-15T09:00:00Z');
    const script = reversal();
    await agentOf(service, script).generate('My knee has healed.', { requestContext: as('ann') });
    const seen = wordsOf(script.calls.at(-1)?.prompt ?? [], 'tool');
    expect(seen).toContain('id=\\"knee-injury\\" age=\\"45 days ago\\" kind=\\"episodic\\" topic=\\"constraint\\"');
    expect(seen).toContain('Closed, kept as history: knee-injury.');
  });

  it('answers at the last step instead of looping: tools are taken away there', async () => {
    const service = await knee();
    const loop = scriptedModel([
      ({ toolChoice }) =>
        toolChoice?.type === 'none'
          ? { text: 'This is what I have.' }
          : { calls: [{ tool: 'recall', input: { query: 'knee' } }] },
    ]);
    const result = await agentOf(service, loop).generate('Plan my day.', { requestContext: as('ann') });
    expect(result.text).toBe('This is what I have.');
    expect(loop.calls).toHaveLength(MAX_STEPS);
    expect(wordsOf(loop.calls.at(-1)?.prompt ?? [], 'system')).toContain('last step');
  });

  it('reads and writes nothing where nobody is signed in', async () => {
    const service = await knee();
    const script = reversal();
    const result = await agentOf(service, script, true).generate('My knee has healed.');
    expect(result.text).toBe('Noted: long walks again.');
    const prompts = script.calls.map(({ prompt }) => JSON.stringify(prompt)).join('\n');
    expect(prompts).toContain('No user is signed in');
    expect(prompts).not.toContain('three miles');
    expect((await service.for('ann').get('knee-injury')).status).toBe('open');
  });

  it('cannot be told by a model whose memories to use', async () => {
    const service = await knee();
    const script = scriptedModel([
      { calls: [{ tool: 'recall', input: { query: 'knee', user: 'ann' } }] },
      { text: 'Nothing known.' },
    ]);
    await agentOf(service, script).generate('What do you know?', { requestContext: as('bob') });
    const seen = wordsOf(script.calls.at(-1)?.prompt ?? [], 'tool');
    expect(seen).toContain('Unrecognized key');
    expect(seen).not.toContain('three miles');
  });

  it('ends when the caller aborts', async () => {
    const service = await knee();
    const controller = new AbortController();
    const script = scriptedModel([
      () => {
        controller.abort();
        return { calls: [{ tool: 'recall', input: { query: 'knee' } }] };
      },
      { text: 'Too late.' },
    ]);
    const output = await agentOf(service, script).stream('Plan my day.', {
      requestContext: as('ann'),
      abortSignal: controller.signal,
    });
    const types: string[] = [];
    for await (const chunk of output.fullStream) types.push(chunk.type);
    expect(types).toContain('abort');
    expect(script.calls).toHaveLength(1);
  });
});

describe('pre-recall', () => {
  it('puts the hits of the raw message before it, marked, and once a turn', async () => {
    const service = await knee();
    const script = reversal();
    service.embedder.embedded.length = 0;
    await agentOf(service, script, true).generate('Is my knee good for a walk?', { requestContext: as('ann') });
    const user = wordsOf(script.calls[0]?.prompt ?? [], 'user');
    expect(user.indexOf('recalled-before-the-message')).toBeLessThan(user.indexOf('Is my knee good'));
    expect(user).toContain('three miles');
    expect(wordsOf(script.calls[2]?.prompt ?? [], 'user')).toContain('three miles');
    expect(service.embedder.embedded.filter((text) => text === 'Is my knee good for a walk?')).toHaveLength(1);
  });

  it('is switched off by leaving it out', async () => {
    const service = await knee();
    const script = reversal();
    await agentOf(service, script).generate('Is my knee good for a walk?', { requestContext: as('ann') });
    expect(wordsOf(script.calls[0]?.prompt ?? [], 'user')).not.toContain('three miles');
  });

  it('tells the model where the memory cannot be read, and the turn goes on', async () => {
    const service = await knee();
    const script = scriptedModel([{ text: 'Sorry, I cannot see your notes.' }]);
    const result = await agentOf(service, script, true).generate('Plan my day.');
    expect(result.text).toBe('Sorry, I cannot see your notes.');
    expect(wordsOf(script.calls[0]?.prompt ?? [], 'user')).toContain('could not be read');
  });

  it('stores nothing that it put there: not in the conversation, and not as a memory when a model repeats it', async () => {
    const service = await knee();
    const words = 'I have injured my knee: three miles of walking a day at most.';
    const script = scriptedModel([
      { calls: [{ tool: 'remember', input: { content: words, topic: 'fact', kind: 'semantic' } }] },
      { text: 'Fine.' },
    ]);
    const storage = await openConversationStorage({ db: join(temporaryFolder(), 'm.db'), elasticsearch: null });
    const memory = createConversation(storage);
    const agent = createTravelAgent({
      model: script.model,
      tools: makeTools({ service }),
      preRecall: preRecall({ service }),
      memory,
    });
    await agent.generate('How is my knee?', {
      requestContext: as('ann'),
      memory: { thread: 't1', resource: 'ann' },
    });
    const { messages } = await memory.recall({ threadId: 't1', resourceId: 'ann' });
    expect(JSON.stringify(messages.filter(({ role }) => role === 'user'))).not.toContain('three miles');
    expect(JSON.stringify(messages)).not.toContain('recalled-before-the-message');
    expect(JSON.stringify(script.calls[1]?.prompt)).toContain('Nothing new was stored');
    const known = await service.for('ann').recall({ query: 'knee', limit: 100 });
    expect(known.hits).toHaveLength(1);
    expect(known.hits[0]?.memory.confirmedAt).toBeNull();
  });

  it('does not bring back what recall said in an earlier turn', async () => {
    const service = await knee();
    const script = scriptedModel([
      { calls: [{ tool: 'recall', input: { query: 'knee' } }] },
      { text: 'Three miles it is.' },
      { text: 'Bye.' },
    ]);
    const storage = await openConversationStorage({ db: join(temporaryFolder(), 'm.db'), elasticsearch: null });
    const agent = createTravelAgent({
      model: script.model,
      tools: makeTools({ service }),
      memory: createConversation(storage),
    });
    const options = { requestContext: as('ann'), memory: { thread: 't1', resource: 'ann' } };
    await agent.generate('How far can I walk?', options);
    await agent.generate('Thank you.', options);
    const last = JSON.stringify(script.calls[2]?.prompt);
    expect(last).toContain('How far can I walk?');
    expect(last).not.toContain('I have injured my knee');
  });
});
