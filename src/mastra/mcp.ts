import { noopLogger } from '@mastra/core/logger';
import type { MCPServerBase } from '@mastra/core/mcp';
import { createTool, type ToolAnnotations } from '@mastra/core/tools';
import { MCPServer } from '@mastra/mcp';
import { z } from 'zod';
import { MEMORY_INSTRUCTIONS } from '../prompts.ts';
import type { Superseded } from '../superseded.ts';
import type { Caller } from './identity.ts';
import { confirmToolInput, makeTools, recallToolInput, rememberToolInput, supersedeToolInput } from './tools.ts';

/** The same tools for agents of other makers, over the Model Context Protocol (2025 revisions). */

export interface McpOptions {
  service: Superseded;
  version: string;
  /** Who the memories belong to, where the transport knows no user (stdio); else whom authentication named. */
  user?: (caller: Caller) => string;
}

export const MCP_SERVER_ID = 'memory';

export function createMcpServer({ service, version, user }: McpOptions): MCPServerBase {
  const tools = makeTools({ service, source: 'mcp', ...(user ? { user } : {}) });
  const server = new MCPServer({
    id: MCP_SERVER_ID,
    name: 'superseded',
    version,
    description: 'Long-term memory for AI agents whose users change their minds.',
    instructions: MEMORY_INSTRUCTIONS,
    tools: {
      recall: withWords(tools.recall, recallToolInput),
      remember: withWords(tools.remember, rememberToolInput),
      supersede: withWords(tools.supersede, supersedeToolInput),
      confirm: withWords(tools.confirm, confirmToolInput),
    },
  });
  server.__setLogger(noopLogger);
  return server as MCPServerBase;
}

interface Wrapped {
  id: string;
  description: string;
  mcp?: { annotations?: ToolAnnotations } | undefined;
  execute?: ((input: never, context: never) => Promise<unknown>) | undefined;
  toModelOutput?: ((output: never) => unknown) | undefined;
}

/** The tool with its answer as the words a model reads (`content`) and as data for programs (`structuredContent`). */
function withWords(tool: Wrapped, inputSchema: z.ZodType) {
  return createTool({
    id: tool.id,
    description: tool.description,
    inputSchema,
    outputSchema: z.looseObject({}),
    ...(tool.mcp ? { mcp: tool.mcp } : {}),
    execute: async (input, context) => {
      const output = await tool.execute?.(input as never, context as never);
      const shown = tool.toModelOutput?.(output as never);
      const words = isText(shown) ? shown.value : JSON.stringify(output);
      return { content: [{ type: 'text', text: words }], structuredContent: output };
    },
  });
}

const isText = (shown: unknown): shown is { type: 'text'; value: string } =>
  typeof shown === 'object' && shown !== null && 'value' in shown && typeof shown.value === 'string';
