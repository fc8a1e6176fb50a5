import { describe, expect, inject, it } from 'vitest';
import type { Compared } from '../../src/commands/compare-report.ts';
import { ended, runCli, startCli } from '../run-cli.ts';
import { clusterOfRun, newIndex, onWhat } from './stores.ts';

/** The command line on a cluster: only the address is set, and nothing else changes. */

const NOW = ['--now', '2026-03-01T09:00:00Z'];

function env(): Record<string, string> {
  const { url, auth } = clusterOfRun();
  const login =
    auth === undefined
      ? {}
      : 'apiKey' in auth
        ? { ELASTICSEARCH_API_KEY: auth.apiKey }
        : { ELASTICSEARCH_USERNAME: auth.username, ELASTICSEARCH_PASSWORD: auth.password };
  return { ELASTICSEARCH_URL: url, ELASTICSEARCH_INDEX: newIndex(), ...login };
}

describe.skipIf(inject('cluster') === null)(`the command line on Elasticsearch${onWhat()}`, () => {
  it('compare prints the table it prints on the embedded store', async () => {
    const settings = env();
    const here = await runCli(['compare', ...NOW]);
    const there = await runCli(['compare', ...NOW], settings);
    expect(there.stderr).toBe('');
    expect(there.stdout).toBe(here.stdout.replace('embedded store', 'elasticsearch store'));
    const json = async (more: Record<string, string>) =>
      JSON.parse((await runCli(['compare', '--json', ...NOW], more)).stdout) as Compared;
    const [embedded, cluster] = [await json({}), await json(settings)];
    for (const [p, { questions }] of embedded.presets.entries()) {
      for (const [q, { hits }] of questions.entries()) {
        const same = cluster.presets[p]?.questions[q]?.hits ?? [];
        expect(same.map(({ id }) => id)).toEqual(hits.map(({ id }) => id));
        for (const [h, { score }] of hits.entries())
          expect(Math.abs(score - (same[h]?.score ?? 0))).toBeLessThan(0.00005);
      }
    }
  });

  it('leaves no index of a comparison behind', async () => {
    const settings = env();
    await runCli(['compare', '--preset', 'flat', ...NOW], settings);
    const answer = await fetch(`${clusterOfRun().node}/_cat/indices/${settings.ELASTICSEARCH_INDEX}*?h=index`);
    expect(await answer.text()).toBe('');
  });

  it('remembers, supersedes, recalls and shows the history', async () => {
    const settings = env();
    const say = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli([...args, '--json'], settings);
      expect(`${code} ${stderr}`).toBe('0 ');
      return JSON.parse(stdout);
    };
    await say('remember', 'I love museums', '--id', 'love', '--topic', 'preference');
    await say('remember', 'No more museums', '--id', 'stop', '--supersedes', 'love');
    const recalled = await say('recall', 'Which museums?');
    expect(recalled.hits.map((hit: { memory: { id: string } }) => hit.memory.id)).toEqual(['stop']);
    const chain = await say('history', 'love');
    expect(chain.memories.map((memory: { id: string }) => memory.id)).toEqual(['love', 'stop']);
    await say('erase', 'love');
    expect((await runCli(['history', 'love'], settings)).code).toBe(1);
  });

  it('leaves one winner of four processes that supersede one memory at once', async () => {
    const settings = env();
    await runCli(['remember', 'Tea', '--id', 'head'], settings);
    const names = ['w0', 'w1', 'w2', 'w3'];
    const writers = names.map((id) =>
      ended(startCli(['remember', `Drink ${id}`, '--id', id, '--supersedes', 'head'], settings)),
    );
    const results = await Promise.all(writers);
    expect(results.filter(({ code }) => code === 0)).toHaveLength(1);
    for (const { code, stderr } of results) if (code !== 0) expect(stderr).toContain('CONFLICT');
    const { stdout } = await runCli(['list', '--status', 'all', '--json'], settings);
    const memories = JSON.parse(stdout).memories as { status: string }[];
    expect(memories.map(({ status }) => status).sort()).toEqual(['open', 'superseded']);
  });

  it('doctor proves the arithmetic and finds nothing wrong', async () => {
    const { code, stdout } = await runCli(['doctor', '--json'], env());
    const { checks } = JSON.parse(stdout) as { checks: { title: string; ok: boolean; note: string }[] };
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(code).toBe(0);
    const notes = Object.fromEntries(checks.map(({ title, note }) => [title, note]));
    expect(notes.DECAY).toMatch(/0\.5/);
    expect(notes.FUSE).toMatch(/0\.325/);
    expect(notes['both dialects']).toMatch(/same scores/);
  });

  it('doctor names what is wrong with an address nobody answers at', async () => {
    const { code, stdout } = await runCli(['doctor'], {
      ELASTICSEARCH_URL: 'http://127.0.0.1:9',
      ELASTICSEARCH_INDEX: 'x',
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAIL {2}connection/);
    expect(stdout).toContain('ELASTICSEARCH_URL');
  });
});
