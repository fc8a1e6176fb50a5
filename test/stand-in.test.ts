import { describe, expect, it } from 'vitest';
import { STAND_IN_MODEL, startStub } from '../scripts/openrouter-stub.ts';
import { SCRIPTED } from '../scripts/stand-in.ts';
import type { ChatAnswer } from '../src/http/chat-route.ts';
import { createTravelAgent } from '../src/mastra/agent.ts';
import { createChat } from '../src/mastra/chat.ts';
import { createModel } from '../src/mastra/model.ts';
import { preRecall } from '../src/mastra/pre-recall.ts';
import { makeTools } from '../src/mastra/tools.ts';
import { readMemories, seed } from '../src/seeds.ts';
import { afterThisTest, type TestService, temporaryService } from './temporary.ts';

/** The demo's beat, by the real provider over the stub. */
async function demo(): Promise<{ service: TestService; say: (message: string) => Promise<ChatAnswer> }> {
  const stub = await startStub();
  afterThisTest(stub.close);
  const service = temporaryService();
  const { store: _, ...actor } = await service.actor('user:demo', 'demo', 'test');
  await seed(service.store, actor, readMemories('seeds/memories.json'));
  const agent = createTravelAgent({
    model: createModel({ apiKey: 'none', model: STAND_IN_MODEL, baseUrl: stub.url }),
    tools: makeTools({ service }),
    preRecall: preRecall({ service }),
  });
  const chat = createChat({ agent, isConfigured: () => true });
  const ask = (message: string) =>
    chat.generate({ message, thread: null, user: 'demo', signal: new AbortController().signal });
  return { service, say: ask };
}

describe('the scripted stand-in', () => {
  it('says in its first words that it is scripted', async () => {
    const { say } = await demo();
    expect((await say('Plan a free day in San Francisco for me.')).reply.startsWith(SCRIPTED)).toBe(true);
  });

  it('plays the whole beat: a plan, a reversal that closes the old memory, and another plan', async () => {
    const { service, say } = await demo();
    const before = await say('Plan a free day in San Francisco for me.');
    expect(before.steps.map(({ tool }) => tool)).toContain('recall');
    const told = await say('My knee has healed, long walks are welcome again.');
    const written = told.steps.find(({ tool }) => tool === 'remember');
    expect(written?.input).toMatchObject({ supersedes: ['knee-injury'] });
    expect((await service.for('demo').get('knee-injury')).status).toBe('superseded');
    const after = await say('Plan a free day in San Francisco for me.');
    expect(before.reply).toMatch(/Short level walks[\s\S]*knee-injury/);
    expect(after.reply).toMatch(/On foot all day[\s\S]*My knee has healed/);
    expect(after.reply).not.toContain('knee-injury');
  });
});
