import { Mastra } from '@mastra/core/mastra';
import { readConfig } from '../config.ts';
import { closeWith } from '../http/drain.ts';
import { httpServer } from '../http/server.ts';
import { openSuperseded } from '../open.ts';
import { packageVersion } from '../version.ts';
import { createTravelAgent } from './agent.ts';
import { createChat } from './chat.ts';
import { createConversation, openConversationStorage } from './conversation.ts';
import { createMcpServer } from './mcp.ts';
import { createModel, isConfigured } from './model.ts';
import { preRecall } from './pre-recall.ts';
import { makeTools } from './tools.ts';

/** The composition root of the server and Studio. Nothing here needs a key; the memories open at the first request. */

const config = readConfig();
const version = packageVersion();
const service = openSuperseded(config, { cacheQuestions: false });
const storage = await openConversationStorage(config);

const travelAgent = createTravelAgent({
  model: createModel(config.openRouter),
  tools: makeTools({ service }),
  memory: createConversation(storage),
  preRecall: preRecall({ service }),
});

const { server, drain } = httpServer({
  service: () => service,
  config,
  chat: createChat({ agent: travelAgent, isConfigured: () => isConfigured(config.openRouter) }),
  version,
  clock: Date.now,
});

export const mastra = new Mastra({
  agents: { travelAgent },
  mcpServers: { memory: createMcpServer({ service, version }) },
  storage,
  server,
  // The model's worker loads this by itself, where the bundler does not see it.
  bundler: { externals: true, dynamicPackages: ['onnxruntime-web'] },
});

closeWith(mastra, drain);
