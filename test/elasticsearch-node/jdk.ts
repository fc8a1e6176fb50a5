import { execFile } from 'node:child_process';
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const OLDEST_JAVA = 21;

/** The home of a JDK that can build and run the node: JAVA_HOME, else the one on the PATH, else an installed one. */
export async function findJdk(): Promise<string | undefined> {
  for (const home of [process.env.JAVA_HOME, await homeOnPath(), ...(await installed())]) {
    if (home && (await isUsable(home))) return home;
  }
  return undefined;
}

async function homeOnPath(): Promise<string | undefined> {
  try {
    const { stderr } = await promisify(execFile)('java', ['-XshowSettings:properties', '-version']);
    return /java\.home = (.+)/.exec(stderr)?.[1];
  } catch {
    return undefined;
  }
}

async function installed(): Promise<string[]> {
  const linux = await entries('/usr/lib/jvm');
  const mac = await entries('/Library/Java/JavaVirtualMachines');
  return [...linux, ...mac.map((bundle) => join(bundle, 'Contents', 'Home'))];
}

async function entries(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.sort().map((name) => join(directory, name));
}

async function isUsable(home: string): Promise<boolean> {
  try {
    await access(join(home, 'bin', 'javac'));
    const release = await readFile(join(home, 'release'), 'utf8');
    return Number(/^JAVA_VERSION="(\d+)/m.exec(release)?.[1]) >= OLDEST_JAVA;
  } catch {
    return false;
  }
}
