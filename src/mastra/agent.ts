import { Agent, type AgentConfig } from '@mastra/core/agent';
import { type InputProcessor, ToolCallFilter } from '@mastra/core/processors';
import { AGENT_DESCRIPTION, LAST_STEP, travelInstructions } from '../prompts.ts';
import type { MemoryTools } from './tools.ts';

/** The travel agent: instructions, model, tools and memory put together. */

export interface TravelAgentOptions {
  model: AgentConfig['model'];
  tools: MemoryTools;
  /** Threads and working memory, by the framework; without it every turn stands alone. */
  memory?: AgentConfig['memory'];
  /** Recalls the raw message before each turn; leave out to switch that off. */
  preRecall?: InputProcessor;
  /** Most calls of the model in a turn; the last of them must answer. */
  maxSteps?: number;
}

export const AGENT_ID = 'travel-agent';
export const MAX_STEPS = 8;

export function createTravelAgent({ model, tools, memory, preRecall, maxSteps = MAX_STEPS }: TravelAgentOptions) {
  return new Agent({
    id: AGENT_ID,
    name: 'Travel agent',
    description: AGENT_DESCRIPTION,
    instructions: travelInstructions(),
    model,
    tools,
    ...(memory ? { memory } : {}),
    inputProcessors: [...(preRecall ? [preRecall] : []), forgetsOldRecalls(), lastStepAnswers(maxSteps)],
    defaultOptions: { maxSteps },
  });
}

/** Keeps what recall said in earlier turns from the model: it may have been superseded since. */
const forgetsOldRecalls = (): InputProcessor => new ToolCallFilter({ exclude: ['recall'] });

/** Takes the tools away at the last step, so that a model that keeps calling them still answers. */
export const lastStepAnswers = (maxSteps: number): InputProcessor => ({
  id: 'last-step-answers',
  name: 'The last step answers',
  processInputStep: ({ stepNumber, systemMessages }) =>
    stepNumber < maxSteps - 1
      ? undefined
      : { toolChoice: 'none', systemMessages: [...systemMessages, { role: 'system', content: LAST_STEP }] },
});
