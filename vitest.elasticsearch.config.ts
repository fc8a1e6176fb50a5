import { defineConfig } from 'vitest/config';

/** The suites that need an Elasticsearch: one node for the whole run, one file at a time. */
export default defineConfig({
  test: {
    include: ['test/elasticsearch/*.test.ts'],
    globalSetup: ['test/elasticsearch/cluster.ts'],
    setupFiles: ['test/seed.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 300_000,
    env: { TZ: 'America/St_Johns' },
  },
});
