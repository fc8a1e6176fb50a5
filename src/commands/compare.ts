import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PRESET_NAMES, type Preset } from '../aging.ts';
import { type Comparison, compare } from '../comparison.ts';
import { SupersededError } from '../errors.ts';
import { limit as limitSchema } from '../fields.ts';
import { projectFile } from '../project-file.ts';
import { DEFAULT_LIMIT } from '../recall.ts';
import { type Question, readMemories, readQuestions, type SeedMemory, seed } from '../seeds.ts';
import type { Superseded } from '../superseded.ts';
import { check } from '../validation.ts';
import { type Command, type Context, listOption, numberOption, textOption } from './command.ts';
import { type Compared, describeComparison } from './compare-report.ts';

export const compareCommand: Command = {
  name: 'compare',
  summary: 'Seed a throw-away store and watch outdated memories win without ageing and lose with it.',
  arguments: [],
  options: {
    memories: { type: 'string', value: 'FILE', description: 'another file than seeds/memories.json' },
    questions: { type: 'string', value: 'FILE', description: 'another file than seeds/questions.json' },
    preset: { type: 'string', value: 'NAME', multiple: true, description: `only these: ${PRESET_NAMES.join(', ')}` },
    limit: { type: 'string', value: 'N', description: `hits of a question, 1 to 100 (${DEFAULT_LIMIT})` },
  },
  example: 'npx superseded compare --preset flat --preset default',
  async run(context) {
    const presets = presetsOf(context);
    const limit = check(limitSchema(DEFAULT_LIMIT), numberOption(context, 'limit'), '--limit');
    const memories = readMemories(textOption(context, 'memories') ?? projectFile('seeds/memories.json'));
    const questions = readQuestions(textOption(context, 'questions') ?? projectFile('seeds/questions.json'), memories);
    const inputs = { presets, limit, memories, questions };
    if (textOption(context, 'db') !== undefined) return seedAndCompare(context, context.open(), inputs);
    const folder = mkdtempSync(join(tmpdir(), 'superseded-'));
    try {
      const name = `compare-${randomUUID().slice(0, 8)}`;
      const service = context.open({ file: join(folder, 'compare.db'), name });
      try {
        return await seedAndCompare(context, service, inputs);
      } finally {
        await service.store.drop();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function presetsOf(context: Context): readonly Preset[] {
  const names = listOption(context, 'preset') ?? ['flat', 'single-window', 'default'];
  return names.map((name) => {
    const preset = PRESET_NAMES.find((known) => known === name);
    if (preset) return preset;
    throw new SupersededError('INVALID_INPUT', `--preset ${name} is not a preset: use ${PRESET_NAMES.join(', ')}.`);
  });
}

interface Inputs {
  presets: readonly Preset[];
  limit: number;
  memories: readonly SeedMemory[];
  questions: readonly Question[];
}

async function seedAndCompare(context: Context, service: Superseded, inputs: Inputs) {
  const { now, print } = context;
  const { store, ...actor } = await service.actor('shared', context.user, 'cli');
  await seed(service.store, { ...actor, clock: () => now }, inputs.memories, print.progress('Embedding'));
  const comparison: Comparison = await compare(service, inputs.questions, {
    presets: inputs.presets,
    limit: inputs.limit,
    now,
    onProgress: print.progress('Asking'),
  });
  const compared: Compared = {
    now: new Date(now).toISOString(),
    store: service.store.name,
    model: actor.model.name,
    presets: comparison.presets,
  };
  return { json: compared, text: () => describeComparison(compared, comparison, inputs, print.colour) };
}
