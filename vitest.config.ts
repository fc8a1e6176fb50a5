import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/*.test.ts'],
    setupFiles: ['test/seed.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Far from UTC and with daylight saving, so that an instant read in local time shows.
    env: { TZ: 'America/St_Johns' },
  },
});
