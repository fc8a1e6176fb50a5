import { describe, expect, it } from 'vitest';
import { CLOCKS } from './stories/clocks.ts';
import { ENDINGS } from './stories/endings.ts';
import { SAYING } from './stories/saying.ts';
import { SUPERSESSION } from './stories/supersession.ts';
import { tell } from './stories/tell.ts';
import { temporaryService } from './temporary.ts';

const STORIES = { supersession: SUPERSESSION, endings: ENDINGS, clocks: CLOCKS, saying: SAYING };

describe.each(Object.entries(STORIES))('stories of %s, on the embedded store', (_, stories) => {
  it.each(stories)('$name', async (story) => {
    await tell(temporaryService(), story);
  });
});

it('there are at least 60 stories', () => {
  expect(Object.values(STORIES).flat().length).toBeGreaterThanOrEqual(60);
});
