import { join } from 'node:path';
import { inject } from 'vitest';
import { newIndex } from '../elasticsearch/stores.ts';
import { serverContract } from './contract.ts';

/** Where there is no node, the global setup has said so aloud. */
const cluster = inject('cluster');
const auth = cluster?.auth;

serverContract('Elasticsearch', {
  skipped: cluster === null,
  store: 'elasticsearch',
  // One thread of JavaScript answers ES|QL there: on a slow machine 200 at once outlast the client's 30 s.
  ...(cluster?.kind === 'jars' ? { recallsAtOnce: 20 } : {}),
  settings: (folder) => ({
    SUPERSEDED_DB: join(folder, 'memories.db'),
    ELASTICSEARCH_URL: cluster?.url ?? '',
    ELASTICSEARCH_INDEX: newIndex(),
    ...(auth && 'apiKey' in auth ? { ELASTICSEARCH_API_KEY: auth.apiKey } : {}),
    ...(auth && 'username' in auth
      ? { ELASTICSEARCH_USERNAME: auth.username, ELASTICSEARCH_PASSWORD: auth.password }
      : {}),
  }),
});
