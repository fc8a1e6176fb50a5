import { z } from 'zod';
import { KINDS, type Memory, STATUSES } from '../memory.ts';
import type { Recalled } from '../recall.ts';
import type { RememberAnswer } from '../superseded.ts';

/** What the tools answer, as schemas: programs and MCP clients read these; a model reads the words made of them. */

const ids = z.array(z.string());
const orNull = z.string().nullable();
const part = z.number();

export const memory: z.ZodType<Memory> = z.object({
  id: z.string(),
  kind: z.enum(KINDS),
  topic: z.string(),
  title: orNull,
  content: z.string(),
  tags: z.array(z.string()),
  createdAt: z.string(),
  validFrom: z.string(),
  validTo: orNull,
  plannedTo: orNull,
  closedAt: orNull,
  closedReason: orNull,
  supersedes: ids,
  supersededBy: orNull,
  denies: ids,
  deniedBy: orNull,
  reopens: orNull,
  reopenedBy: orNull,
  derivedFrom: ids,
  confidence: z.number(),
  feedback: z.number(),
  feedbackCount: z.number(),
  freshAt: z.string(),
  confirmedAt: orNull,
  status: z.enum(STATUSES),
  scope: z.enum(['user', 'shared']),
});

export const recalled: z.ZodType<Recalled> = z.object({
  hits: z.array(
    z.object({
      memory,
      score: z.number(),
      parts: z.object({ lexical: part, semantic: part, relevance: part, ageWeight: part, trust: part }).exactOptional(),
      note: z.string().exactOptional(),
    }),
  ),
  now: z.string(),
  asOf: z.string(),
  knownAt: z.string(),
});

export const remembered: z.ZodType<RememberAnswer> = z.object({
  memory,
  stored: z.boolean(),
  reason: z.enum(['confirmed', 'unchanged', 'held']).exactOptional(),
  superseded: ids,
  similar: z.array(z.object({ id: z.string(), similarity: z.number(), content: z.string(), difference: z.string() })),
  admission: z
    .object({
      score: z.number(),
      parts: z.object({ utility: part, confidence: part, novelty: part, recency: part, type: part }),
    })
    .exactOptional(),
});

export const supersededAnswer = z.object({ memory, superseded: ids });

export const confirmedAnswer = z.object({ memory });
