import fc from 'fast-check';
import { expect } from 'vitest';
import { SupersededError } from '../../src/errors.ts';
import { iso } from '../../src/memory.ts';
import type { UserMemories } from '../../src/superseded.ts';
import { type Outcome, PlainModel } from './plain-model.ts';

/** Random lives of memories, told to the product and to the plain model; everything visible must agree. */

const START = Date.parse('2026-03-01T09:00:00Z');
const HOUR = 3_600_000;
const pick = fc.nat({ max: 7 });
const hours = fc.integer({ min: -30, max: 60 });

const verb = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      verb: fc.constant('remember' as const),
      from: fc.option(hours, { nil: undefined }),
      to: fc.option(hours, { nil: undefined }),
      supersedes: fc.uniqueArray(pick, { maxLength: 3 }),
      denies: fc.uniqueArray(pick, { maxLength: 1 }),
      links: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant('supersede' as const),
      on: pick,
      targets: fc.uniqueArray(pick, { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ verb: fc.constant('close' as const), on: pick, to: fc.option(hours, { nil: undefined }) }),
  },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('reopen' as const), on: pick }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('confirm' as const), on: pick }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('deny' as const), on: pick, certain: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant('feedback' as const),
      on: pick,
      outcome: fc.constantFrom(-1, -0.5, 0, 0.5, 1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('erase' as const), on: pick }) },
);
export type Act = (typeof verb extends fc.Arbitrary<infer T> ? T : never) & { wait: number };
export const lives: fc.Arbitrary<{ acts: Act[]; readings: [number, number][] }> = fc.record({
  acts: fc.array(
    fc.tuple(verb, fc.integer({ min: -3, max: 20 })).map(([act, wait]) => ({ ...act, wait })),
    { minLength: 3, maxLength: 12 },
  ),
  readings: fc.array(fc.tuple(hours, hours), { minLength: 2, maxLength: 4 }),
});

export async function live(
  memories: UserMemories,
  setClock: (at: number) => void,
  life: { acts: Act[]; readings: [number, number][] },
) {
  const model = new PlainModel();
  const ids: string[] = [];
  let clock = START;
  const idOf = (index: number): string => ids[index % Math.max(1, ids.length)] ?? 'nobody';
  const instants: number[] = [START];
  for (const [step, act] of life.acts.entries()) {
    clock += act.wait * HOUR;
    setClock(clock);
    instants.push(clock, clock + 1);
    await perform(memories, model, ids, { act, step, clock, idOf });
  }
  const last = Math.max(...instants) + HOUR;
  setClock(last);
  const pairs: [number, number][] = [
    [last, last],
    ...life.readings.map(([v, k]): [number, number] => [START + v * HOUR, START + k * HOUR]),
  ];
  const some = instants.filter((_, index) => index % Math.ceil(instants.length / 3) === 0);
  for (const at of some) pairs.push([at, last], [at, at]);
  for (const [asOf, knownAt] of pairs) await agree(memories, model, asOf, knownAt);
  for (const row of model.memories.values()) {
    const memory = await memories.get(row.id);
    expect(memory.supersedes).toEqual(row.replaces);
    expect(memory.supersededBy).toBe(row.ended?.by ?? null);
    expect(memory.confidence).toBe(row.confidence);
    expect(memory.freshAt).toBe(iso(row.fresh));
    expect(memory.feedback).toBe(
      row.outcomes.length === 0 ? 0 : row.outcomes.reduce((a, b) => a + b, 0) / (row.outcomes.length + 1),
    );
    expect([memory.reopens, memory.reopenedBy]).toEqual([row.copyOf, row.copiedAs]);
    expect([memory.denies, memory.deniedBy]).toEqual([row.denies, row.deniedBy]);
  }
  await replay(memories, model);
}

type Telling = { act: Act; step: number; clock: number; idOf: (index: number) => string };

async function perform(memories: UserMemories, model: PlainModel, ids: string[], { act, step, clock, idOf }: Telling) {
  switch (act.verb) {
    case 'remember': {
      const id = `m${step}`;
      const link = (indices: number[]) => (act.links && ids.length > 0 ? [...new Set(indices.map(idOf))] : []);
      const given = {
        ...(act.from === undefined ? {} : { from: START + act.from * HOUR }),
        ...(act.to === undefined ? {} : { to: START + act.to * HOUR }),
        supersedes: link(act.supersedes),
        denies: link(act.denies),
      };
      const expected = model.remember(clock, id, given);
      const input = {
        id,
        content: `A note, the ${step}th`,
        ...('from' in given ? { validFrom: iso(given.from) } : {}),
        ...('to' in given ? { validTo: iso(given.to) } : {}),
        ...(given.supersedes.length > 0 ? { supersedes: given.supersedes } : {}),
        ...(given.denies.length > 0 ? { denies: given.denies } : {}),
      };
      await same(expected, memories.remember(input), act);
      if (expected.ok) ids.push(id);
      return;
    }
    case 'supersede': {
      const targets = [...new Set(act.targets.map(idOf))];
      await same(model.supersede(clock, idOf(act.on), targets), memories.supersede(idOf(act.on), { targets }), act);
      return;
    }
    case 'close': {
      const to = act.to === undefined ? undefined : START + act.to * HOUR;
      await same(
        model.close(clock, idOf(act.on), to),
        memories.close(idOf(act.on), to === undefined ? {} : { validTo: iso(to) }),
        act,
      );
      return;
    }
    case 'reopen': {
      const attempt = memories.reopen(idOf(act.on), {}).then(({ memory }) => memory.id);
      const copy = await attempt.catch(() => 'none');
      const expected = model.reopen(clock, idOf(act.on), copy);
      await same(expected, attempt, act);
      if (expected.ok) ids.push(copy);
      return;
    }
    case 'confirm':
      return same(model.confirm(clock, idOf(act.on)), memories.confirm(idOf(act.on), {}), act);
    case 'deny':
      return same(
        model.deny(clock, idOf(act.on), act.certain),
        memories.deny(idOf(act.on), { certain: act.certain }),
        act,
      );
    case 'feedback':
      return same(
        model.feedback(clock, idOf(act.on), act.outcome),
        memories.feedback(idOf(act.on), { outcome: act.outcome }),
        act,
      );
    case 'erase':
      return same(model.erase(clock, idOf(act.on)), memories.erase(idOf(act.on), {}), act);
  }
}

async function same(expected: Outcome, attempt: Promise<unknown>, act: Act): Promise<void> {
  const got = await attempt.then(
    (): Outcome => ({ ok: true }),
    (error: unknown): Outcome => {
      if (error instanceof SupersededError) return { ok: false, code: error.code };
      throw error;
    },
  );
  expect(got, JSON.stringify(act)).toEqual(expected);
}

async function agree(memories: UserMemories, model: PlainModel, asOf: number, knownAt: number): Promise<void> {
  const clocks = { asOf: iso(asOf), knownAt: iso(knownAt) };
  const { hits } = await memories.recall({ query: 'note', limit: 100, ...clocks });
  expect(hits.map(({ memory }) => memory.id).sort(), JSON.stringify(clocks)).toEqual(model.held(asOf, knownAt));
  const listed = await memories.list({ status: 'all', limit: 100, ...clocks });
  const statuses = Object.fromEntries(listed.memories.map(({ id, status }) => [id, status]));
  expect(statuses, JSON.stringify(clocks)).toEqual(model.statuses(asOf, knownAt));
  const history = await memories.recall({ query: 'note', limit: 100, includeHistory: true, ...clocks });
  const order = history.hits.map(({ memory }) => memory);
  for (const [index, { supersededBy, status }] of order.entries()) {
    if (status !== 'superseded' || supersededBy === null) continue;
    const successor = order.findIndex(({ id }) => id === supersededBy);
    if (successor !== -1) expect(successor).toBeLessThan(index);
  }
}

/** The audit, replayed from nothing, gives the present state. */
async function replay(memories: UserMemories, model: PlainModel): Promise<void> {
  const state = new Map<string, unknown>();
  const entries = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: { entries: Awaited<ReturnType<UserMemories['audit']>>['entries']; nextCursor: string | null } =
      await memories.audit({ limit: 100, ...(cursor ? { cursor } : {}) });
    entries.push(...page.entries);
    cursor = page.nextCursor;
  }
  for (const { memory, after } of entries.reverse()) {
    if (after) state.set(memory, after);
    else if (model.erased.has(memory)) state.delete(memory);
  }
  expect([...state.keys()].sort()).toEqual([...model.memories.keys()].sort());
  for (const [id, after] of state) {
    const { status: _, ...now } = await memories.get(id);
    const { status: __, ...replayed } = after as typeof now & { status: string };
    expect(replayed).toEqual(now);
  }
}
