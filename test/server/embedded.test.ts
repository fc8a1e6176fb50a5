import { join } from 'node:path';
import { serverContract } from './contract.ts';

serverContract('the embedded store', {
  skipped: false,
  store: 'embedded',
  settings: (folder) => ({ SUPERSEDED_DB: join(folder, 'memories.db') }),
});
