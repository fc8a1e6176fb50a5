import { SupersededError } from '../errors.ts';
import type { Dialect } from '../recall-query.ts';
import type { Backend } from './elasticsearch-backend.ts';
import { coded, failureOfResponse } from './elasticsearch-errors.ts';
import { numberIn, runEsql } from './elasticsearch-esql.ts';
import { DECAY_PROBE, FUSE_PROBE, type Probe } from './elasticsearch-probes.ts';

/** What the cluster can do, found out by asking it, and the dialect that follows. */

export interface Ability {
  ok: boolean;
  /** Why not, in Elasticsearch's words; null where it can. */
  problem: string | null;
}

export interface Capabilities {
  /** `serverless` has no version of its own. */
  version: string;
  serverless: boolean;
  /** `trial`, `basic`, `enterprise`, …; null where the cluster tells none. */
  licence: string | null;
  fuse: Ability;
  decay: Ability;
  /** The endpoint that embeds; null where the client does. */
  inference: (Ability & { id: string }) | null;
  dialect: Dialect;
  /** Why this dialect, for people. */
  why: string;
}

export type DialectChoice = Dialect | 'auto';

/** Throws UNSUPPORTED where no dialect can run, naming what is missing. */
export async function detect(
  backend: Backend,
  wanted: DialectChoice,
  inferenceId: string | null,
): Promise<Capabilities> {
  const info = await backend.elastic.call('tell its version', (client, call) => client.info({}, call));
  const serverless = info.version.build_flavor === 'serverless';
  const version = serverless ? 'serverless' : info.version.number;
  if (!serverless && !isRecent(version)) {
    throw new SupersededError('UNSUPPORTED', `Elasticsearch ${version} cannot run the recall query.`, {
      hint: 'It needs 9.3 or later, or Serverless (FORK, KNN with a pre-filter). Upgrade, or use the embedded store.',
    });
  }
  await requireEsql(backend);
  const [licence, fuse, decay, inference] = await Promise.all([
    serverless ? null : licenceOf(backend),
    able(backend, FUSE_PROBE),
    able(backend, DECAY_PROBE),
    inferenceId === null ? null : answers(backend, inferenceId),
  ]);
  return { version, serverless, licence, fuse, decay, inference, ...choose(wanted, fuse, decay) };
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 9 || (major === 9 && minor >= 3);
}

function choose(wanted: DialectChoice, fuse: Ability, decay: Ability): Pick<Capabilities, 'dialect' | 'why'> {
  const problems = [fuse.problem && `FUSE: ${fuse.problem}`, decay.problem && `DECAY: ${decay.problem}`].filter(
    Boolean,
  );
  const missing = problems.join('; ');
  if (wanted === 'portable') return { dialect: 'portable', why: 'the portable dialect was asked for' };
  if (missing === '') return { dialect: 'fuse', why: 'the cluster runs FUSE and DECAY' };
  if (wanted === 'auto') return { dialect: 'portable', why: `the cluster does not run FUSE and DECAY (${missing})` };
  throw new SupersededError('UNSUPPORTED', `The fuse dialect was asked for, and cannot run (${missing}).`, {
    hint: 'Use the portable dialect, which gives the same scores, or a trial or Enterprise licence.',
  });
}

/** Null where the cluster has no such API, as a build without licences. */
async function licenceOf(backend: Backend): Promise<string | null> {
  try {
    const { license } = await backend.elastic.attempt((client, call) => client.license.get({}, call));
    return license.status === 'active' ? license.type : `${license.type} (${license.status})`;
  } catch (error) {
    const status = failureOfResponse(error)?.status ?? 0;
    if (status >= 400 && status < 500 && status !== 401) return null;
    throw coded('tell its licence', error);
  }
}

async function able(backend: Backend, probe: Probe): Promise<Ability> {
  try {
    const wrong = await arithmetic(backend, probe);
    return { ok: wrong === null, problem: wrong };
  } catch (error) {
    // A refusal of the query is an answer; anything else, such as no connection, is none.
    if (!(error instanceof SupersededError) || !['UNSUPPORTED', 'STORE_FAILED'].includes(error.code)) throw error;
    return { ok: false, problem: error.message };
  }
}

async function requireEsql(backend: Backend): Promise<void> {
  try {
    await backend.elastic.attempt((client, call) => client.esql.query({ query: 'ROW one = 1 | LIMIT 1' }, call));
  } catch (error) {
    const { status = 0, reason = '' } = failureOfResponse(error) ?? {};
    if (status !== 404 && status !== 405 && !/no handler found/.test(reason)) throw coded('run ES|QL', error);
    throw new SupersededError('UNSUPPORTED', 'This Elasticsearch has no ES|QL: `_query` is not there.', {
      hint: 'Use a distribution with x-pack and ES|QL switched on, or the embedded store.',
    });
  }
}

/** Asks for the known numbers; null where they come back, else what came instead. */
export async function arithmetic(backend: Backend, probe: Probe): Promise<string | null> {
  const records = await runEsql(backend, `run ${probe.name}`, probe.request);
  const got = records.map((record) => numberIn(record, probe.column));
  const same = got.length === probe.expected.length && probe.expected.every((value, at) => near(value, got[at]));
  return same ? null : `expected ${probe.expected.join(', ')}, got ${got.join(', ')}`;
}

const near = (expected: number, got: number | undefined): boolean =>
  got !== undefined && Math.abs(expected - got) < 1e-9;

async function answers(backend: Backend, id: string): Promise<Ability & { id: string }> {
  try {
    await backend.elastic.call(`embed with the endpoint ${id}`, (client, call) =>
      client.inference.textEmbedding({ inference_id: id, input: 'Does this endpoint answer?' }, call),
    );
    return { id, ok: true, problem: null };
  } catch (error) {
    if (!(error instanceof SupersededError)) throw error;
    const hint = 'Check ELASTICSEARCH_INFERENCE_ID, or leave it empty to embed here.';
    return { id, ok: false, problem: `${error.message} ${hint}` };
  }
}
