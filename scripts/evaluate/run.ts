import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { readConfig } from '../../src/config.ts';
import { openEmbedder } from '../../src/open.ts';
import { measureLearned } from './learned.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { measure, type Part } from './part.ts';
import { openParts } from './part-files.ts';
import { plansOf, type SetPlans, wantsLearned } from './plans.ts';
import { writeReport } from './report.ts';
import { createVectors, type Progress } from './vectors.ts';

/** `npm run evaluate`: plays the sets, measures every method, and writes JSON, tables and plots. */

/** Made-up people that learned windows are measured on. */
const PEOPLE = 400;

async function main(): Promise<void> {
  const asked = askedOrExit();
  if (asked === null) {
    process.stdout.write(USAGE);
    return;
  }
  const { options, sets } = asked;
  const started = performance.now();
  const config = readConfig();
  const real = openEmbedder(config);
  const model = await real.model();
  const vectors = createVectors(real);
  const files = openParts(config.cache, options.resume, [model.name, model.hash ?? '', String(options.seed)]);
  const parts: Part[] = [];
  for (const { name, key, plans, missing } of sets) {
    if (missing !== null) {
      note(`${name}: skipped, ${missing}`);
      continue;
    }
    for (const plan of plans()) {
      const label = `${plan.set} ${plan.variant} ${plan.mode}`;
      const done = files.read(label, key());
      if (done === null) {
        await vectors.prepare(plan.stores.flat(), progressOf(label));
        const part = await measure(plan, vectors, options.seed, progressOf(label));
        files.write(label, key(), part);
        parts.push(part);
      } else parts.push(done);
      note(`${label}: ${done === null ? 'measured' : 'resumed'} after ${seconds(started)}`);
    }
  }
  await real.close();
  const learned = wantsLearned(options) ? measureLearned(PEOPLE, options.seed) : null;
  if (learned !== null) note(`learned: measured after ${seconds(started)}`);
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const run = { version, node: process.version, store: 'embedded', dialect: null, model: model.name };
  const whole = options.sets === null && sets.every(({ missing }) => missing === null);
  const out = options.out ?? (whole ? null : join(config.cache, 'evaluation', 'report'));
  const { files: written, broken, json } = writeReport(parts, learned, { ...run, seed: options.seed }, out);
  for (const file of written) note(`wrote ${file}`);
  for (const gate of broken) note(`does not hold: ${gate}`);
  note(`done after ${seconds(started)}`);
  if (options.json) process.stdout.write(json);
}

/** Wrong use is told in one line, with exit code 2. */
function askedOrExit(): { options: Options; sets: SetPlans[] } | null {
  try {
    const options = parseOptions(process.argv.slice(2));
    return options && { options, sets: plansOf(options) };
  } catch (error) {
    note(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}

const note = (line: string): void => void process.stderr.write(`${line}\n`);
const seconds = (started: number): string => `${((performance.now() - started) / 1000).toFixed(0)} s`;

/** A line every few seconds, so that a log shows the run is alive. */
function progressOf(label: string): Progress {
  let last = performance.now();
  return (what, done, total) => {
    if (performance.now() - last < 5000) return;
    last = performance.now();
    note(`${label}: ${what} ${done} of ${total}`);
  };
}

main().catch((error: unknown) => {
  note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});
