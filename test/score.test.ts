import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_AGING, PRESETS, windowOf } from '../src/aging.ts';
import {
  ageWeightOf,
  cosineScoreOf,
  lexicalOf,
  MS_PER_HOUR,
  relevanceOf,
  scoreOf,
  semanticOf,
  trustOf,
} from '../src/score.ts';

const topics = fc.constantFrom('preference', 'plan', 'event', 'constraint', 'lodging');
const hours = fc.double({ min: 0, max: 200_000, noNaN: true });
const now = Date.parse('2026-03-01T09:00:00Z');
const aged = (topic: string, age: number) => ageWeightOf(DEFAULT_AGING, topic, now - age * MS_PER_HOUR, now);

interface DecayCase {
  id: string;
  value_type: string;
  value: string;
  origin: string;
  scale: string;
  options: { type?: string; decay?: number; offset?: string } | null;
  expected: number;
  tolerance: number;
}
const golden: { decay: DecayCase[] } = JSON.parse(
  readFileSync(new URL('golden/esql-cases.json', import.meta.url), 'utf8'),
);
/** Exponential decay over dates, not after the origin, halving at the scale: the form the product uses. */
const exponential = golden.decay.filter(
  ({ value_type, options, value, origin }) =>
    value_type === 'date' && options?.type === 'exp' && !options.offset && !options.decay && value <= origin,
);

describe('the age weight', () => {
  it.each(exponential)(
    'equals Elasticsearch’s exponential DECAY over dates: $id',
    ({ value, origin, scale, expected, tolerance }) => {
      const halfLifeHours = Number(scale.replace(' hours', ''));
      const table = { windows: [], otherwise: { halfLifeHours, floor: 0 } };
      const weight = ageWeightOf(table, 'any', Date.parse(value), Date.parse(origin));
      expect(Math.abs(weight - expected)).toBeLessThanOrEqual(tolerance);
    },
  );

  it('covers at least five golden cases', () => {
    expect(exponential.length).toBeGreaterThanOrEqual(5);
  });

  it('never rises with age and stays between the floor and 1', () => {
    fc.assert(
      fc.property(topics, hours, hours, (topic, a, b) => {
        const [younger, older] = [aged(topic, Math.min(a, b)), aged(topic, Math.max(a, b))];
        expect(older).toBeLessThanOrEqual(younger);
        expect(older).toBeGreaterThanOrEqual(windowOf(DEFAULT_AGING, topic).floor);
        expect(younger).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('is 1 for a memory that is fresh only later', () => {
    fc.assert(
      fc.property(topics, hours, (topic, ahead) => {
        expect(aged(topic, -ahead)).toBe(1);
      }),
    );
  });

  it('is halfway to the floor after one half-life', () => {
    expect(aged('preference', 1080)).toBeCloseTo(0.625, 12);
    expect(ageWeightOf(PRESETS['single-window'], 'preference', now - 1080 * MS_PER_HOUR, now)).toBe(0.5);
  });

  it('is 1 at any age for constraints and landmarks, and for everything under the flat preset', () => {
    expect(aged('constraint', 100_000)).toBe(1);
    fc.assert(
      fc.property(topics, hours, (topic, age) => {
        expect(ageWeightOf(PRESETS.flat, topic, now - age, now)).toBe(1);
      }),
    );
  });
});

describe('the score', () => {
  it('is between 0 and 1 and the product of its parts', () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    const row = fc.record({
      confidence: unit,
      feedbackCount: fc.integer({ min: 0, max: 50 }),
      mean: fc.double({ min: -1, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 200, noNaN: true }),
        fc.double({ min: -1, max: 1, noNaN: true }),
        row,
        topics,
        hours,
        (bm25, cosine, facts, topic, age) => {
          const { confidence, feedbackCount, mean } = facts;
          const trust = trustOf({ confidence, feedbackCount, feedbackSum: mean * feedbackCount });
          const relevance = relevanceOf(lexicalOf(bm25), semanticOf(cosineScoreOf(cosine), { lo: 0.73, hi: 0.88 }));
          const score = scoreOf({ relevance, ageWeight: aged(topic, age), trust });
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1);
          expect(trust).toBeLessThanOrEqual(1);
          expect(trust).toBeGreaterThan(0);
        },
      ),
    );
  });

  it('never rises above full trust through good feedback', () => {
    expect(trustOf({ confidence: 1, feedbackSum: 50, feedbackCount: 50 })).toBe(1);
  });

  it('stretches the model’s useful cosines over 0 to 1', () => {
    const calibration = { lo: 0.73, hi: 0.88 };
    expect(semanticOf(cosineScoreOf(0.5), calibration)).toBe(0);
    expect(semanticOf(cosineScoreOf(0.95), calibration)).toBe(1);
    expect(semanticOf(cosineScoreOf(0.805), calibration)).toBeCloseTo(0.5, 6);
  });
});
