import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './build.ts';
import type { NodeOptions, TestNode } from './node.ts';
import { freePort, untilReady } from './ready.ts';

const BOOT_MS = 120_000;
const STOP_MS = 20_000;
const OUTPUT_KEPT = 8_000;

export async function startFromJars(jdk: string, options: NodeOptions): Promise<TestNode> {
  const home = await build(jdk);
  const directory = await mkdtemp(join(tmpdir(), 'elasticsearch-node-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const command = [join(jdk, 'bin', 'java'), javaArguments(home, directory, port, options)] as const;
  let running: Running | undefined;

  const stop = async () => {
    await running?.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  const restart = async () => {
    await running?.stop('keep data');
    running = run(...command);
    const giveUp = new AbortController();
    try {
      await Promise.race([untilReady(url, BOOT_MS, giveUp.signal), running.failed]);
    } finally {
      giveUp.abort();
    }
  };

  try {
    await restart();
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, kind: 'jars', stop, kill: () => running?.kill(), restart };
}

function javaArguments(home: string, directory: string, port: number, options: NodeOptions): string[] {
  const settings = {
    'cluster.name': 'superseded-test',
    'cluster.routing.allocation.disk.threshold_enabled': 'false',
    'discovery.type': 'single-node',
    'http.port': String(port),
    'network.host': '127.0.0.1',
    'path.home': directory,
    'transport.port': '0',
    'xpack.license.self_generated.type': 'trial',
    ...options.settings,
  };
  return [
    `-Xmx${options.heap ?? '1g'}`,
    '-XX:+UseSerialGC',
    '--enable-native-access=ALL-UNNAMED',
    '-Dfile.encoding=UTF-8',
    '-Des.distribution.type=tar',
    // The native libraries are part of the distribution, not of the jars.
    '-Dorg.elasticsearch.nativeaccess.enableVectorLibrary=false',
    `-Djava.io.tmpdir=${directory}`,
    '-cp',
    join(home, 'lib', '*'),
    'superseded.node.Main',
    join(home, 'modules'),
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
  ];
}

interface Running {
  /** Rejects when the process ends, with the end of what it printed. */
  readonly failed: Promise<never>;
  stop(data?: 'keep data'): Promise<void>;
  kill(): void;
}

function run(java: string, args: string[]): Running {
  const child = spawn(java, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const output = lastOutput(child);
  const ended = once(child, 'close').then(
    ([code, signal]) => `ended (${code ?? signal})\n${output()}`,
    (error: Error) => `could not run: ${error.message}`,
  );
  const failed = ended.then((how): never => {
    throw new Error(`the Elasticsearch node ${how}`);
  });
  failed.catch(() => {});
  child.stdin.on('error', () => {});

  const kill = () => void child.kill('SIGKILL');
  const stop = async (data?: 'keep data') => {
    // Any byte: the end alone, which is also what the node sees when this process dies, makes it remove its data.
    child.stdin.end(data);
    const late = setTimeout(kill, STOP_MS);
    await ended;
    clearTimeout(late);
  };
  return { failed, stop, kill };
}

function lastOutput(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text = (text + more).slice(-OUTPUT_KEPT);
    });
  }
  return () => text;
}
