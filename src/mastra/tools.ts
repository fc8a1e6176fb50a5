import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import type { Preset } from '../aging.ts';
import { SupersededError } from '../errors.ts';
import { KINDS, type Memory } from '../memory.ts';
import * as prompts from '../prompts.ts';
import type { Recalled } from '../recall.ts';
import type { RememberAnswer, Superseded, UserMemories } from '../superseded.ts';
import { type Caller, userOf } from './identity.ts';
import { alreadyShown, noteShown } from './shown.ts';
import { confirmedAnswer, recalled, remembered, supersededAnswer } from './tool-output.ts';

/** The tools a model sees, each one line over the core. The user is never an input field. */

export interface ToolOptions {
  service: Superseded;
  /** How recall ages memories; the model does not choose it. */
  preset?: Preset;
  /** Who the memories belong to; by default the user whom authentication named, else the call fails. */
  user?: (caller: Caller) => string;
  /** The surface named in the audit. */
  source?: 'tool' | 'mcp';
}

const { FIELD_DESCRIPTIONS: field, TOOL_DESCRIPTIONS: described } = prompts;
const ids = z.array(z.string()).min(1).max(16);

export const recallToolInput = z.strictObject({
  query: z.string().min(1).max(2000).describe(field.query),
  limit: z.int().min(1).max(100).optional().describe(field.limit),
  topics: z.array(z.string()).optional().describe(field.topics),
  kinds: z.array(z.enum(KINDS)).optional().describe(field.kinds),
  includeHistory: z.boolean().optional().describe(field.includeHistory),
  asOf: z.string().optional().describe(field.asOf),
});

export const rememberToolInput = z.strictObject({
  content: z.string().min(1).max(8000).describe(field.content),
  title: z.string().max(200).optional().describe(field.title),
  kind: z.enum(KINDS).optional().describe(field.kind),
  topic: z.string().optional().describe(field.topic),
  tags: z.array(z.string()).max(32).optional().describe(field.tags),
  supersedes: ids.optional().describe(field.supersedes),
  validFrom: z.string().optional().describe(field.validFrom),
  validTo: z.string().optional().describe(field.validTo),
  id: z.string().optional().describe(field.ownId),
});

export const supersedeToolInput = z.strictObject({
  id: z.string().describe(field.id),
  targets: ids.describe(field.targets),
});

export const confirmToolInput = z.strictObject({ id: z.string().describe(field.id) });

export type MemoryTools = ReturnType<typeof makeTools>;

export function makeTools({ service, preset = 'default', user = userOf, source = 'tool' }: ToolOptions) {
  const memories = (caller: Caller): UserMemories => service.for(user(caller), source);

  const recall = createTool({
    id: 'recall',
    description: described.recall,
    inputSchema: recallToolInput,
    outputSchema: recalled,
    mcp: { annotations: { title: 'Recall', readOnlyHint: true, idempotentHint: true, openWorldHint: false } },
    execute: (input, context) =>
      answered(async (): Promise<Recalled> => {
        const options = context.abortSignal ? { signal: context.abortSignal } : {};
        const found = await memories(context).recall({ ...given(input), preset }, options);
        noteShown(context.requestContext, found);
        return found;
      }),
    toModelOutput: inWords(prompts.recalledForModel),
  });

  const remember = createTool({
    id: 'remember',
    description: described.remember,
    inputSchema: rememberToolInput,
    outputSchema: remembered,
    mcp: {
      annotations: {
        title: 'Remember',
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    execute: (input, context) =>
      answered(async (): Promise<RememberAnswer> => {
        const own = memories(context);
        const said = given(input);
        const known = alreadyShown(context.requestContext, input.content);
        const echoed = known === undefined ? undefined : await own.get(known);
        if (echoed === undefined || !isEcho(said, echoed)) return own.remember(said);
        return { memory: echoed, stored: false, reason: 'unchanged', superseded: [], similar: [] };
      }),
    toModelOutput: inWords(prompts.rememberedForModel),
  });

  const supersede = createTool({
    id: 'supersede',
    description: described.supersede,
    inputSchema: supersedeToolInput,
    outputSchema: supersededAnswer,
    mcp: { annotations: { title: 'Supersede', readOnlyHint: false, destructiveHint: false, openWorldHint: false } },
    execute: ({ id, targets }, context) => answered(() => memories(context).supersede(id, { targets })),
    toModelOutput: inWords((output) => prompts.supersededForModel(output.memory.id, output.superseded)),
  });

  const confirm = createTool({
    id: 'confirm',
    description: described.confirm,
    inputSchema: confirmToolInput,
    outputSchema: confirmedAnswer,
    mcp: { annotations: { title: 'Confirm', readOnlyHint: false, destructiveHint: false, openWorldHint: false } },
    execute: ({ id }, context) => answered(() => memories(context).confirm(id)),
    toModelOutput: inWords((output) => prompts.confirmedForModel(output.memory.id)),
  });

  return { recall, remember, supersede, confirm };
}

/** Fields that say something new about words that were shown; a topic, kind or title of its own does not. */
const SAYS_MORE = ['id', 'supersedes', 'denies', 'derivedFrom', 'validFrom', 'validTo'];

/** Whether a statement says nothing beyond a memory that was shown and is still open. */
const isEcho = (said: Record<string, unknown>, shown: Memory): boolean =>
  shown.status === 'open' && SAYS_MORE.every((field) => said[field] === undefined);

/** The answer as a model reads it; input that the schema refused comes here too, as a message in its place. */
const inWords =
  <T extends object>(words: (output: T) => string) =>
  (output: T) => {
    const refused = 'error' in output && 'message' in output ? String(output.message) : null;
    return { type: 'text' as const, value: refused === null ? words(output) : prompts.failureForModel(refused) };
  };

/** The fields a model filled in: some send null for what they leave out. */
const given = (input: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined && value !== null));

/** A known error reaches the model as a sentence with the next step; anything else as it is. */
async function answered<T>(verb: () => Promise<T>): Promise<T> {
  try {
    return await verb();
  } catch (error) {
    if (!(error instanceof SupersededError)) throw error;
    const { code, message, hint, issues, head } = error;
    throw new SupersededError(code, prompts.failureForModel(message, hint), {
      cause: error,
      ...(issues ? { issues } : {}),
      ...(head === undefined ? {} : { head }),
    });
  }
}
