import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHARED_OPTIONS } from '../src/commands/command.ts';
import { commandHelp, overviewHelp } from '../src/commands/help.ts';
import { COMMANDS } from '../src/commands/table.ts';
import { ended, ROOT, runCli, startCli } from './run-cli.ts';
import { temporaryFolder } from './temporary.ts';

const NOW = ['--now', '2026-03-01T09:00:00Z'];

describe('the help', () => {
  it('lists every command and every shared option', () => {
    const help = overviewHelp(COMMANDS);
    for (const { name, summary } of COMMANDS) expect(help).toMatch(new RegExp(`  ${name} +${summary.slice(0, 12)}`));
    for (const name of Object.keys(SHARED_OPTIONS)) expect(help).toContain(`--${name}`);
  });

  it.each(COMMANDS.filter(({ handsOn }) => !handsOn))(
    'of $name names its arguments, its options and an example',
    (command) => {
      const help = commandHelp(command);
      for (const name of [...command.arguments, ...Object.keys(command.options).map((option) => `--${option}`)]) {
        expect(help).toContain(name);
      }
      expect(help).toContain(command.example);
      for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
    },
  );
});

describe('the command line', () => {
  const patient = { timeout: 120_000 };
  it.each(['demo', 'evaluate', 'bench'])('hands the arguments of %s on to what reads them', patient, async (name) => {
    const help = await ended(startCli([name, '--help']));
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain(`npm run ${name}`);
    const wrong = await ended(startCli([name, '--no-such-option']));
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('no-such-option');
  });

  it('helps with one command, and with all', async () => {
    const [one, all] = await Promise.all([runCli(['help', 'recall']), runCli(['help'])]);
    expect(one).toEqual(await runCli(['recall', '--help']));
    expect(all.stdout).toContain('Commands:');
  });

  it('shows a memory without a title by its words and one id', async () => {
    const db = ['--db', join(temporaryFolder(), 'a.db')];
    await runCli(['remember', 'No more museums', '--id', 'no-museums', ...db]);
    const { stdout } = await runCli(['recall', 'museums', ...db]);
    expect(stdout.match(/no-museums/g)).toHaveLength(1);
    expect((await runCli(['history', 'no-museums', ...db])).stdout.match(/no-museums/g)).toHaveLength(1);
  });

  it('tells its version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('remembers, supersedes, recalls and shows the history, with one JSON document each', async () => {
    const db = ['--db', join(temporaryFolder(), 'a.db')];
    const first = await runCli([
      'remember',
      'I love museums',
      '--id',
      'love',
      '--topic',
      'preference',
      '--json',
      ...db,
      ...NOW,
    ]);
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({
      stored: true,
      memory: { id: 'love', createdAt: '2026-03-01T09:00:00.000Z' },
    });
    const second = await runCli([
      'remember',
      'No more museums',
      '--id',
      'stop',
      '--supersedes',
      'love',
      '--json',
      ...db,
      ...NOW,
    ]);
    expect(JSON.parse(second.stdout)).toMatchObject({ superseded: ['love'] });
    const recalled = await runCli(['recall', 'Which museums?', '--explain', '--json', ...db, ...NOW]);
    expect(JSON.parse(recalled.stdout).hits.map((hit: { memory: { id: string } }) => hit.memory.id)).toEqual(['stop']);
    const history = await runCli(['history', 'stop', '--json', ...db, ...NOW]);
    expect(JSON.parse(history.stdout).memories.map((memory: { id: string }) => memory.id)).toEqual(['love', 'stop']);
    const shown = await runCli(['recall', 'Which museums?', ...db, ...NOW]);
    expect(shown.stdout).toContain('No more museums');
    expect(shown.stdout).not.toMatch(new RegExp(String.fromCharCode(27)));
  });

  it.each([
    ['an unknown command', ['frobnicate'], 2, 'frobnicate'],
    ['an unknown option', ['recall', 'x', '--asof', '2026'], 2, '--asof'],
    ['a missing argument', ['recall'], 2, 'QUESTION'],
    ['an argument too many', ['recall', 'two', 'words'], 2, 'words'],
    ['a naive clock', ['recall', 'x', '--now', '2026-03-01T09:00:00'], 2, '--now'],
    ['a user that is none', ['recall', 'x', '--user', 'a b'], 2, '--user'],
    ['a blank question', ['recall', '  '], 2, 'query'],
    ['a question of 2,001 characters', ['recall', 'x'.repeat(2001)], 2, 'query'],
    ['a limit out of range', ['recall', 'x', '--limit', '101'], 2, 'limit'],
    ['a limit that is no number', ['recall', 'x', '--limit', 'many'], 2, 'limit'],
    ['an unknown memory', ['history', 'nobody'], 1, 'nobody'],
    ['an unknown preset', ['compare', '--preset', 'eternal'], 2, 'eternal'],
    ['a file that is not there', ['compare', '--memories', 'nowhere.json'], 2, 'nowhere.json'],
  ])('answers %s with the exit code and a sentence that names it', async (_, args, code, named) => {
    const ended = await runCli(args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(named);
    expect(ended.stderr).not.toContain('    at ');
    expect(ended.stdout).toBe('');
  });

  it('says what is wrong as JSON where JSON was asked for', async () => {
    const { code, stdout } = await runCli(['history', 'nobody', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });

  it('refuses a malformed seed file with all its problems, and writes nothing', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'bad.json');
    const good = { id: 'a', content: 'Fine', kind: 'episodic', topic: 'fact', scope: 'user:demo', ageDays: 3 };
    const entries = [good, { ...good, id: 'b', kind: 'rumour', ageDays: -1 }, { ...good, content: ' ' }, { id: 'c' }];
    writeFileSync(file, JSON.stringify(entries));
    const db = ['--db', join(folder, 'a.db')];
    const { code, stderr } = await runCli(['seed', '--memories', file, ...db]);
    expect(code).toBe(2);
    for (const path of ['1.kind', '1.ageDays', '2.content', '3.content', '3.scope'])
      expect(stderr).toContain(`[${path}]`);
    const { stdout } = await runCli(['list', '--status', 'all', '--json', ...db]);
    expect(JSON.parse(stdout)).toEqual({ memories: [], nextCursor: null });
  });

  it('seeds twice without writing twice, and refuses other words for a taken id', async () => {
    const folder = temporaryFolder();
    const db = ['--db', join(folder, 'a.db')];
    const seeded = await runCli(['seed', '--json', ...db]);
    expect(JSON.parse(seeded.stdout)).toMatchObject({ stored: 35, unchanged: 0 });
    const again = await runCli(['seed', '--json', ...db]);
    expect(JSON.parse(again.stdout)).toMatchObject({ stored: 0, unchanged: 35 });
    const file = join(folder, 'other.json');
    const other = {
      id: 'knee-injury',
      content: 'Other words',
      kind: 'episodic',
      topic: 'fact',
      scope: 'user:demo',
      ageDays: 3,
    };
    writeFileSync(file, JSON.stringify([other]));
    const refused = await runCli(['seed', '--memories', file, ...db]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('knee-injury');
  });

  it('imports a Markdown list, one memory a bullet, and exports lines of JSON', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'memory.md');
    writeFileSync(file, '# About me\n\n- Likes tea\n- Lives in Bern\n  since 2019\n1. Has a dog\n');
    const db = ['--db', join(folder, 'a.db')];
    const imported = await runCli(['import', file, '--json', ...db]);
    expect(JSON.parse(imported.stdout)).toMatchObject({ imported: 3 });
    const exported = await runCli(['export', ...db]);
    const contents = exported.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).content);
    expect(contents.sort()).toEqual(['Has a dog', 'Likes tea', 'Lives in Bern since 2019']);
  });

  it('explains a database that is none', async () => {
    const file = join(temporaryFolder(), 'a.db');
    writeFileSync(file, 'this is no database, just a text that is long enough to be read as a header'.repeat(20));
    const { code, stderr } = await runCli(['list', '--db', file]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/SUPERSEDED_DB|--db/);
  });
});

describe('doctor, setup and queries', () => {
  it('prints the whole table and exits with 0 where all is in order', async () => {
    const db = ['--db', join(temporaryFolder(), 'a.db')];
    expect((await runCli(['setup', ...db])).code).toBe(0);
    expect((await runCli(['setup', ...db])).code).toBe(0);
    const { code, stdout } = await runCli(['doctor', '--json', ...db]);
    const { ok, checks } = JSON.parse(stdout) as {
      ok: boolean;
      checks: { title: string; ok: boolean; note: string }[];
    };
    expect(checks.filter((check) => !check.ok)).toEqual([]);
    expect([code, ok]).toEqual([0, true]);
    expect(checks.map(({ title }) => title)).toEqual([
      'configuration',
      'database',
      'schema',
      'integrity',
      'embedding',
      'calibration',
    ]);
  });

  it('exits with 1 and a recommendation for each check that fails, and still prints the rest', async () => {
    const file = join(temporaryFolder(), 'a.db');
    writeFileSync(file, 'no database at all '.repeat(300));
    const { code, stdout } = await runCli(['doctor', '--db', file]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAIL {2}database/);
    expect(stdout).toMatch(/→ .*(SUPERSEDED_DB|--db)/);
    expect(stdout).toMatch(/ok {4}embedding/);
  });

  it('recommends a calibration that fits where the configured one does not', async () => {
    const env = { EMBEDDINGS_LO: '0.1', EMBEDDINGS_HI: '0.3' };
    const { code, stdout } = await runCli(['doctor', '--db', join(temporaryFolder(), 'a.db')], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(/Set EMBEDDINGS_LO=0\.7\d, EMBEDDINGS_HI=0\.[89]\d/);
  });

  it('writes each form of the recall query as a request, and the mapping', async () => {
    const out = join(temporaryFolder(), 'queries');
    const { stdout } = await runCli(['queries', '--out', out, '--json']);
    const files = readdirSync(out);
    expect(JSON.parse(stdout).written).toBe(files.length - 1);
    expect(files.length).toBeLessThanOrEqual(41);
    expect(files.filter((name) => name.endsWith('.basic.json')).length).toBeGreaterThan(3);
    for (const name of files) {
      const json = JSON.parse(readFileSync(join(out, name), 'utf8'));
      expect(Object.keys(json)).toEqual(name === 'mapping.json' ? ['dynamic', 'properties'] : ['query', 'params']);
    }
  });
});
