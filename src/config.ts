import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'dotenv';
import envPaths from 'env-paths';
import { z } from 'zod';
import { type Issue, SupersededError } from './errors.ts';
import { topic, user } from './fields.ts';
import { LEARN_FROM, MOST_PINNED, type WindowPolicy } from './learned-windows.ts';

/** The only reader of the environment: every setting, its default, and every problem at once. */

export interface Config {
  /** The embedded store's file; absolute. */
  db: string;
  /** Folder for cached vectors; absolute. */
  cache: string;
  host: string;
  port: number;
  /** Bearer tokens and the user each stands for. */
  tokens: readonly { token: string; user: string; admin: boolean }[];
  /** Requests a minute and token; 0 is no limit. */
  rateLimit: number;
  /** New memories with an admission score below this are held for review; null lets everything in. */
  admission: number | null;
  /** How ageing windows are learned, and which are not. */
  windows: WindowPolicy;
  /** Whether callers may set the clock. */
  replay: boolean;
  elasticsearch: ElasticsearchConfig | null;
  embeddings: EmbeddingsConfig | null;
  /** The cosines that count as 0 and 1, and as a near-duplicate, where the model's own do not fit. */
  calibration: { lo: number | null; hi: number | null; nearDuplicate: number | null };
  openRouter: { apiKey: string | null; model: string; baseUrl: string | null };
  colour: boolean | null;
}

export interface ElasticsearchConfig {
  url: string | null;
  cloudId: string | null;
  apiKey: string | null;
  username: string | null;
  password: string | null;
  caFile: string | null;
  index: string;
  /** The endpoint that embeds on the server; null embeds here and stores dense vectors. */
  inferenceId: string | null;
}

export interface EmbeddingsConfig {
  url: string;
  model: string;
  apiKey: string | null;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const paths = envPaths('superseded', { suffix: '' });

const optional = z
  .string()
  .optional()
  .transform((value) => (value === undefined || value.trim() === '' ? null : value.trim()));
const withDefault = (fallback: string) => optional.transform((value) => value ?? fallback);
const url = optional.refine(
  (value) => value === null || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)),
  'is not an http or https address, such as http://127.0.0.1:9200',
);
const whole = (fallback: number, max: number) =>
  withDefault(String(fallback))
    .refine((value) => /^\d+$/.test(value) && Number(value) <= max, `is not a whole number from 0 to ${max}`)
    .transform(Number);
const cosine = optional
  .refine((value) => value === null || (Number(value) >= -1 && Number(value) <= 1), 'is not a number from -1 to 1')
  .transform((value) => (value === null ? null : Number(value)));
const share = optional
  .refine((value) => value === null || (Number(value) >= 0 && Number(value) <= 1), 'is not a number from 0 to 1')
  .transform((value) => (value === null ? null : Number(value)));
const flag = withDefault('0')
  .refine((value) => ['0', '1', 'true', 'false'].includes(value), 'is neither 0 nor 1')
  .transform((value) => value === '1' || value === 'true');

const tokens = optional.transform((value, context) => {
  const pairs: { token: string; user: string }[] = [];
  for (const [index, pair] of (value ?? '').split(',').entries()) {
    if (pair.trim() === '') continue;
    const colon = pair.lastIndexOf(':');
    const token = pair.slice(0, colon).trim();
    const name = user.safeParse(pair.slice(colon + 1).trim());
    if (colon < 1 || token === '' || !name.success) {
      const message = `entry ${index + 1} is not token:user (the user has 1 to 64 of the characters A–Z a–z 0–9 . _ @ -)`;
      context.addIssue({ code: 'custom', message });
      continue;
    }
    pairs.push({ token, user: name.data });
  }
  return pairs;
});

/** `topic` keeps the table's window, `topic=720` gets one of 720 hours, `topic=never` does not age. */
const pinned = optional.transform((value, context) => {
  const windows = new Map<string, number | null | 'table'>();
  const entries = (value ?? '').split(',').map((entry) => entry.trim());
  const named = entries.filter((entry) => entry !== '').length;
  if (named > MOST_PINNED) context.addIssue({ code: 'custom', message: `has more than ${MOST_PINNED} entries` });
  for (const [index, entry] of entries.entries()) {
    if (entry === '') continue;
    const [, name = '', given] = /^(?!\d+$)([^=\s]+)(?:\s*=\s*(never|\d{1,6}(?:\.\d{1,3})?))?$/.exec(entry) ?? [];
    const hours = given === undefined ? 'table' : given === 'never' ? null : Number(given);
    if (windows.has(name)) context.addIssue({ code: 'custom', message: `entry ${index + 1} names a topic twice` });
    else if (topic.safeParse(name).success && (typeof hours !== 'number' || hours >= 1)) windows.set(name, hours);
    else {
      const message = `entry ${index + 1} is not topic, topic=HOURS (from 1) or topic=never`;
      context.addIssue({ code: 'custom', message });
    }
  }
  return windows;
});

const environment = z.object({
  SUPERSEDED_DB: withDefault(join(paths.data, 'memories.db')),
  SUPERSEDED_CACHE: withDefault(paths.cache),
  SUPERSEDED_HOST: withDefault('127.0.0.1'),
  PORT: whole(4111, 65535),
  SUPERSEDED_TOKENS: tokens,
  SUPERSEDED_ADMIN_TOKENS: tokens,
  SUPERSEDED_RATE_LIMIT: whole(600, 1_000_000),
  SUPERSEDED_ADMISSION: share,
  SUPERSEDED_LEARN_WINDOWS: withDefault('own').pipe(
    z.enum(LEARN_FROM, { error: `is none of ${LEARN_FROM.join(', ')}` }),
  ),
  SUPERSEDED_PINNED_WINDOWS: pinned,
  SUPERSEDED_REPLAY: flag,
  ELASTICSEARCH_URL: url,
  ELASTICSEARCH_CLOUD_ID: optional,
  ELASTICSEARCH_API_KEY: optional,
  ELASTICSEARCH_USERNAME: optional,
  ELASTICSEARCH_PASSWORD: optional,
  ELASTICSEARCH_CA_FILE: optional.refine(
    (value) => value === null || existsSync(value),
    'names a file that is not there',
  ),
  ELASTICSEARCH_INDEX: withDefault('superseded-memories').refine(
    (value) => /^[a-z0-9][a-z0-9._-]{0,199}$/.test(value),
    'is not an index name: use lower-case letters, digits, . _ and -',
  ),
  ELASTICSEARCH_INFERENCE_ID: optional,
  EMBEDDINGS_URL: url,
  EMBEDDINGS_MODEL: optional,
  EMBEDDINGS_API_KEY: optional,
  EMBEDDINGS_LO: cosine,
  EMBEDDINGS_HI: cosine,
  EMBEDDINGS_NEAR_DUPLICATE: cosine,
  OPENROUTER_API_KEY: optional,
  OPENROUTER_MODEL: withDefault('openai/gpt-5-mini'),
  OPENROUTER_BASE_URL: url,
  NO_COLOR: optional,
  FORCE_COLOR: optional,
});

/** Settings that only make sense together. */
function together(env: z.infer<typeof environment>): Issue[] {
  const issues: Issue[] = [];
  const need = (given: string, when: unknown, wanted: string, there: unknown) => {
    if (when && !there) issues.push({ path: wanted, message: `is missing, and ${given} is set: set both or neither` });
  };
  need('ELASTICSEARCH_USERNAME', env.ELASTICSEARCH_USERNAME, 'ELASTICSEARCH_PASSWORD', env.ELASTICSEARCH_PASSWORD);
  need('ELASTICSEARCH_PASSWORD', env.ELASTICSEARCH_PASSWORD, 'ELASTICSEARCH_USERNAME', env.ELASTICSEARCH_USERNAME);
  need('EMBEDDINGS_URL', env.EMBEDDINGS_URL, 'EMBEDDINGS_MODEL', env.EMBEDDINGS_MODEL);
  need('EMBEDDINGS_MODEL', env.EMBEDDINGS_MODEL, 'EMBEDDINGS_URL', env.EMBEDDINGS_URL);
  if (env.ELASTICSEARCH_URL && env.ELASTICSEARCH_CLOUD_ID) {
    issues.push({ path: 'ELASTICSEARCH_CLOUD_ID', message: 'and ELASTICSEARCH_URL are both set: keep one' });
  }
  if (env.EMBEDDINGS_LO !== null && env.EMBEDDINGS_HI !== null && env.EMBEDDINGS_LO >= env.EMBEDDINGS_HI) {
    issues.push({ path: 'EMBEDDINGS_LO', message: 'is not below EMBEDDINGS_HI: swap or correct them' });
  }
  if (env.ELASTICSEARCH_API_KEY && env.ELASTICSEARCH_USERNAME) {
    issues.push({ path: 'ELASTICSEARCH_API_KEY', message: 'and ELASTICSEARCH_USERNAME are both set: keep one' });
  }
  if (env.ELASTICSEARCH_INFERENCE_ID && env.EMBEDDINGS_URL) {
    issues.push({ path: 'ELASTICSEARCH_INFERENCE_ID', message: 'and EMBEDDINGS_URL are both set: keep one' });
  }
  const seen = new Set<string>();
  for (const { token } of [...env.SUPERSEDED_TOKENS, ...env.SUPERSEDED_ADMIN_TOKENS]) {
    if (seen.has(token))
      issues.push({ path: 'SUPERSEDED_TOKENS', message: 'holds one token twice: give each user their own' });
    seen.add(token);
  }
  return issues;
}

/** Reads and checks all settings. Throws CONFIGURATION with every problem found; the message holds no value. */
export function readConfig(env: Environment = process.env, envFile = '.env'): Config {
  const file = existsSync(envFile) ? parse(readFileSync(envFile)) : {};
  const parsed = environment.safeParse({ ...file, ...env });
  const issues: Issue[] = parsed.success
    ? together(parsed.data)
    : parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  if (!parsed.success || issues.length > 0) {
    const list = issues.map((issue) => `${issue.path} ${issue.message}`).join('; ');
    throw new SupersededError('CONFIGURATION', `The configuration has a problem: ${list}.`, {
      hint: 'Correct the variable in the environment or in .env; .env.example lists them all.',
      issues,
    });
  }
  return toConfig(parsed.data);
}

function toConfig(env: z.infer<typeof environment>): Config {
  const onElasticsearch = env.ELASTICSEARCH_URL !== null || env.ELASTICSEARCH_CLOUD_ID !== null;
  return Object.freeze({
    db: resolve(env.SUPERSEDED_DB),
    cache: resolve(env.SUPERSEDED_CACHE),
    host: env.SUPERSEDED_HOST,
    port: env.PORT,
    tokens: [
      ...env.SUPERSEDED_TOKENS.map((pair) => ({ ...pair, admin: false })),
      ...env.SUPERSEDED_ADMIN_TOKENS.map((pair) => ({ ...pair, admin: true })),
    ],
    rateLimit: env.SUPERSEDED_RATE_LIMIT,
    admission: env.SUPERSEDED_ADMISSION,
    windows: { learnFrom: env.SUPERSEDED_LEARN_WINDOWS, pinned: env.SUPERSEDED_PINNED_WINDOWS },
    replay: env.SUPERSEDED_REPLAY,
    elasticsearch: onElasticsearch
      ? {
          url: env.ELASTICSEARCH_URL,
          cloudId: env.ELASTICSEARCH_CLOUD_ID,
          apiKey: env.ELASTICSEARCH_API_KEY,
          username: env.ELASTICSEARCH_USERNAME,
          password: env.ELASTICSEARCH_PASSWORD,
          caFile: env.ELASTICSEARCH_CA_FILE,
          index: env.ELASTICSEARCH_INDEX,
          inferenceId: env.ELASTICSEARCH_INFERENCE_ID,
        }
      : null,
    embeddings:
      env.EMBEDDINGS_URL && env.EMBEDDINGS_MODEL
        ? { url: env.EMBEDDINGS_URL, model: env.EMBEDDINGS_MODEL, apiKey: env.EMBEDDINGS_API_KEY }
        : null,
    calibration: { lo: env.EMBEDDINGS_LO, hi: env.EMBEDDINGS_HI, nearDuplicate: env.EMBEDDINGS_NEAR_DUPLICATE },
    openRouter: { apiKey: env.OPENROUTER_API_KEY, model: env.OPENROUTER_MODEL, baseUrl: env.OPENROUTER_BASE_URL },
    colour: env.NO_COLOR !== null ? false : env.FORCE_COLOR !== null ? env.FORCE_COLOR !== '0' : null,
  });
}

/** Switches off what libraries report about the machine by themselves; the ONNX runtime asks when it is loaded. */
export function silenceTelemetry(env: Record<string, string | undefined> = process.env): void {
  env.ORT_DISABLE_TELEMETRY ??= '1';
}
