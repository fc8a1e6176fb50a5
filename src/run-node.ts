import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/** How a program that was run ended: by itself, or by a signal. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Runs Node with these arguments in the caller's terminal until it ends, passing on signals. */
export function runNode(args: readonly string[], options: SpawnOptions = {}): Promise<Ended> {
  const child: ChildProcess = spawn(process.execPath, args, { stdio: 'inherit', ...options });
  const end = (): void => void child.kill('SIGTERM');
  // A terminal sends Ctrl-C to the whole group; what comes to this process alone has to be passed on.
  const interrupt = (): void => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  };
  const handlers = { SIGTERM: end, SIGHUP: end, SIGINT: interrupt };
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
  return new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  }).finally(() => {
    for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler);
  });
}
