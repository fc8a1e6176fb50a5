import { defineConfig } from 'vitest/config';

/** The built server in processes of its own: one build and one Elasticsearch node for the whole run. */
export default defineConfig({
  test: {
    include: ['test/server/*.test.ts'],
    globalSetup: ['test/server/build.ts', 'test/elasticsearch/cluster.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
