import fc from 'fast-check';
import { expect, it } from 'vitest';
import { live, lives } from './model/lives.ts';
import { temporaryService } from './temporary.ts';

/** 5,000 in continuous integration, fewer at hand. */
const RUNS = Number(process.env.MODEL_RUNS ?? 60);

it(`everything visible agrees with a plain model over ${RUNS} random lives`, async () => {
  const service = temporaryService();
  let user = 0;
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      await live(service.for(`user-${user++}`), (at) => service.at(new Date(at).toISOString()), life);
    }),
    { numRuns: RUNS },
  );
  expect(user).toBeGreaterThanOrEqual(RUNS);
}, 1_200_000);
