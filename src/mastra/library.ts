/** The package's entry for Mastra, `superseded/mastra`: tools and pre-recall to put on any agent. */

export { MEMORY_INSTRUCTIONS } from '../prompts.ts';
export { type Caller, userOf } from './identity.ts';
export { createMcpServer, type McpOptions } from './mcp.ts';
export { type PreRecallOptions, preRecall } from './pre-recall.ts';
export { type MemoryTools, makeTools, type ToolOptions } from './tools.ts';
