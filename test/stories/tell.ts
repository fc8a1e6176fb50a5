import { expect } from 'vitest';
import { SupersededError } from '../../src/errors.ts';
import type { UserMemories } from '../../src/superseded.ts';
import type { TestService } from '../temporary.ts';

/** A story: verbs with instants, then what every reading shows at several pairs of clocks. */

export interface Step {
  /** When it happens; a bare day number is that day of March 2026 at noon, UTC. */
  at: string | number;
  verb: 'remember' | 'supersede' | 'close' | 'reopen' | 'confirm' | 'deny' | 'feedback' | 'erase';
  id: string;
  input?: Record<string, unknown>;
  /** The code of the error it ends with; without one it succeeds. */
  fails?: string;
  /** Who acts; ann unless told. */
  as?: string;
  /** With reopen: the name the copy goes by in the rest of the story. */
  named?: string;
}

export interface Reading {
  /** When it is read; default: a minute after the last step. */
  now?: string | number;
  asOf?: string | number;
  knownAt?: string | number;
  as?: string;
  /** Ids recalled, in any order. */
  recall?: string[];
  /** Ids recalled with history asked for. */
  history?: string[];
  /** Ids listed as open, and the status of others. */
  open?: string[];
  statuses?: Record<string, string>;
  /** The chain of the first id, oldest first. */
  chain?: string[];
  /** Verbs of the audit of the first id named, oldest first. */
  audit?: { of: string; verbs: string[] };
}

export interface Story {
  name: string;
  steps: Step[];
  readings: Reading[];
}

const instantOf = (at: string | number): string =>
  typeof at === 'string' ? at : new Date(Date.UTC(2026, 2, at, 12)).toISOString();

/** Runs a story against a fresh service and checks every reading. */
export async function tell(service: TestService, { steps, readings }: Story): Promise<void> {
  const names = new Map<string, string>();
  const real = (name: string): string => [...names].find(([, given]) => given === name)?.[0] ?? name;
  const shown = (id: string): string => names.get(id) ?? id;
  const translated = (input: Record<string, unknown> = {}): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(input).map(([key, value]) => [
        key,
        key === 'targets' || key === 'supersedes' || key === 'denies'
          ? (value as string[]).map(real)
          : typeof value === 'number' && /^valid(From|To)$/.test(key)
            ? instantOf(value)
            : value,
      ]),
    );
  for (const step of steps) {
    service.at(instantOf(step.at));
    const attempt = act(service.for(step.as ?? 'ann', 'library'), step, real(step.id), translated(step.input));
    if (step.fails) {
      const error = await attempt.then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error, `${step.verb} ${step.id} should fail`).toBeInstanceOf(SupersededError);
      expect((error as SupersededError).code).toBe(step.fails);
    } else {
      const id = await attempt;
      if (step.named) names.set(id, step.named);
    }
  }
  for (const reading of readings) {
    service.at(reading.now === undefined ? new Date(service.now + 60_000).toISOString() : instantOf(reading.now));
    await check(service.for(reading.as ?? 'ann', 'library'), reading, { real, shown });
  }
}

async function act(memories: UserMemories, step: Step, id: string, input: Record<string, unknown>): Promise<string> {
  switch (step.verb) {
    case 'remember':
      return (await memories.remember({ id, content: `A note about ${id}`, ...input })).memory.id;
    case 'supersede':
      return (await memories.supersede(id, input)).memory.id;
    case 'close':
      return (await memories.close(id, input)).memory.id;
    case 'reopen':
      return (await memories.reopen(id, input)).memory.id;
    case 'confirm':
      return (await memories.confirm(id, input)).memory.id;
    case 'deny':
      return (await memories.deny(id, input)).memory.id;
    case 'feedback':
      return (await memories.feedback(id, input)).memory.id;
    case 'erase':
      return (await memories.erase(id, input)).erased;
  }
}

type Names = { real: (name: string) => string; shown: (id: string) => string };

async function check(memories: UserMemories, reading: Reading, { real, shown }: Names): Promise<void> {
  const clocks = {
    ...(reading.asOf === undefined ? {} : { asOf: instantOf(reading.asOf) }),
    ...(reading.knownAt === undefined ? {} : { knownAt: instantOf(reading.knownAt) }),
  };
  const recalled = async (includeHistory: boolean) => {
    const { hits } = await memories.recall({ query: 'note', limit: 100, includeHistory, ...clocks });
    return hits.map(({ memory }) => shown(memory.id));
  };
  const why = JSON.stringify(reading);
  if (reading.recall) expect((await recalled(false)).sort(), why).toEqual([...reading.recall].sort());
  if (reading.history) expect((await recalled(true)).sort(), why).toEqual([...reading.history].sort());
  const listed = await memories.list({ status: 'all', limit: 100, ...clocks });
  const statuses = Object.fromEntries(listed.memories.map(({ id, status }) => [shown(id), status]));
  if (reading.open) {
    const { memories: open } = await memories.list({ limit: 100, ...clocks });
    expect(open.map(({ id }) => shown(id)).sort(), why).toEqual([...reading.open].sort());
  }
  if (reading.statuses) expect(statuses, why).toEqual(reading.statuses);
  if (reading.chain) {
    const { memories: chain } = await memories.history(real(reading.chain[0] ?? ''));
    expect(
      chain.map(({ id }) => shown(id)),
      why,
    ).toEqual(reading.chain);
  }
  if (reading.audit) {
    const { entries } = await memories.audit({ memory: real(reading.audit.of), limit: 100 });
    expect(entries.map(({ verb }) => verb).reverse(), why).toEqual(reading.audit.verbs);
  }
}
