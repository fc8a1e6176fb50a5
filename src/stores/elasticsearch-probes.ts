import { duration, type Esql, esql, instant, param } from '../esql.ts';
import { WEIGHTS } from '../score.ts';

/** Small queries over no index, with known answers: what a cluster can do, and whether it reckons as the score needs. */

export interface Probe {
  /** The command or function. */
  name: 'FUSE' | 'DECAY';
  request: Esql;
  /** The column of the answer, one value a row. */
  column: string;
  expected: readonly number[];
}

const ORIGIN = Date.UTC(2026, 0, 1);

/** Two branches that found the same row: the weighted scores add up. */
export const FUSE_PROBE: Probe = {
  name: 'FUSE',
  request: esql`ROW _id = "a", _index = "i", _fork = ["fork1", "fork2"]
| MV_EXPAND _fork
| EVAL relevance = CASE(_fork == "fork1", 0.5, 0.25), _score = relevance
| LIMIT 2
| FUSE LINEAR SCORE BY relevance WITH { "weights": { "fork1": ${param(WEIGHTS.lexical, 'wl')}, "fork2": ${param(WEIGHTS.semantic, 'ws')} } }
| LIMIT 1
| KEEP relevance`,
  column: 'relevance',
  expected: [0.325],
};

/** Ages of 0, 1, 45, 90 and 330 days with a half-life of 45: exponential, not the default, which reaches 0 at 90. */
export const DECAY_PROBE: Probe = {
  name: 'DECAY',
  request: esql`ROW days = [0, 1, 45, 90, 330]
| MV_EXPAND days
| EVAL fresh_at = TO_DATETIME(TO_LONG(${instant(ORIGIN, 'asof')}) - TO_LONG(days) * 86400000)
| EVAL weight = DECAY(fresh_at, ${instant(ORIGIN, 'origin')}, ${duration(1080, 'half')}, { "type": "exp" })
| SORT days
| LIMIT 5
| KEEP weight`,
  column: 'weight',
  expected: [1, 0.984714752934, 0.5, 0.25, 0.006200785359],
};
