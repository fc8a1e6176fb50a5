import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const project = fileURLToPath(new URL('.', import.meta.url));
const target = join(project, 'target');

const run = promisify(execFile);
let building: Promise<string> | undefined;

export async function mavenAnswers(): Promise<boolean> {
  return run('mvn', ['-version']).then(
    () => true,
    () => false,
  );
}

/**
 * Fetches the jars and compiles ours, unless that was done from the same sources before; the directory with lib/ and modules/.
 * Several test processes may do this at once: each builds aside, the first to finish puts its result in place.
 */
export function build(jdk: string): Promise<string> {
  building ??= buildOnce(jdk);
  return building;
}

async function buildOnce(jdk: string): Promise<string> {
  const home = join(target, await fingerprint());
  if (existsSync(home)) return home;
  const aside = join(target, `build-${process.pid}`);
  try {
    await maven(jdk, aside);
    await rename(join(aside, 'home'), home);
  } catch (error) {
    if (!existsSync(home)) throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return home;
}

async function maven(jdk: string, directory: string): Promise<void> {
  const env = { ...process.env, JAVA_HOME: jdk };
  try {
    await run('mvn', ['-q', '-B', `-Dtarget=${directory}`, 'package'], { cwd: project, env });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`mvn package failed in ${project}\n${stdout}${stderr}`, { cause: error });
  }
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const inSrc = await readdir(join(project, 'src'), { recursive: true, withFileTypes: true });
  const files = inSrc.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of [join(project, 'pom.xml'), ...files.sort()]) hash.update(await readFile(file)).update('\0');
  return hash.digest('hex').slice(0, 16);
}
