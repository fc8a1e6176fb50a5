import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Embedder, EmbeddingModel } from '../../src/embedder.ts';
import { passageOf } from '../../src/memory.ts';
import { randomNumbers } from '../evaluate/bootstrap.ts';
import { type Asked, type Life, readLocomo, readStateBench } from '../evaluate/datasets.ts';
import { SUPERSESSION_TRACKS } from '../evaluate/summary.ts';
import type { Vectors } from '../evaluate/vectors.ts';

/** What every tool is given: the same texts, questions and vectors, as files that Node and Python read. */
export interface Material {
  model: EmbeddingModel;
  /** For speed: one user's memories, and questions. */
  texts: string[];
  questions: string[];
  /** For quality: lives with dated memories and dated questions. */
  lives: { user: string; entries: { id: string; text: string; at: number }[]; questions: Asked[] }[];
  /** Texts by their place in the file of vectors: passages first, then questions. */
  passageKeys: string[];
  questionKeys: string[];
}

const SPEED_QUESTIONS = 200;
/** Length of the noise added to a vector that is used again, so that no two are equal. */
const NOISE = 0.15;

/** Writes `material.json` and `vectors.f32`; texts beyond the data's own are repeats with a number and a shaken vector. */
export async function writeMaterial(data: string, folder: string, size: number, vectors: Vectors): Promise<void> {
  const statebench = readStateBench(join(data, 'statebench/dev.jsonl'), 720);
  const locomoFile = join(data, 'locomo/tune.json');
  const locomo = existsSync(locomoFile) ? readLocomo(locomoFile) : [];
  await vectors.prepare([...statebench, ...locomo], (what, done, total) =>
    process.stderr.write(done === total ? `${what}: ${total}\n` : ''),
  );
  const lives = statebench
    .filter(({ questions }) => questions.some(({ track }) => SUPERSESSION_TRACKS.includes(track)))
    .map(({ user, entries, questions }) => ({
      ...{ user, questions },
      entries: entries.map((entry) => ({ id: entry.id, text: passageOf(entry), at: entry.at })),
    }));
  const { texts, made } = speedTexts([...locomo, ...statebench], size, vectors);
  const asked = [...locomo, ...statebench].flatMap(({ questions }) => questions.map(({ question }) => question));
  const questions = [...new Set(asked)].slice(0, SPEED_QUESTIONS);
  const quality = [...new Set(lives.flatMap(({ entries }) => entries.map(({ text }) => text)))].filter(
    (t) => !made.has(t),
  );
  const passageKeys = [...made.keys(), ...quality];
  const questionKeys = [...new Set([...questions, ...lives.flatMap((life) => life.questions.map((q) => q.question))])];
  const all = [
    ...passageKeys.map((text) => made.get(text) ?? vectors.passage(text)),
    ...questionKeys.map((text) => vectors.query(text)),
  ];
  const material: Material = {
    ...{ model: await vectors.embedder.model(), texts, questions, lives, passageKeys, questionKeys },
  };
  writeFileSync(join(folder, 'material.json'), JSON.stringify(material));
  writeFileSync(
    join(folder, 'vectors.f32'),
    Buffer.concat(all.map((one) => Buffer.from(one.buffer, one.byteOffset, one.byteLength))),
  );
}

function speedTexts(lives: readonly Life[], size: number, vectors: Vectors) {
  const own = [...new Set(lives.flatMap(({ entries }) => entries.map(passageOf)))];
  const random = randomNumbers(1);
  const made = new Map<string, Float32Array>();
  for (let index = 0; made.size < size; index++) {
    const text = own[index % own.length] ?? '';
    const vector = vectors.passage(text);
    if (index < own.length) made.set(text, vector);
    else made.set(`${text} (${Math.floor(index / own.length)})`, shaken(vector, random));
  }
  return { texts: [...made.keys()], made };
}

function shaken(vector: Float32Array, random: () => number): Float32Array {
  const scale = NOISE * Math.sqrt(12 / vector.length);
  const moved = vector.map((value) => value + (random() - 0.5) * scale);
  const length = Math.hypot(...moved);
  return moved.map((value) => value / length);
}

/** Mastra collapses white space before it embeds. */
const spaced = (text: string): string => text.replace(/\s+/g, ' ').trim();

export interface Loaded extends Material {
  embedder: Embedder;
}

/** Reads the material; its embedder looks vectors up. */
export function readMaterial(folder: string): Loaded {
  const material = JSON.parse(readFileSync(join(folder, 'material.json'), 'utf8')) as Material;
  const bytes = readFileSync(join(folder, 'vectors.f32'));
  const { dimensions } = material.model;
  const at = (index: number): Float32Array =>
    new Float32Array(bytes.buffer, bytes.byteOffset + 4 * dimensions * index, dimensions);
  const passages = new Map(material.passageKeys.map((text, index) => [spaced(text), index]));
  const questions = new Map(
    material.questionKeys.map((text, index) => [spaced(text), material.passageKeys.length + index]),
  );
  const find = (from: Map<string, number>, text: string): Float32Array => {
    const index = from.get(spaced(text));
    if (index === undefined) throw new Error(`The material has no vector of "${text.slice(0, 60)}".`);
    return at(index);
  };
  return {
    ...material,
    embedder: {
      model: async () => material.model,
      embedQuery: async (text) => find(questions, text),
      embedPassages: async (texts) => texts.map((text) => find(passages, text)),
      forget: async () => {},
      close: async () => {},
    },
  };
}
