import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ended, runCli, startCli } from './run-cli.ts';
import { temporaryFolder } from './temporary.ts';

/** Real processes, really killed: what a verb wrote is there whole or not at all. */

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const all = async (db: string[]) => {
  const { stdout } = await runCli(['list', '--status', 'all', '--limit', '100', '--json', ...db]);
  return JSON.parse(stdout).memories as { id: string; status: string; supersededBy: string | null }[];
};

describe('a process killed with SIGKILL', () => {
  it('leaves all of a seeding or none of it, and a rerun completes', async () => {
    const counts = new Set<number>();
    const db = ['--db', join(temporaryFolder(), 'a.db')];
    await runCli(['seed', '--json', '--db', join(temporaryFolder(), 'warm.db')]);
    for (const delay of [250, 450, 600, 700, 800, 950, 1200]) {
      const child = startCli(['seed', ...db]);
      const over = ended(child);
      await pause(delay);
      child.kill('SIGKILL');
      await over;
      const mine = (await all(db)).length;
      expect([0, 15]).toContain(mine);
      counts.add(mine);
      if (mine === 15) break;
    }
    const { code } = await runCli(['seed', ...db]);
    expect(code).toBe(0);
    expect(await all(db)).toHaveLength(15);
  }, 60_000);

  it('leaves all of a supersession or none of it, and a rerun completes', async () => {
    const db = ['--db', join(temporaryFolder(), 'a.db')];
    await runCli(['remember', 'I love museums', '--id', 'old', ...db]);
    const supersede = ['remember', 'No more museums', '--id', 'new', '--supersedes', 'old', ...db];
    for (const delay of [300, 500, 600, 700, 850, 1000]) {
      const child = startCli(supersede);
      const over = ended(child);
      await pause(delay);
      child.kill('SIGKILL');
      await over;
      const memories = await all(db);
      const states = memories.map(({ id, status }) => `${id} ${status}`).sort();
      expect([['old open'], ['new open', 'old superseded']]).toContainEqual(states);
      if (memories.length === 2) break;
    }
    expect((await runCli(supersede)).code).toBe(0);
    expect((await all(db)).map(({ id, status }) => `${id} ${status}`).sort()).toEqual(['new open', 'old superseded']);
  }, 60_000);
});

describe('a process that embeds', () => {
  it('leaves nothing in the home folder: no telemetry, no identifier', async () => {
    const home = temporaryFolder();
    const db = ['--db', join(temporaryFolder(), 'a.db')];
    const env = {
      HOME: home,
      XDG_CACHE_HOME: join(home, '.cache'),
      SUPERSEDED_CACHE: join(temporaryFolder(), 'cache'),
    };
    const { code } = await ended(startCli(['remember', 'A note for the model to embed', ...db], env));
    expect(code).toBe(0);
    expect(readdirSync(home, { recursive: true })).toEqual([]);
  }, 60_000);
});

describe('several processes writing at once', () => {
  it('lose nothing', async () => {
    const db = ['--db', join(temporaryFolder(), 'a.db')];
    const names = Array.from({ length: 6 }, (_, index) => `m${index}`);
    const results = await Promise.all(
      names.map((id) => ended(startCli(['remember', `Note ${id}`, '--id', id, ...db]))),
    );
    expect(results.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(names.map(() => '0 '));
    expect((await all(db)).map(({ id }) => id).sort()).toEqual(names);
  }, 60_000);

  it('leave one winner when all supersede one memory', async () => {
    const db = ['--db', join(temporaryFolder(), 'a.db')];
    await runCli(['remember', 'Tea', '--id', 'head', ...db]);
    const names = Array.from({ length: 5 }, (_, index) => `w${index}`);
    const results = await Promise.all(
      names.map((id) => ended(startCli(['remember', `Drink ${id}`, '--id', id, '--supersedes', 'head', ...db]))),
    );
    expect(results.filter(({ code }) => code === 0)).toHaveLength(1);
    for (const { code, stderr } of results) if (code !== 0) expect(stderr).toContain('CONFLICT');
    const memories = await all(db);
    expect(memories.map(({ status }) => status).sort()).toEqual(['open', 'superseded']);
  }, 60_000);
});
