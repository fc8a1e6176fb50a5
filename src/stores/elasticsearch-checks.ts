import { randomUUID } from 'node:crypto';
import { PRESETS } from '../aging.ts';
import type { EmbeddingModel } from '../embedder.ts';
import { SupersededError } from '../errors.ts';
import { esql } from '../esql.ts';
import { type MemoryRow, newRow, type Scope } from '../memory.ts';
import type { Dialect } from '../recall-query.ts';
import type { Check, MemoryStore } from '../store.ts';
import type { Backend } from './elasticsearch-backend.ts';
import { arithmetic, type Capabilities } from './elasticsearch-capabilities.ts';
import { numberIn, runEsql } from './elasticsearch-esql.ts';
import { DECAY_PROBE, FUSE_PROBE } from './elasticsearch-probes.ts';
import type { Settled } from './elasticsearch-settling.ts';

/** What `doctor` examines of a cluster, the arithmetic itself included: the proof that needs a live cluster. */

export interface Examination {
  backend: Backend;
  model: () => Promise<EmbeddingModel>;
  setup: () => Promise<void>;
  capabilities: () => Promise<Capabilities>;
  settleAll: () => Promise<Settled>;
  /** Another store on the same cluster, with indices of its own. */
  twin: (index: string, dialect: Dialect) => MemoryStore;
}

export function elasticsearchChecks(examination: Examination): Check[] {
  const { backend, model, setup, capabilities, settleAll } = examination;
  const probed = async (probe: typeof DECAY_PROBE, needed: boolean): Promise<string> => {
    const wrong = await arithmetic(backend, probe);
    if (wrong === null) return `the known numbers: ${probe.expected.join(', ')}`;
    if (!needed) return `not as the product needs it, and not used: ${wrong}`;
    throw new SupersededError('UNSUPPORTED', `${probe.name} reckons differently here: ${wrong}.`, {
      hint: 'Report it with the version of the cluster; the portable dialect does not use it.',
    });
  };
  const usesFuse = async () => (await capabilities()).dialect === 'fuse';
  return [
    { title: 'connection', run: async () => `answers; version ${(await capabilities()).version}` },
    {
      title: 'licence',
      run: async () => {
        const { licence, fuse, serverless } = await capabilities();
        return `${serverless ? 'serverless' : (licence ?? 'none told')}; FUSE ${fuse.ok ? 'allowed' : 'not allowed'}`;
      },
    },
    { title: 'dialect', run: async () => capabilities().then(({ dialect, why }) => `${dialect}: ${why}`) },
    {
      title: 'index',
      run: async () => setup().then(() => `${backend.index} and ${backend.log}, mapping and model as expected`),
    },
    {
      title: 'model',
      run: async () => {
        const { name, dimensions, hash } = await model();
        return `${name}, ${dimensions} dimensions${hash === null ? '' : `, ${hash.slice(0, 12)}`}`;
      },
    },
    {
      title: 'inference endpoint',
      run: async () => {
        const { inference } = await capabilities();
        if (inference === null) return 'none: vectors are made here';
        if (inference.ok) return `${inference.id} answers`;
        throw new SupersededError('UNSUPPORTED', `The endpoint ${inference.id} does not answer.`, {
          hint: inference.problem ?? 'Check ELASTICSEARCH_INFERENCE_ID.',
        });
      },
    },
    {
      title: 'DECAY',
      run: async () => ((await usesFuse()) ? probed(DECAY_PROBE, true) : 'not used by the portable dialect'),
    },
    {
      title: 'FUSE',
      run: async () => ((await usesFuse()) ? probed(FUSE_PROBE, true) : 'not used by the portable dialect'),
    },
    {
      title: 'both dialects',
      run: async () => ((await usesFuse()) ? dialectsAgree(examination) : 'only portable can run here'),
    },
    { title: 'clocks', run: () => clocksAgree(backend) },
    {
      title: 'unfinished writes',
      run: async () => {
        const { finished, undone, busy } = await settleAll();
        return `${finished} finished, ${undone} undone, ${busy} in progress`;
      },
    },
  ];
}

const MOST_APART_MS = 5000;

/** Leases of writers on several machines are told by their own clocks, so each must go with the cluster's. */
async function clocksAgree(backend: Backend): Promise<string> {
  const asked = backend.clock();
  const [answer = {}] = await runEsql(backend, 'tell its clock', esql`ROW clock = TO_LONG(NOW()) | LIMIT 1`);
  const answered = backend.clock();
  const there = numberIn(answer, 'clock');
  // The cluster read its clock at some instant between the two.
  const apart = Math.max(asked - there, there - answered, 0);
  if (apart <= MOST_APART_MS)
    return `this machine and the cluster are less than ${Math.ceil((apart + 1) / 1000)} s apart`;
  const seconds = Math.round(apart / 1000);
  throw new SupersededError('CONFIGURATION', `This machine's clock and the cluster's are ${seconds} s apart.`, {
    hint: 'Synchronise both by NTP: a writer whose clock is off may have its unfinished commits undone by others.',
  });
}

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 2, 1, 9);
const SCOPE: Scope = 'user:doctor';

/** Ranks a few memories in both dialects, over indices made for it and removed again. */
async function dialectsAgree({ backend, model, twin }: Examination): Promise<string> {
  const index = `${backend.index}-doctor-${randomUUID().slice(0, 8)}`;
  const { dimensions, lo, hi } = await model();
  const fuse = twin(index, 'fuse');
  const portable = twin(index, 'portable');
  const vectorOf = (place: number): Float32Array | null =>
    fuse.embeds === 'server'
      ? null
      : Float32Array.from({ length: dimensions }, (_, at) =>
          at === 0 ? Math.cos(place) : at === 1 ? Math.sin(place) : 0,
        );
  try {
    await fuse.setup();
    await fuse.load({
      insert: PROBES.map(([content, topic, age], place) => ({
        row: probeRow(`p${place}`, content, topic, age),
        vector: vectorOf(place / 8),
      })),
    });
    const query = {
      text: 'quiet hotel near the harbour',
      vector: vectorOf(0.05),
      calibration: { lo, hi },
      aging: PRESETS.default,
      limit: 8,
    };
    const filters = { includeHistory: false, strict: false, kinds: [], topics: [], tags: [], asOf: NOW, knownAt: NOW };
    const [a, b] = await Promise.all([fuse, portable].map((store) => store.for(SCOPE).rank({ ...query, ...filters })));
    const print = (ranking: typeof a) =>
      (ranking?.ranked ?? []).map(({ row, score }) => `${row.id} ${score.toFixed(4)}`).join(', ');
    if (print(a) === print(b) && (a?.ranked.length ?? 0) > 0) return `the same scores for ${a?.ranked.length} memories`;
    throw new SupersededError('STORE_FAILED', `The dialects disagree: fuse ${print(a)}; portable ${print(b)}.`, {
      hint: 'Report it with the version of the cluster.',
    });
  } finally {
    await fuse.drop();
    await Promise.all([fuse.close(), portable.close()]);
  }
}

const PROBES: readonly [content: string, topic: string, ageDays: number][] = [
  ['A quiet hotel near the harbour', 'preference', 45],
  ['The harbour ferry leaves hourly', 'fact', 10],
  ['No hotel with carpets: an allergy', 'constraint', 300],
  ['A plan for the harbour on Sunday', 'plan', 30],
  ['The museum café closes at five', 'lodging', 60],
];

const probeRow = (id: string, content: string, topic: string, ageDays: number): MemoryRow =>
  newRow({ id, scope: SCOPE, kind: 'episodic', topic, title: null, content, tags: [] }, NOW - ageDays * DAY);
