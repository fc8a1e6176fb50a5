import jstat from 'jstat';

/**
 * How fast values change, from lives that ended in a change and lives that were still whole when last seen: a constant
 * hazard with a Gamma prior, and whether a Weibull hazard would fit better. Times are hours.
 */

/** What was seen: changes, and the hours over which they could have happened. */
export interface Observed {
  events: number;
  exposureHours: number;
}

export interface Estimate {
  halfLifeHours: number;
  /** Ends of the credible interval of the half-life. */
  lowHours: number;
  highHours: number;
  /** Share of the exposure that is the prior's: as far as this can it draw the half-life to its own. */
  priorShare: number;
}

/** Probability mass of the credible interval. */
export const CREDIBLE = 0.9;

/** The prior counts as so many changes, seen over as many hours as its half-life asks for. */
const PRIOR_EVENTS = 0.1;

/**
 * The half-life under a constant hazard: the prior Gamma(a0, b0) with b0 = a0 · half-life / ln 2 becomes
 * Gamma(a0 + events, b0 + exposure); half-life = ln 2 / rate, at the mean rate and at the two ends of its interval.
 */
export function estimate({ events, exposureHours }: Observed, priorHalfLifeHours: number): Estimate {
  const shape = PRIOR_EVENTS + events;
  const prior = (PRIOR_EVENTS * priorHalfLifeHours) / Math.LN2;
  const exposure = prior + exposureHours;
  const tail = (1 - CREDIBLE) / 2;
  const halfLife = (standardRate: number) => (Math.LN2 * exposure) / standardRate;
  return {
    halfLifeHours: halfLife(shape),
    lowHours: halfLife(jstat.gamma.inv(1 - tail, shape, 1)),
    highHours: halfLife(jstat.gamma.inv(tail, shape, 1)),
    priorShare: prior / exposure,
  };
}

/** One life: how long it was seen, and whether it ended in a change. */
export interface Observation {
  hours: number;
  changed: boolean;
}

export interface WeibullFit {
  /** Below 1: what has held for long is safer than its age says; above 1: it wears out. */
  shape: number;
  /** Its own half-life: the median. */
  halfLifeHours: number;
  /** Of a likelihood ratio test that a constant hazard would do, against χ² with one degree of freedom. */
  pValue: number;
  better: 'exponential' | 'weibull';
}

/** More changes than this before the shape is asked for. */
export const EVENTS_FOR_SHAPE = 30;
const SIGNIFICANT = 0.05;
const STEEPEST = 20;
/** Lives below an hour are slips of the tongue: their logarithms would decide the shape. */
const SHORTEST_HOURS = 1;

/**
 * Fits S(t) = exp(−(t / λ)^k) by maximum likelihood and compares it with k = 1; null with too few changes.
 * For a given k, λ^k = Σ t^k / events; k is where the derivative of that profile is 0, which falls in k.
 */
export function compareShapes(lives: readonly Observation[]): WeibullFit | null {
  const ended = lives.filter(({ changed }) => changed);
  if (ended.length <= EVENTS_FOR_SHAPE) return null;
  const events = ended.length;
  const hoursOf = ({ hours }: Observation): number => Math.max(hours, SHORTEST_HOURS);
  const scale = lives.reduce((sum, life) => sum + hoursOf(life), 0) / events;
  const logs = (some: readonly Observation[]) => some.map((life) => Math.log(hoursOf(life) / scale));
  const all = logs(lives);
  const sumOfEnded = logs(ended).reduce((sum, log) => sum + log, 0);
  const moments = (k: number) => {
    let power = 0;
    let weighted = 0;
    for (const log of all) {
      const value = Math.exp(k * log);
      power += value;
      weighted += value * log;
    }
    return { power, weighted };
  };
  const slope = (k: number): number => {
    const { power, weighted } = moments(k);
    return events / k + sumOfEnded - (events * weighted) / power;
  };
  const likelihood = (k: number): number =>
    events * Math.log(k) - events * Math.log(moments(k).power / events) + (k - 1) * sumOfEnded - events;
  const shape = rootOf(slope, 1 / STEEPEST, STEEPEST);
  const ratio = Math.max(0, 2 * (likelihood(shape) - likelihood(1)));
  const pValue = Math.max(0, 1 - jstat.chisquare.cdf(ratio, 1));
  const width = scale * (moments(shape).power / events) ** (1 / shape);
  return {
    shape,
    halfLifeHours: width * Math.LN2 ** (1 / shape),
    pValue,
    better: pValue < SIGNIFICANT ? 'weibull' : 'exponential',
  };
}

/** Where a falling function crosses 0, by bisection on a logarithmic scale; an end where it does not cross. */
function rootOf(falling: (x: number) => number, from: number, to: number): number {
  let low = from;
  let high = to;
  for (let step = 0; step < 60; step++) {
    const middle = Math.sqrt(low * high);
    if (falling(middle) > 0) low = middle;
    else high = middle;
  }
  return Math.sqrt(low * high);
}
