import { auditInput } from '../audit.ts';
import { eraseAllInput, eraseInput } from '../erasure.ts';
import { closeInput, reopenInput, supersedeInput } from '../lifecycle.ts';
import { listInput } from '../list.ts';
import { recallInput } from '../recall.ts';
import { rememberInput } from '../remember.ts';
import { confirmInput, denyInput, feedbackInput } from '../trust.ts';
import * as answer from './answers.ts';
import { json, type Route } from './route.ts';

/** The verbs on memories; each is one line over the core. */

export const memoryRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/recall',
    name: 'recall',
    summary: 'Answer a question with what is true, was true, or was known.',
    input: recallInput,
    answers: { 200: answer.recalled },
    run: async ({ memories, fields, signal }) => json(await memories.recall(fields, { signal })),
  },
  {
    method: 'POST',
    path: '/v1/memories',
    name: 'remember',
    summary: 'Write a memory, closing or doubting what it replaces.',
    input: rememberInput,
    answers: { 201: answer.remembered, 200: answer.remembered },
    fails: [403, 404, 409, 422],
    async run({ memories, fields }) {
      const remembered = await memories.remember(fields);
      return json(remembered, remembered.stored ? 201 : 200);
    },
  },
  {
    method: 'GET',
    path: '/v1/memories',
    name: 'list',
    summary: 'Page through the own memories, newest first.',
    input: listInput,
    answers: { 200: answer.page },
    run: async ({ memories, fields }) => json(await memories.list(fields)),
  },
  {
    method: 'DELETE',
    path: '/v1/memories',
    name: 'eraseAll',
    summary: 'Erase everything the user owns; confirm is the own user id.',
    input: eraseAllInput,
    answers: { 200: answer.receiptForAll },
    run: async ({ memories, fields }) => json(await memories.eraseAll(fields)),
  },
  {
    method: 'GET',
    path: '/v1/memories/:id',
    name: 'get',
    summary: 'Read one memory.',
    answers: { 200: answer.memory },
    fails: [404, 410],
    run: async ({ memories, id }) => json(await memories.get(id)),
  },
  {
    method: 'DELETE',
    path: '/v1/memories/:id',
    name: 'erase',
    summary: 'Erase one memory for good; the same receipt when repeated.',
    input: eraseInput,
    answers: { 200: answer.receipt },
    fails: [403, 404, 409],
    run: async ({ memories, id, fields }) => json(await memories.erase(id, fields)),
  },
  {
    method: 'GET',
    path: '/v1/memories/:id/history',
    name: 'history',
    summary: 'Read the whole chain of a memory, oldest first.',
    answers: { 200: answer.chain },
    fails: [403, 404, 410],
    run: async ({ memories, id }) => json(await memories.history(id)),
  },
  {
    method: 'POST',
    path: '/v1/memories/:id/supersede',
    name: 'supersede',
    summary: 'Link a memory as the successor of others, which close.',
    input: supersedeInput,
    answers: { 200: answer.linked },
    fails: [403, 404, 409, 410],
    run: async ({ memories, id, fields }) => json(await memories.supersede(id, fields)),
  },
  {
    method: 'POST',
    path: '/v1/memories/:id/close',
    name: 'close',
    summary: 'End a memory without a successor.',
    input: closeInput,
    answers: { 200: answer.changed },
    fails: [403, 404, 409, 410],
    run: async ({ memories, id, fields }) => json(await memories.close(id, fields)),
  },
  {
    method: 'POST',
    path: '/v1/memories/:id/reopen',
    name: 'reopen',
    summary: 'Undo a closing by a copy that is true from the old end on.',
    input: reopenInput,
    answers: { 201: answer.reopened },
    fails: [403, 404, 409, 410],
    run: async ({ memories, id, fields }) => json(await memories.reopen(id, fields), 201),
  },
  {
    method: 'POST',
    path: '/v1/memories/:id/confirm',
    name: 'confirm',
    summary: 'Say that a memory still holds: fresh and fully trusted again.',
    input: confirmInput,
    answers: { 200: answer.changed },
    fails: [403, 404, 409, 410],
    run: async ({ memories, id, fields }) => json(await memories.confirm(id, fields)),
  },
  {
    method: 'POST',
    path: '/v1/memories/:id/deny',
    name: 'deny',
    summary: 'Say that a memory is wrong; when certain, it closes as never true.',
    input: denyInput,
    answers: { 200: answer.changed },
    fails: [403, 404, 409, 410],
    run: async ({ memories, id, fields }) => json(await memories.deny(id, fields)),
  },
  {
    method: 'POST',
    path: '/v1/memories/:id/feedback',
    name: 'feedback',
    summary: 'Record how acting on a memory turned out, −1…1.',
    input: feedbackInput,
    answers: { 200: answer.changed },
    fails: [403, 404, 409, 410],
    run: async ({ memories, id, fields }) => json(await memories.feedback(id, fields)),
  },
  {
    method: 'GET',
    path: '/v1/audit',
    name: 'audit',
    summary: 'Read who did what to which memory, newest first.',
    input: auditInput,
    answers: { 200: answer.audited },
    fails: [404],
    run: async ({ memories, fields }) => json(await memories.audit(fields)),
  },
];
