import { accessSync, constants, statSync } from 'node:fs';
import { SupersededError } from '../errors.ts';
import type { Check } from '../store.ts';
import type { Database } from './embedded-database.ts';
import { numberOf, textOf } from './embedded-database.ts';

/** What `doctor` examines of a libSQL file. */
export const embeddedChecks = (open: () => Promise<Database>): Check[] => [
  {
    title: 'database',
    async run() {
      const { file } = await open();
      accessSync(file, constants.W_OK);
      return `${file}, ${(statSync(file).size / 1024 / 1024).toFixed(1)} MB`;
    },
  },
  {
    title: 'schema',
    async run() {
      const database = await open();
      const [result] = await database.read([
        {
          sql: 'SELECT (SELECT user_version FROM pragma_user_version) AS version, COUNT(*) AS memories FROM memories',
          args: [],
        },
      ]);
      const row = result?.rows[0];
      return row ? `version ${numberOf(row, 'version')}, ${numberOf(row, 'memories')} memories` : 'empty';
    },
  },
  {
    title: 'integrity',
    async run() {
      const database = await open();
      const result = await database.run('PRAGMA quick_check');
      const found = result.rows.map((row) => textOf(row, 'quick_check'));
      if (found[0] === 'ok') return 'every page can be read';
      throw new SupersededError(
        'STORE_FAILED',
        `The database ${database.file} is damaged: ${found[0] ?? 'no answer'}.`,
        {
          hint: 'Restore it from a backup, or `superseded export` what can be read and import it into a new file.',
        },
      );
    },
  },
];
