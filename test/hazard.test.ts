import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawsOf, recover } from '../scripts/evaluate/population.ts';
import { compareShapes, EVENTS_FOR_SHAPE, estimate, type Observation } from '../src/hazard.ts';

const exposure = fc.record({
  events: fc.integer({ min: 1, max: 500 }),
  exposureHours: fc.double({ min: 0, max: 1e7, noNaN: true }),
});
const prior = fc.double({ min: 1, max: 1e5, noNaN: true });

/** Lives with a Weibull hazard, half of them or so still open. */
function weibullLives(count: number, shape: number, scale: number, seed: number): Observation[] {
  const draws = drawsOf(seed);
  return Array.from({ length: count }, () => {
    const hours = scale * draws.exponential(1) ** (1 / shape);
    const watched = 2 * scale * draws.uniform();
    return { hours: Math.min(hours, watched), changed: hours < watched };
  });
}

describe('the half-life learned from changes and exposure', () => {
  it('is the prior’s with nothing seen', () => {
    fc.assert(
      fc.property(prior, (hours) => {
        const learned = estimate({ events: 0, exposureHours: 0 }, hours);
        expect(learned.halfLifeHours).toBeCloseTo(hours, 6);
        expect(learned.highHours / learned.lowHours).toBeGreaterThan(1000);
        expect(learned.priorShare).toBe(1);
      }),
    );
  });

  it('is ln 2 over the mean rate of Gamma(0.1 + n, 0.1 · prior / ln 2 + T), its ends the quantiles of that Gamma', () => {
    // Quantiles of Gamma(49.5, 1) at 5 % and 95 %: half of those of χ² with 99 degrees of freedom, 77.0463 and 123.2252.
    const learned = estimate({ events: 49.4, exposureHours: 100_000 }, 1000);
    const exposure = 100 / Math.LN2 + 100_000;
    expect(learned.halfLifeHours).toBeCloseTo((Math.LN2 * exposure) / 49.5, 6);
    expect(learned.lowHours).toBeCloseTo((Math.LN2 * exposure) / (123.2252 / 2), 1);
    expect(learned.highHours).toBeCloseTo((Math.LN2 * exposure) / (77.0463 / 2), 1);
    expect(learned.priorShare).toBeCloseTo(100 / Math.LN2 / exposure, 9);
  });

  it('lies within its interval, shortens with changes and lengthens with exposure', () => {
    fc.assert(
      fc.property(exposure, prior, (seen, hours) => {
        const learned = estimate(seen, hours);
        expect(learned.lowHours).toBeLessThan(learned.halfLifeHours);
        expect(learned.halfLifeHours).toBeLessThan(learned.highHours);
        const more = estimate({ ...seen, events: seen.events + 1 }, hours);
        expect(more.halfLifeHours).toBeLessThan(learned.halfLifeHours);
        const longer = estimate({ ...seen, exposureHours: seen.exposureHours + 100 }, hours);
        expect(longer.halfLifeHours).toBeGreaterThan(learned.halfLifeHours);
      }),
    );
  });

  it('does not depend on the unit of time', () => {
    fc.assert(
      fc.property(exposure, prior, fc.double({ min: 0.01, max: 100, noNaN: true }), (seen, hours, unit) => {
        const one = estimate(seen, hours);
        const other = estimate({ ...seen, exposureHours: seen.exposureHours * unit }, hours * unit);
        expect(other.halfLifeHours / unit / one.halfLifeHours).toBeCloseTo(1, 9);
        expect(other.lowHours / unit / one.lowHours).toBeCloseTo(1, 9);
      }),
    );
  });

  const trials = [7, 20, 60, 180, 900].flatMap((days) => [30, 45, 60, 365].map((priorDays) => ({ days, priorDays })));
  it.each(trials)('recovers $days days from 50 changes within a fifth, under a prior of $priorDays', (trial) => {
    const { days, priorDays } = trial;
    const found = recover({ halfLifeHours: days * 24, events: 50, rounds: 1000, seed: 7, prior: priorDays * 24 });
    expect(found.rms).toBeLessThan(0.2);
    expect(found.median).toBeLessThan(0.13);
    expect(found.covered).toBeGreaterThan(0.8);
  });
});

describe('whether the hazard is constant', () => {
  it('is not asked of 30 changes or fewer', () => {
    const lives = Array.from({ length: EVENTS_FOR_SHAPE }, (_, n) => ({ hours: n + 1, changed: true }));
    expect(compareShapes([...lives, { hours: 5, changed: false }])).toBeNull();
    expect(compareShapes([...lives, { hours: 5, changed: true }])).not.toBeNull();
  });

  it.each([0.5, 0.7, 1.5, 3])('finds a Weibull shape of %f, and its median', (shape) => {
    const found = compareShapes(weibullLives(4000, shape, 100_000, 3));
    expect((found?.shape ?? 0) / shape).toBeGreaterThan(0.95);
    expect((found?.shape ?? 0) / shape).toBeLessThan(1.05);
    expect(found?.better).toBe('weibull');
    expect(found?.pValue).toBeLessThan(0.001);
    expect(Math.abs((found?.halfLifeHours ?? 0) / (100_000 * Math.LN2 ** (1 / shape)) - 1)).toBeLessThan(0.06);
  });

  it('mistakes a constant hazard for a Weibull about as often as its level says', () => {
    const tests = Array.from({ length: 200 }, (_, seed) => compareShapes(weibullLives(120, 1, 500, seed + 1)));
    const wrong = tests.filter((found) => found?.better === 'weibull').length;
    expect(wrong).toBeGreaterThan(0);
    expect(wrong).toBeLessThan(24);
  });

  it('is found where the derivative of the likelihood is zero: no other shape is likelier', () => {
    const lives = weibullLives(300, 0.8, 100, 5).map((life) => ({ ...life, hours: life.hours + 1 }));
    const found = compareShapes(lives);
    const events = lives.filter(({ changed }) => changed);
    const likelihood = (k: number): number => {
      const scaleToK = lives.reduce((sum, { hours }) => sum + hours ** k, 0) / events.length;
      const density = events.reduce(
        (sum, { hours }) => sum + Math.log(k) - Math.log(scaleToK) + (k - 1) * Math.log(hours),
        0,
      );
      return density - lives.reduce((sum, { hours }) => sum + hours ** k, 0) / scaleToK;
    };
    const best = likelihood(found?.shape ?? 0);
    for (const k of [0.1, 0.5, 0.99 * (found?.shape ?? 0), 1.01 * (found?.shape ?? 0), 1, 2, 10]) {
      expect(likelihood(k)).toBeLessThanOrEqual(best);
    }
  });

  it('takes lives below an hour for an hour: slips of the tongue do not decide the shape', () => {
    const lives = weibullLives(200, 1, 500, 9);
    const slips = (hours: number) => lives.map((life, at) => (at < 5 ? { hours, changed: true } : life));
    expect(compareShapes(slips(0))).toEqual(compareShapes(slips(1)));
  });
});
