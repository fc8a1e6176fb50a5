import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { EmbeddingModel } from './embedder.ts';

/** How far a model's cosines lie from the calibration it is used with, measured on a few sentences of everyday life. */

const probe = z.array(z.strictObject({ question: z.string(), answer: z.string(), again: z.string() }));
export type Probe = z.output<typeof probe>[number];

export const readProbes = (file: string): Probe[] => probe.parse(JSON.parse(readFileSync(file, 'utf8')));

export interface Measured {
  /** Mean cosine of a question and a memory that does not answer it: what lo should be. */
  background: number;
  /** Highest cosine of a question and its answer: what hi should be. */
  answer: number;
  /** Lowest cosine of two wordings of one memory, and highest of two unrelated memories: what nearDuplicate parts. */
  duplicate: number;
  unrelated: number;
}

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

/** Takes the vectors of the probes' questions, answers and second wordings, in the order of the probes. */
export function measure(questions: Float32Array[], answers: Float32Array[], again: Float32Array[]): Measured {
  const background: number[] = [];
  const unrelated: number[] = [];
  const matching: number[] = [];
  const duplicates: number[] = [];
  for (const [i, question] of questions.entries()) {
    for (const [j, answer] of answers.entries()) {
      if (i === j) {
        matching.push(dot(question, answer));
        duplicates.push(dot(answer, again[i] ?? answer));
      } else {
        background.push(dot(question, answer));
        unrelated.push(dot(answers[i] ?? answer, answer));
      }
    }
  }
  return {
    background: background.reduce((sum, value) => sum + value, 0) / background.length,
    answer: Math.max(...matching),
    duplicate: Math.min(...duplicates),
    unrelated: Math.max(...unrelated),
  };
}

/** How far lo and hi may lie from what is measured on so few sentences. */
const TOLERANCE = 0.05;

/** What to set, where the calibration does not fit; empty where it does. */
export function adviceOn(measured: Measured, { lo, hi, nearDuplicate }: EmbeddingModel): string[] {
  const advice: string[] = [];
  const set = (name: string, value: number) => advice.push(`${name}=${value.toFixed(2)}`);
  if (Math.abs(measured.background - lo) > TOLERANCE) set('EMBEDDINGS_LO', measured.background);
  if (Math.abs(measured.answer - hi) > TOLERANCE) set('EMBEDDINGS_HI', measured.answer);
  if (measured.duplicate < nearDuplicate || measured.unrelated >= nearDuplicate) {
    set('EMBEDDINGS_NEAR_DUPLICATE', (measured.duplicate + measured.unrelated) / 2);
  }
  return advice;
}
