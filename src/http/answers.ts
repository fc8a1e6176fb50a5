import { z } from 'zod';
import { id, kind, topic } from '../fields.ts';
import { LEARN_FROM } from '../learned-windows.ts';
import type { Page } from '../list.ts';
import { type Memory, STATUSES } from '../memory.ts';
import type { ShownWindows } from '../windows.ts';

/** The shapes of what the service answers, for the OpenAPI document; tests hold every answer against them. */

const instant = z.string().meta({ format: 'date-time' });
const orNull = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]);
const ids = z.array(id);
const share = z.number().min(0).max(1);

export const memory = z.strictObject({
  id,
  kind,
  topic,
  title: orNull(z.string()),
  content: z.string(),
  tags: z.array(z.string()),
  createdAt: instant.describe('When it was recorded.'),
  validFrom: instant.describe('Since when it is true.'),
  validTo: orNull(instant).describe('Until when it was true, or is planned to be; exclusive.'),
  plannedTo: orNull(instant).describe('The end given when it was written.'),
  closedAt: orNull(instant).describe('When we learned that it had stopped.'),
  closedReason: orNull(z.string()),
  supersedes: ids,
  supersededBy: orNull(id),
  denies: ids,
  deniedBy: orNull(id),
  reopens: orNull(id),
  reopenedBy: orNull(id),
  derivedFrom: ids,
  confidence: share,
  feedback: z.number().min(-1).max(1),
  feedbackCount: z.int().min(0),
  freshAt: instant.describe('The later of validFrom, last confirmed, last used with success.'),
  confirmedAt: orNull(instant),
  status: z.enum(STATUSES),
  scope: z.enum(['user', 'shared']),
}) satisfies z.ZodType<Memory>;

const parts = z.strictObject({
  lexical: share,
  semantic: share,
  relevance: share,
  ageWeight: share,
  trust: share,
});

export const recalled = z.strictObject({
  hits: z.array(
    z.strictObject({
      memory,
      score: share,
      parts: parts.optional().describe('With explain; relevance × ageWeight × trust is the score.'),
      note: z.string().optional().describe('Since when it holds and what it replaced (strict), or why it is history.'),
    }),
  ),
  now: instant,
  asOf: instant,
  knownAt: instant,
});

export const remembered = z.strictObject({
  memory,
  stored: z.boolean().describe('False where nothing new was written.'),
  reason: z.enum(['confirmed', 'unchanged', 'held']).optional(),
  superseded: ids.describe('What this closed.'),
  similar: z
    .array(z.strictObject({ id, similarity: z.number(), content: z.string(), difference: z.string() }))
    .describe('Open memories that say nearly the same, nearest first.'),
  admission: z
    .strictObject({
      score: share,
      parts: z.strictObject({ utility: share, confidence: share, novelty: share, recency: share, type: share }),
    })
    .optional()
    .describe('Where the admission gate is on.'),
});

const cursor = orNull(z.string()).describe('Give it as cursor for the next page; null on the last.');

export const page = z.strictObject({ memories: z.array(memory), nextCursor: cursor }) satisfies z.ZodType<Page>;
export const chain = z.strictObject({ memories: z.array(memory) });
export const changed = z.strictObject({ memory });
export const linked = z.strictObject({ memory, superseded: ids });
export const reopened = z.strictObject({ memory, openSuccessor: orNull(memory) });
export const receipt = z.strictObject({ erased: id, at: instant });
export const receiptForAll = z.strictObject({ erased: z.int().min(0), at: instant });

export const audited = z.strictObject({
  entries: z.array(
    z.strictObject({
      at: instant,
      actor: z.string(),
      verb: z.string(),
      memory: id,
      before: orNull(memory),
      after: orNull(memory),
      source: z.string(),
      detail: orNull(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
    }),
  ),
  nextCursor: cursor,
});

export const imported = z.strictObject({
  imported: z.int().min(0),
  unchanged: z.int().min(0),
  collisions: z.array(z.strictObject({ id, line: z.int().min(1) })),
  erased: ids,
});

const evidence = z.strictObject({
  events: z.number().min(0).describe('Values a person replaced by different ones.'),
  exposureHours: z.number().describe('For how long memories of the topic were watched, in all.'),
  lives: z.int().min(0).describe('Memories counted.'),
  estimate: orNull(
    z.strictObject({
      halfLifeHours: z.number(),
      lowHours: z.number(),
      highHours: z.number(),
      usable: z.boolean().describe('Whether it is narrow enough and more the data’s than the table’s.'),
    }),
  ).describe('The half-life learned and its 90 % credible interval; null where the table says never.'),
});
const weibull = z.strictObject({
  shape: z.number(),
  halfLifeHours: z.number(),
  pValue: share,
  better: z.enum(['exponential', 'weibull']),
});

export const windows = z.strictObject({
  learnFrom: z.enum(LEARN_FROM),
  windows: z.array(
    z.strictObject({
      topic: orNull(topic).describe('Null stands for every other topic.'),
      halfLifeHours: orNull(z.number()).describe('Null never ages.'),
      floor: share,
      source: z.enum(['table', 'pinned', 'own', 'everyone']),
      curve: z.string().describe('The age weight over a year, drawn in 24 steps.'),
      own: orNull(evidence.extend({ weibull: orNull(weibull).describe('From 31 changes on.') })),
      everyone: orNull(evidence.omit({ lives: true }).extend({ users: z.int().min(0) })).describe(
        'Of the other users together, to two digits, where their counts are in use and five have changes of the topic.',
      ),
    }),
  ),
}) satisfies z.ZodType<ShownWindows>;

export const health = z.strictObject({ status: z.literal('ok'), store: z.string(), version: z.string() });

/** Shapes that grow with the service: at least an object. */
export const anyObject = z.record(z.string(), z.unknown());

export const chatted = z.strictObject({
  reply: z.string(),
  thread: z.string(),
  steps: z.array(z.strictObject({ tool: z.string(), input: z.unknown(), output: z.unknown() })),
  usage: anyObject,
});

export const problem = z.strictObject({
  error: z.strictObject({
    code: z.string().describe('Stable.'),
    message: z.string().describe('For people.'),
    hint: z.string().optional().describe('What to do next.'),
    issues: z
      .array(z.strictObject({ path: z.string(), message: z.string() }))
      .optional()
      .describe('Every field at fault.'),
    head: orNull(id).optional().describe('With a conflict on a closed memory: the open head of its chain, or null.'),
    requestId: z.string().optional().describe('With a fault of the server: what its log names it by.'),
  }),
});
