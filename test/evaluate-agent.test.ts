import { describe, expect, it } from 'vitest';
import { breachesOf, REVERSALS, wilson } from '../scripts/agent-checks.ts';
import { describeRows, evaluateAgent, tabulate } from '../scripts/evaluate-agent.ts';
import { STAND_IN_MODEL, startStub } from '../scripts/openrouter-stub.ts';
import { readMemories, seed } from '../src/seeds.ts';
import { afterThisTest, temporaryService } from './temporary.ts';

const named = (name: string) => REVERSALS.find((reversal) => reversal.name === name) ?? REVERSALS[0];
const breaches = (name: string, reply: string) => {
  const reversal = named(name);
  return reversal ? breachesOf(reply, reversal) : [];
};

describe('the checks of a plan', () => {
  it.each([
    ['walking', 'Walk 8 miles from the Ferry Building to Lands End.'],
    ['museums', 'Start the morning at SFMOMA.'],
    ['tickets', 'Take the first ferry to Alcatraz.'],
    ['evenings', 'End with a late show at the Fillmore.'],
  ])('%s is broken by: %s', (name, reply) => {
    expect(breaches(name, reply)).toHaveLength(1);
  });

  it.each([
    ['walking', 'Keep it under 3 miles, and skip Lands End: too many steps.'],
    ['museums', 'No museums, as you asked. Lunch at the Ferry Building.'],
    ['tickets', 'I left out Alcatraz and the Zoo.'],
    ['evenings', 'Dinner by seven, nothing after 9 pm.'],
  ])('%s is honoured by: %s', (name, reply) => {
    expect(breaches(name, reply)).toEqual([]);
  });
});

describe('the interval of a share', () => {
  it('is Wilson’s: never empty, never beyond 0 and 1', () => {
    const { low, high } = wilson(8, 10);
    expect(low).toBeCloseTo(0.4902, 3);
    expect(high).toBeCloseTo(0.9433, 3);
    expect(wilson(0, 10).high).toBeCloseTo(0.2775, 3);
    expect(wilson(10, 10).low).toBeCloseTo(0.7225, 3);
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  });
});

describe('the evaluation of an agent', () => {
  const open = async () => {
    const service = temporaryService();
    const { store: _, ...actor } = await service.actor('user:demo', 'demo', 'test');
    await seed(service.store, actor, readMemories('seeds/memories.json'));
    return service;
  };

  it('asks under both presets, and prints a row a reversal and preset', async () => {
    const stub = await startStub();
    afterThisTest(stub.close);
    const settings = { apiKey: 'none', model: STAND_IN_MODEL, baseUrl: stub.url };
    const runs = await evaluateAgent({ settings, runs: 1, open });
    expect(runs.map(({ preset, answer }) => [preset, answer !== null])).toEqual([
      ['flat', true],
      ['default', true],
    ]);
    const rows = tabulate(runs);
    expect(rows).toHaveLength(8);
    expect(rows.find(({ reversal, preset }) => reversal === 'walking' && preset === 'default')).toMatchObject({
      runs: 1,
      currentSeen: 1,
    });
    const page = describeRows(rows, runs, STAND_IN_MODEL);
    expect(page).toContain('| walking | default | 1 of 1 | 21 % to 100 % |');
  });

  it('leaves out turns that failed, and says so', async () => {
    const stub = await startStub();
    afterThisTest(stub.close);
    const settings = { apiKey: 'none', model: 'test/broken', baseUrl: stub.url };
    const runs = await evaluateAgent({ settings, runs: 1, open });
    const rows = tabulate(runs);
    expect(rows.every(({ runs: counted }) => counted === 0)).toBe(true);
    expect(describeRows(rows, runs, 'test/broken')).toContain('2 turns failed');
  });
});
