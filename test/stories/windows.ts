import { expect } from 'vitest';
import type { TestService } from '../temporary.ts';

/** Learned windows through the verbs, on whatever store the service has. */

const DAY = 86_400_000;
export const START = Date.parse('2026-01-01T00:00:00Z');

/** Changes one value of a topic every so many days, through `remember`; returns the id of the last. */
export async function changeOften(
  service: TestService,
  { user = 'ann', topic = 'mood', changes = 30, days = 5, source = 'library' } = {},
): Promise<string> {
  const memories = service.for(user, source);
  let last: string | null = null;
  for (let n = 0; n <= changes; n++) {
    service.now = START + n * days * DAY;
    const { memory } = await memories.remember({
      content: `${topic} ${n}`,
      topic,
      ...(last === null ? {} : { supersedes: [last] }),
    });
    last = memory.id;
  }
  return last ?? '';
}

const windowOf = async (service: TestService, topic: string, user = 'ann') =>
  (await service.for(user).aging()).windows.find((window) => window.topic === topic);

/** Each a sentence of the specification with its proof. */
export const WINDOW_STORIES: Record<string, (service: TestService) => Promise<void>> = {
  'a value that changes every five days gets a window of its own, and recall ages by it': async (service) => {
    const id = await changeOften(service);
    const learned = await windowOf(service, 'mood');
    // 30 changes in 150 days, and a tenth of one in a tenth of the prior's 60 days / ln 2 before them.
    const halfLife = (Math.LN2 * (6 / Math.LN2 + 150)) / 30.1;
    expect(learned).toMatchObject({
      source: 'own',
      halfLifeHours: Math.round(24 * halfLife),
      own: { events: 30, lives: 31, exposureHours: 150 * 24, estimate: { usable: true }, weibull: null },
    });
    service.now += 40 * DAY;
    const { hits } = await service.for('ann').recall({ query: 'mood 30', explain: true });
    const hit = hits.find(({ memory }) => memory.id === id);
    expect(hit?.parts?.ageWeight).toBeCloseTo(0.25 + 0.75 * 0.5 ** ((40 * 24) / (learned?.halfLifeHours ?? 0)), 9);
    const flat = await service.for('ann').recall({ query: 'mood 30', explain: true, preset: 'flat' });
    expect(flat.hits[0]?.parts?.ageWeight).toBe(1);
  },
  'a recall follows a change of mind at once': async (service) => {
    const id = await changeOften(service, { changes: 22 });
    const weight = async () => (await service.for('ann').recall({ query: 'mood', explain: true })).hits[0]?.parts;
    service.now += 10 * DAY;
    const before = (await weight())?.ageWeight ?? 0;
    expect(before).toBeCloseTo(0.25 + 0.75 * 0.5 ** (10 / 60), 9);
    const { memory } = await service.for('ann').remember({ content: 'mood 23', topic: 'mood', supersedes: [id] });
    service.now += 10 * DAY;
    const { hits } = await service.for('ann').recall({ query: 'mood', explain: true });
    expect(hits[0]?.memory.id).toBe(memory.id);
    expect(hits[0]?.parts?.ageWeight).toBeLessThan(before - 0.2);
  },
  'what the service does by itself is no change of mind': async (service) => {
    await changeOften(service, { changes: 25 });
    const before = await windowOf(service, 'mood');
    await changeOften(service, { changes: 20, days: 20, source: 'automatic' });
    expect(await windowOf(service, 'mood')).toEqual(before);
  },
  'an automatic supersession at the writing leaves what was learned where it was': async (service) => {
    const id = await changeOften(service, { changes: 25 });
    service.now += DAY;
    await service.for('ann').remember({ id: 'newer', content: 'mood, newer', topic: 'mood' });
    const before = await windowOf(service, 'mood');
    await service.for('ann', 'automatic').supersede('newer', { targets: [id] });
    service.now += 30 * DAY;
    expect(await windowOf(service, 'mood')).toEqual(before);
  },
  'what the service wrote by itself does not come to count by being changed': async (service) => {
    const automatic = service.for('ann', 'automatic');
    await automatic.remember({ id: 'a', content: 'tea', topic: 'mood' });
    service.now += DAY;
    await service.for('ann').remember({ id: 'b', content: 'coffee', topic: 'mood', supersedes: ['a'] });
    expect((await windowOf(service, 'mood'))?.own).toMatchObject({ events: 0, lives: 1 });
  },
  'what was derived does not come to count when its source is erased': async (service) => {
    const ann = service.for('ann');
    await ann.remember({ id: 'a', content: 'tea', topic: 'mood' });
    await ann.remember({ id: 'summary', content: 'drinks', topic: 'mood', derivedFrom: ['a'] });
    await ann.erase('a', { force: true });
    expect((await windowOf(service, 'mood'))?.own?.lives ?? 0).toBe(0);
  },
  'what was announced before it began, and a word dated ahead, make no silence count': async (service) => {
    await changeOften(service, { changes: 25 });
    const ann = service.for('ann');
    const validFrom = new Date(service.now + 300 * DAY).toISOString();
    await ann.remember({ id: 'moving', content: 'moving', topic: 'mood', validFrom });
    const before = await windowOf(service, 'mood');
    service.now += 3000 * DAY;
    await ann.confirm('moving');
    service.now -= 2000 * DAY;
    expect(await windowOf(service, 'mood')).toEqual(before);
  },
  'importing a closing is no word about the memory': async (service) => {
    const [ann, copy] = [service.for('ann'), service.for('copy')];
    await ann.remember({ id: 'a', content: 'tea', topic: 'mood' });
    await copy.importNdjson(await ann.exportNdjson());
    service.now += DAY;
    await ann.remember({ id: 'b', content: 'coffee', topic: 'mood', supersedes: ['a'] });
    const file = await ann.exportNdjson();
    service.now += 300 * DAY;
    await copy.importNdjson(file);
    expect(await windowOf(service, 'mood', 'copy')).toEqual(await windowOf(service, 'mood', 'ann'));
    expect((await windowOf(service, 'mood', 'copy'))?.own).toMatchObject({ events: 1, exposureHours: 24 });
  },
  'a summary of memories does not count beside them': async (service) => {
    const id = await changeOften(service, { changes: 25 });
    const before = await windowOf(service, 'mood');
    await service.for('ann').remember({ content: 'summary', topic: 'mood', kind: 'semantic', derivedFrom: [id] });
    expect(await windowOf(service, 'mood')).toEqual(before);
  },
  'saying the same again or elsewhere, merging, closing, denying and planned ends are no changes of mind': async (
    service,
  ) => {
    const ann = service.for('ann');
    for (const id of ['same', 'closed', 'denied', 'wrong'])
      await ann.remember({ id, content: `value ${id}`, topic: 'mood' });
    await ann.remember({ id: 'planned', content: 'planned', topic: 'mood', validTo: '2026-12-01T00:00:00Z' });
    service.now += DAY;
    await ann.remember({ content: 'Value  SAME', topic: 'mood', supersedes: ['same'] });
    await ann.close('closed', { reason: 'over' });
    await ann.deny('denied', { certain: true });
    await ann.remember({ content: 'planned otherwise', topic: 'mood', supersedes: ['planned'] });
    await ann.remember({ id: 'filed', content: 'value filed', topic: 'mood' });
    await ann.remember({ id: 'merged', content: 'value merged', topic: 'mood' });
    service.now += DAY;
    await ann.remember({ content: 'value filed', topic: 'lodging', supersedes: ['filed'] });
    await ann.remember({ id: 'as', content: 'the value merged', topic: 'mood' });
    await ann.resolveReview('merged', { action: 'merge', into: 'as' });
    await ann.remember({
      content: 'corrected',
      topic: 'mood',
      supersedes: ['wrong'],
      validFrom: '2026-01-01T00:00:00Z',
    });
    expect((await windowOf(service, 'mood'))?.own?.events).toBe(0);
  },
  'a change that was undone counts no more': async (service) => {
    const ann = service.for('ann');
    await ann.remember({ id: 'a', content: 'tea', topic: 'mood' });
    service.now += DAY;
    await ann.remember({ id: 'b', content: 'coffee', topic: 'mood', supersedes: ['a'] });
    expect((await windowOf(service, 'mood'))?.own?.events).toBe(1);
    await ann.reopen('a', { reason: 'misheard' });
    expect((await windowOf(service, 'mood'))?.own?.events).toBe(0);
  },
  'a confirmation adds exposure, reading none, and silence none': async (service) => {
    const ann = service.for('ann');
    await ann.remember({ id: 'a', content: 'tea', topic: 'mood' });
    const hours = async () => (await windowOf(service, 'mood'))?.own?.exposureHours;
    service.now += 10 * DAY;
    await ann.recall({ query: 'tea' });
    expect(await hours()).toBe(0);
    await ann.confirm('a');
    expect(await hours()).toBe(240);
    service.now += 100 * DAY;
    expect(await hours()).toBe(240);
  },
  'what is known to end later has not ended yet': async (service) => {
    const ann = service.for('ann');
    await ann.remember({ id: 'a', content: 'tea', topic: 'mood' });
    service.now += DAY;
    const validFrom = new Date(service.now + 5 * DAY).toISOString();
    await ann.remember({ content: 'coffee', topic: 'mood', supersedes: ['a'], validFrom });
    expect((await windowOf(service, 'mood'))?.own).toMatchObject({ events: 0, exposureHours: 24 });
    service.now += 5 * DAY;
    expect((await windowOf(service, 'mood'))?.own).toMatchObject({ events: 1, exposureHours: 6 * 24 });
  },
  'what held long before it was recorded was not watched until then': async (service) => {
    const ann = service.for('ann');
    await ann.remember({ id: 'a', content: 'lives in Berlin', topic: 'mood', validFrom: '1998-01-01T00:00:00Z' });
    service.now += 2 * DAY;
    await ann.confirm('a');
    expect((await windowOf(service, 'mood'))?.own?.exposureHours).toBe(48);
  },
  'what was learned goes along with an export': async (service) => {
    await changeOften(service, { changes: 31 });
    const ann = service.for('ann');
    await service.for('copy').importNdjson(await ann.exportNdjson());
    expect(await windowOf(service, 'mood', 'copy')).toEqual(await windowOf(service, 'mood'));
  },
  'an erased memory leaves the counts': async (service) => {
    await changeOften(service, { changes: 25 });
    expect((await windowOf(service, 'mood'))?.source).toBe('own');
    const { memories } = await service.for('ann').list({ status: 'closed', limit: 5 });
    for (const { id } of memories) await service.for('ann').erase(id);
    expect(await windowOf(service, 'mood')).toMatchObject({ source: 'table', own: { events: 20 } });
  },
  'one user’s changes of mind move nobody else’s windows': async (service) => {
    await changeOften(service, { user: 'ann' });
    expect(await windowOf(service, 'mood', 'ben')).toBeUndefined();
    await service.for('ben').remember({ content: 'calm', topic: 'mood' });
    expect(await windowOf(service, 'mood', 'ben')).toMatchObject({
      source: 'table',
      own: { events: 0 },
      everyone: null,
    });
  },
  'more than thirty changes are asked whether their rate is constant': async (service) => {
    await changeOften(service, { changes: 31 });
    // Every life lasts the same: as far from a constant rate as can be.
    expect((await windowOf(service, 'mood'))?.own?.weibull).toMatchObject({ better: 'weibull' });
  },
};
