import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** The command line of the evaluation. */
export interface Options {
  data: string | null;
  /** Names of sets; null for all that are there. */
  sets: string[] | null;
  seed: number;
  out: string | null;
  resume: boolean;
  /** The report on standard output too. */
  json: boolean;
  /** Another memories and questions file in the format of `compare`. */
  memories: string | null;
  questions: string | null;
}

export const USAGE = `npm run evaluate -- --data DIR [options]

  --data DIR        folder with statebench/ and locomo/; without it only seeds and learned are measured
  --sets NAMES      of statebench/dev, statebench/train, locomo/tune, seeds, learned, compare (all but
                    statebench/train)
  --memories FILE   with --questions: the set \`compare\`, two files in the format of npx superseded compare
  --questions FILE
  --seed N          of the bootstrap and of sampling (1)
  --out DIR         where JSON, tables and plots go; without it, and with no set chosen or absent,
                    docs/evaluation.md is brought up to date; else they go to the cache folder
  --resume          go on where a stopped run was
  --json            the report as one JSON document on standard output too

Vectors and finished parts are kept in the folder of SUPERSEDED_CACHE.
`;

/** null where help was asked for. */
export function parseOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: 'string' },
      sets: { type: 'string', multiple: true },
      memories: { type: 'string' },
      questions: { type: 'string' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string' },
      resume: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const seed = Number(values.seed);
  if (!Number.isInteger(seed) || seed < 0) throw new Error(`--seed ${values.seed} is not a whole number from 0.`);
  if ((values.memories === undefined) !== (values.questions === undefined))
    throw new Error('--memories and --questions belong together: give both or neither.');
  const path = (value: string | undefined): string | null => (value === undefined ? null : resolve(value));
  return {
    data: path(values.data),
    sets: values.sets?.flatMap((list) => list.split(',').map((name) => name.trim())) ?? null,
    seed,
    out: path(values.out),
    resume: values.resume,
    json: values.json,
    memories: path(values.memories),
    questions: path(values.questions),
  };
}
