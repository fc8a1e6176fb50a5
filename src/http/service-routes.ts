import { z } from 'zod';
import { SHARED } from '../memory.ts';
import { reviewInput } from '../review.ts';
import type { Superseded } from '../superseded.ts';
import * as answer from './answers.ts';
import { problemOf } from './problems.ts';
import { json, type Route } from './route.ts';

/** What is not a verb on one memory: moving everything, the review list, the windows in force, the state of the service. */

export const transferRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/export',
    name: 'export',
    summary: 'All own memories, one a line, with all fields.',
    answers: { 200: 'application/x-ndjson' },
    async run({ memories, user }) {
      const headers = {
        'content-type': 'application/x-ndjson; charset=utf-8',
        'content-disposition': `attachment; filename="${user}.ndjson"`,
      };
      return new Response(await memories.exportNdjson(), { headers });
    },
  },
  {
    method: 'POST',
    path: '/v1/import',
    name: 'import',
    summary: 'Write the lines of an export, all or none; up to 64 MiB.',
    ndjson: true,
    answers: { 200: answer.imported },
    run: async ({ memories, text }) => json(await memories.importNdjson(text)),
  },
];

export const reviewRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/review',
    name: 'review',
    summary: 'What a person should look at.',
    answers: { 200: z.strictObject({ items: z.array(answer.anyObject) }) },
    run: async ({ memories }) => json(await memories.review()),
  },
  {
    method: 'POST',
    path: '/v1/review/:id',
    name: 'resolveReview',
    summary: 'Keep, close, merge or dismiss what the review list shows.',
    input: reviewInput,
    answers: { 200: answer.anyObject },
    fails: [403, 404, 409, 410],
    run: async ({ memories, id: item, fields }) => json(await memories.resolveReview(item, fields)),
  },
  {
    method: 'GET',
    path: '/v1/aging',
    name: 'aging',
    summary: 'The ageing windows in force, with their evidence.',
    answers: { 200: answer.windows },
    run: async ({ memories }) => json(await memories.aging()),
  },
];

export const healthRoute = (service: () => Superseded, version: string): Route => ({
  method: 'GET',
  path: '/v1/health',
  name: 'health',
  summary: 'Whether the service can read its store.',
  open: true,
  answers: { 200: answer.health },
  async run({ requestId }) {
    const store = service().store.name;
    try {
      const { store: shared } = await service().actor(SHARED, 'health', 'http');
      await shared.get(['health']);
    } catch (error) {
      const { error: problem } = problemOf(error, requestId);
      return json({ status: 'unavailable', store, version, error: problem }, 503);
    }
    return json({ status: 'ok', store, version });
  },
});
