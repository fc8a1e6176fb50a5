import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawsOf, recover } from '../scripts/evaluate/population.ts';
import { compareShapes, EVENTS_FOR_SHAPE, estimate, type Life } from '../src/hazard.ts';

const PRIOR = 1440;
const exposure = fc.record({
  events: fc.nat(500),
  exposureHours: fc.double({ min: 0, max: 1e7, noNaN: true }),
});
const prior = fc.double({ min: 1, max: 1e5, noNaN: true });

/** Lives with a Weibull hazard, half of them or so still open. */
function weibullLives(count: number, shape: number, scale: number, seed: number): Life[] {
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
        expect(learned.high / learned.low).toBeGreaterThan(100);
      }),
    );
  });

  it('is ln 2 over the mean rate of Gamma(1/2 + n, 1/2 · prior / ln 2 + T), its ends the quantiles of that Gamma', () => {
    // Quantiles of Gamma(50.5, 1) at 5 % and 95 %: half of those of χ² with 101 degrees of freedom, 78.8132 and 125.4584.
    const learned = estimate({ events: 50, exposureHours: 100_000 }, 1000);
    const scale = Math.LN2 * (500 / Math.LN2 + 100_000);
    expect(learned.halfLifeHours).toBeCloseTo(scale / 50.5, 6);
    expect(learned.low).toBeCloseTo(scale / (125.4584 / 2), 0);
    expect(learned.high).toBeCloseTo(scale / (78.8132 / 2), 0);
  });

  it('lies within its interval, shortens with changes and lengthens with exposure', () => {
    fc.assert(
      fc.property(exposure, prior, (seen, hours) => {
        const learned = estimate(seen, hours);
        expect(learned.low).toBeLessThan(learned.high);
        if (seen.events > 0) expect(learned.low).toBeLessThan(learned.halfLifeHours);
        if (seen.events > 0) expect(learned.halfLifeHours).toBeLessThan(learned.high);
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
        expect(other.low / unit / one.low).toBeCloseTo(1, 9);
      }),
    );
  });

  it.each([7, 20, 60, 180, 900])('recovers a half-life of %i days from 50 changes within a fifth', (days) => {
    const { rms, median, covered } = recover(days * 24, 50, 1000, 7, PRIOR);
    expect(rms).toBeLessThan(0.2);
    expect(median).toBeLessThan(0.12);
    expect(covered).toBeGreaterThan(0.85);
  });
});

describe('whether the hazard is constant', () => {
  it('is not asked of 30 changes or fewer', () => {
    const lives = Array.from({ length: EVENTS_FOR_SHAPE }, (_, n) => ({ hours: n + 1, changed: true }));
    expect(compareShapes([...lives, { hours: 5, changed: false }])).toBeNull();
    expect(compareShapes([...lives, { hours: 5, changed: true }])).not.toBeNull();
  });

  it.each([0.5, 0.7, 1.5, 3])('finds a Weibull shape of %f, and its median', (shape) => {
    const found = compareShapes(weibullLives(2000, shape, 1000, 3));
    expect(found?.shape).toBeCloseTo(shape, shape > 1 ? 0 : 1);
    expect(found?.better).toBe('weibull');
    expect(found?.pValue).toBeLessThan(0.001);
    expect((found?.halfLifeHours ?? 0) / (1000 * Math.LN2 ** (1 / shape))).toBeCloseTo(1, 0);
  });

  it('mistakes a constant hazard for a Weibull about as often as its level says', () => {
    const tests = Array.from({ length: 200 }, (_, seed) => compareShapes(weibullLives(120, 1, 500, seed + 1)));
    const wrong = tests.filter((found) => found?.better === 'weibull').length;
    expect(wrong).toBeGreaterThan(0);
    expect(wrong).toBeLessThan(24);
  });

  it('is found where the derivative of the likelihood is zero: no other shape is likelier', () => {
    const lives = weibullLives(300, 0.8, 100, 5);
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

  it('takes lives of no length at all', () => {
    const lives = Array.from({ length: 40 }, (_, n) => ({ hours: n % 4, changed: true }));
    expect(compareShapes(lives)?.shape).toBeGreaterThan(0);
  });
});
