import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usageOf } from '../src/commands/help.ts';
import { COMMANDS } from '../src/commands/table.ts';
import { ROOT, runCli } from './run-cli.ts';
import { temporaryFolder } from './temporary.ts';

/** The README is executed: its commands run, its output is true, its tables are complete. */

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const scripts: Record<string, string> = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts;
const between = (name: string): string =>
  readme.split(`<!-- ${name} -->`)[1]?.split(`<!-- /${name} -->`)[0]?.trim() ?? '';
const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? '');
const commands = blocks
  .flatMap((block) => block.split('\n').map((line) => line.replace(/\s+#.*$/, '').trim()))
  .filter(Boolean);

/** Words of a shell line; quotes hold words together. */
const words = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');

/** Needs Docker, a running server, a file to be edited, or the network; checked for syntax and existence only. */
const NEEDS_MORE =
  /^(docker|curl|cp |npx? (install|ci)|npm (install|ci|test|start)|npm run (dev|demo|build|mcp|doctor|evaluate|bench|test:|typecheck))/;

describe('the README', () => {
  it('shows output that compare really prints', async () => {
    const { stdout } = await runCli(['compare', '--now', '2026-03-01T09:00:00Z']);
    for (const name of ['compare', 'summary']) {
      const shown = between(name).replace(/^```text\n|\n```$/g, '');
      expect(shown.length).toBeGreaterThan(100);
      expect(stdout).toContain(shown);
    }
  });

  it('has commands that need neither key, Docker nor network, and each succeeds in the order given', async () => {
    const env = { SUPERSEDED_DB: join(temporaryFolder(), 'memories.db') };
    const runnable = commands.filter((line) => !NEEDS_MORE.test(line));
    expect(runnable.length).toBeGreaterThanOrEqual(6);
    for (const line of runnable) {
      const [npm, run, script = '', ...rest] = words(line);
      expect([npm, run], line).toEqual(['npm', 'run']);
      expect(scripts[script], line).toMatch(/^tsx src\/cli\.ts/);
      const fixed = (scripts[script] ?? '').split(' ').slice(2);
      const { code, stderr } = await runCli(
        [...fixed, ...rest.filter((word, index) => !(word === '--' && index === 0))],
        env,
      );
      expect(`${line}: ${code} ${stderr}`).toBe(`${line}: 0 `);
    }
  });

  it('names only npm scripts that exist', () => {
    for (const [, script = ''] of readme.matchAll(/npm run ([a-z:]+)/g)) expect(Object.keys(scripts)).toContain(script);
  });

  it('lists every command of the command line', () => {
    const table = [
      '| command | |',
      '|---|---|',
      ...COMMANDS.map(
        (command) =>
          `| \`${usageOf(command).replace('npx superseded ', '').replace(' [options]', '')}\` | ${command.summary} |`,
      ),
    ];
    expect(between('commands')).toBe(table.join('\n'));
  });

  it('lists every error code', () => {
    const source = readFileSync(join(ROOT, 'src', 'errors.ts'), 'utf8');
    const http = /HTTP_STATUS = \{([^}]*)\}/.exec(readFileSync(join(ROOT, 'src', 'http', 'problems.ts'), 'utf8'))?.[1];
    const codes = [...source.matchAll(/^ {2}\| '([A-Z_]+)'/gm), ...(http ?? '').matchAll(/([A-Z_]+):/g)].map(
      (m) => m[1],
    );
    expect(codes.length).toBeGreaterThan(10);
    for (const code of codes) expect(readme).toContain(`| \`${code}\` |`);
  });

  it('links only to files that exist', () => {
    for (const [, path = ''] of readme.matchAll(/\]\((?!http)([^)#]+)[^)]*\)/g)) {
      expect(() => readFileSync(join(ROOT, path)), path).not.toThrow();
    }
  });
});

describe('the example environment', () => {
  it('lists every variable that the configuration reads', () => {
    const config = readFileSync(join(ROOT, 'src', 'config.ts'), 'utf8');
    const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
    const variables = [...config.matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map((match) => match[1] ?? '');
    expect(variables.length).toBeGreaterThan(20);
    for (const name of variables.filter((known) => !/_COLOR$/.test(known))) expect(example).toContain(name);
  });
});
