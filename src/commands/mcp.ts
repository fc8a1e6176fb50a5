import type { Superseded } from '../superseded.ts';
import { packageVersion } from '../version.ts';
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
    const service = counting(context.open());
    const server = createMcpServer({ service, version: packageVersion(), user: () => context.user });
    await server.startStdio();
    context.print.note(`Superseded speaks MCP on standard input and output, for the user ${context.user}.`);
    await inputEnded();
    await service.idle();
    await server.close();
    return { json: null, raw: '', text: () => '' };
  },
};

/** The service, and when no verb of it is at work: a client that closes its side still gets what it asked for. */
function counting(service: Superseded): Superseded & { idle(): Promise<void> } {
  let pending = 0;
  const counted = <T extends object>(memories: T): T =>
    new Proxy(memories, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          pending++;
          try {
            return await Reflect.apply(member, target, args);
          } finally {
            // After the answer was written.
            setTimeout(() => pending--, 50);
          }
        };
      },
    });
  const idle = async () => {
    do await new Promise((resolve) => setTimeout(resolve, 100));
    while (pending > 0);
  };
  return { ...service, for: (user, source) => counted(service.for(user, source)), idle };
}

/** Until the client leaves or the process is asked to end. */
const inputEnded = (): Promise<void> =>
  new Promise((resolve) => {
    const done = () => resolve();
    process.stdin.once('end', done).once('close', done);
    process.once('SIGINT', done).once('SIGTERM', done);
  });
