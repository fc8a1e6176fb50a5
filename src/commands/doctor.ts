import { readProbes } from '../calibration.ts';
import { type Examined, examine, modelChecks } from '../doctor.ts';
import { projectFile } from '../project-file.ts';
import type { Command, Context } from './command.ts';
import { wrap } from './print.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Check configuration, store, model and arithmetic; every failure comes with a recommendation.',
  arguments: [],
  options: {},
  example: 'npx superseded doctor',
  async run(context) {
    const { config } = context;
    const service = context.open();
    const { store, embedder } = service;
    const where = config.elasticsearch === null ? 'embedded store' : 'Elasticsearch';
    const configuration = { title: 'configuration', run: async () => `no problem found; ${where}` };
    const probes = readProbes(projectFile('seeds/calibration.json'));
    const checks = [configuration, ...store.checks(), ...modelChecks(store, embedder, probes)];
    const examined = await examine(checks);
    const failed = examined.filter(({ ok }) => !ok).length;
    return {
      json: { store: store.name, ok: failed === 0, checks: examined },
      text: () => describe(context, examined, failed),
      exitCode: failed === 0 ? 0 : 1,
    };
  },
};

function describe({ print: { colour } }: Context, examined: readonly Examined[], failed: number): string {
  const width = Math.max(...examined.map(({ title }) => title.length));
  const lines = examined.flatMap(({ title, ok, note, advice }) => {
    const [first = '', ...rest] = wrap(note, 94 - width);
    const more = [...rest, ...(advice === null ? [] : wrap(`→ ${advice}`, 94 - width))];
    const indent = ' '.repeat(width + 6);
    return [
      `${ok ? colour.green('ok  ') : colour.red('FAIL')}  ${title.padEnd(width)}  ${first}`,
      ...more.map((line) => `  ${indent}${line}`),
    ];
  });
  const end =
    failed === 0
      ? colour.green('Everything is in order.')
      : colour.red(`${failed} of ${examined.length} checks failed.`);
  return [...lines, '', end].join('\n');
}
