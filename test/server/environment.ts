import { QUIET } from '../../scripts/mastra.ts';

const SETTING =
  /^(?:ELASTICSEARCH|EMBEDDINGS|SUPERSEDED|OPENROUTER|MASTRA|VITEST|VITE)(?:_|$)|^(?:PORT|NODE_ENV|TEST)$/;

/** What a process gets: the machine's environment without any setting of ours or of the test runner, and `settings`. */
export function cleanEnvironment(settings: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !SETTING.test(name));
  return { ...Object.fromEntries(inherited), ...QUIET, NO_COLOR: '1', ...settings };
}
