import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { NodeOptions, TestNode } from './node.ts';
import { freePort, untilReady } from './ready.ts';

const IMAGE = 'docker.elastic.co/elasticsearch/elasticsearch:9.5.3';
const BOOT_MS = 180_000;

const run = promisify(execFile);

export async function dockerAnswers(): Promise<boolean> {
  return run('docker', ['info'], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

export async function startWithDocker(options: NodeOptions): Promise<TestNode> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const name = `superseded-test-${port}`;
  const heap = options.heap ?? '1g';
  const settings = {
    'cluster.routing.allocation.disk.threshold_enabled': 'false',
    'discovery.type': 'single-node',
    'xpack.license.self_generated.type': 'trial',
    'xpack.security.enabled': 'false',
    ES_JAVA_OPTS: `-Xms${heap} -Xmx${heap}`,
    ...options.settings,
  };
  const environment = Object.entries(settings).flatMap(([key, value]) => ['-e', `${key}=${value}`]);

  const remove = ['rm', '-f', '-v', name];
  const removeAtExit = () => execFileSync('docker', remove, { stdio: 'ignore' });
  process.once('exit', removeAtExit);
  const stop = async () => {
    process.off('exit', removeAtExit);
    await run('docker', remove);
  };

  try {
    await run('docker', ['run', '-d', '--name', name, '-p', `127.0.0.1:${port}:9200`, ...environment, IMAGE]);
    await untilReady(url, BOOT_MS);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  return {
    url,
    kind: 'docker',
    stop,
    kill: () => void execFileSync('docker', ['kill', name], { stdio: 'ignore' }),
    restart: async () => {
      await run('docker', ['restart', name]);
      await untilReady(url, BOOT_MS);
    },
  };
}
