import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { SupersededError } from '../src/errors.ts';
import { temporaryFolder } from './temporary.ts';

const NOWHERE = '/nonexistent/.env';

function problems(env: Record<string, string>): SupersededError {
  try {
    readConfig(env, NOWHERE);
  } catch (error) {
    if (error instanceof SupersededError) return error;
  }
  throw new Error('It was accepted.');
}

describe('the configuration', () => {
  it('needs nothing and has the defaults of the contract', () => {
    expect(readConfig({}, NOWHERE)).toMatchObject({
      host: '127.0.0.1',
      port: 4111,
      tokens: [],
      rateLimit: 600,
      replay: false,
      elasticsearch: null,
      embeddings: null,
    });
  });

  it('reads .env, and the environment comes first', () => {
    const file = join(temporaryFolder(), '.env');
    writeFileSync(file, 'PORT=5000\nSUPERSEDED_HOST=0.0.0.0\n');
    expect(readConfig({ PORT: '6000' }, file)).toMatchObject({ port: 6000, host: '0.0.0.0' });
  });

  it('takes several users and admins by token', () => {
    const { tokens } = readConfig(
      { SUPERSEDED_TOKENS: 'one:ann, t:wo:ben@x.org', SUPERSEDED_ADMIN_TOKENS: 'root:ann' },
      NOWHERE,
    );
    expect(tokens).toEqual([
      { token: 'one', user: 'ann', admin: false },
      { token: 't:wo', user: 'ben@x.org', admin: false },
      { token: 'root', user: 'ann', admin: true },
    ]);
  });

  it('takes windows that stay, and whose changes of mind count', () => {
    const pinned = (value: string) => [
      ...readConfig({ SUPERSEDED_PINNED_WINDOWS: value }, NOWHERE).windows.pinned.entries(),
    ];
    expect(readConfig({}, NOWHERE).windows).toEqual({ learnFrom: 'own', pinned: new Map() });
    expect(readConfig({ SUPERSEDED_LEARN_WINDOWS: 'everyone' }, NOWHERE).windows.learnFrom).toBe('everyone');
    expect(pinned(' plan, lodging = 2160 ,pet=never,,mood=0720.5')).toEqual([
      ['plan', 'table'],
      ['lodging', 2160],
      ['pet', null],
      ['mood', 720.5],
    ]);
    for (const wrong of [
      'Plan',
      'plan=',
      'plan=0',
      'plan=0.5',
      'plan=-1',
      'plan=5=6',
      'plan=1e3',
      'plan=Infinity',
      '=5',
    ]) {
      expect(problems({ SUPERSEDED_PINNED_WINDOWS: `ok,${wrong}` }).message).toContain('entry 2 is not topic');
    }
    expect(problems({ SUPERSEDED_LEARN_WINDOWS: 'yes' }).message).toContain('is none of off, own, everyone');
  });

  it('reports every problem at once, by the name of its variable', () => {
    const { issues } = problems({
      PORT: 'http',
      ELASTICSEARCH_URL: 'localhost:9200',
      SUPERSEDED_RATE_LIMIT: '-1',
      SUPERSEDED_TOKENS: 'x',
    });
    expect(issues?.map(({ path }) => path).sort()).toEqual([
      'ELASTICSEARCH_URL',
      'PORT',
      'SUPERSEDED_RATE_LIMIT',
      'SUPERSEDED_TOKENS',
    ]);
  });

  it('never repeats a secret in an error', () => {
    const { message, issues, hint } = problems({
      SUPERSEDED_TOKENS: 'hunter2',
      ELASTICSEARCH_PASSWORD: 'hunter2',
      PORT: 'hunter2',
    });
    expect(JSON.stringify([message, issues, hint])).not.toContain('hunter2');
  });

  it.each([
    [{ ELASTICSEARCH_USERNAME: 'elastic' }, 'ELASTICSEARCH_PASSWORD'],
    [{ EMBEDDINGS_URL: 'http://localhost:1' }, 'EMBEDDINGS_MODEL'],
    [{ ELASTICSEARCH_URL: 'http://a', ELASTICSEARCH_CLOUD_ID: 'b' }, 'ELASTICSEARCH_CLOUD_ID'],
    [{ EMBEDDINGS_LO: '0.9', EMBEDDINGS_HI: '0.8' }, 'EMBEDDINGS_LO'],
    [{ SUPERSEDED_TOKENS: 'a:ann,a:ben' }, 'SUPERSEDED_TOKENS'],
  ])('names what is missing or at odds: %o', (env, path) => {
    expect(problems(env).issues?.map((issue) => issue.path)).toContain(path);
  });
});
