import type { Command } from './command.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'Serve recall and remember to other agents over MCP, on standard input and output.',
  arguments: [],
  options: {},
  example: 'npx superseded mcp --user demo',
  async run(context) {
    // Loaded here, so that the other commands do not wait for the framework.
    const { createMcpServer } = await import('../mastra/mcp.ts');
    const { packageVersion } = await import('../mastra/version.ts');
    const server = createMcpServer({ service: context.open(), version: packageVersion(), user: () => context.user });
    await server.startStdio();
    context.print.note(`Superseded speaks MCP on standard input and output, for the user ${context.user}.`);
    await inputEnded();
    await server.close();
    return { json: null, raw: '', text: () => '' };
  },
};

/** Until the client leaves or the process is asked to end. */
const inputEnded = (): Promise<void> =>
  new Promise((resolve) => {
    const done = () => resolve();
    process.stdin.once('end', done).once('close', done);
    process.once('SIGINT', done).once('SIGTERM', done);
  });
