import type { estypes } from '@elastic/elasticsearch';
import { z } from 'zod';
import type { EmbeddingModel } from '../embedder.ts';
import { SupersededError } from '../errors.ts';
import type { Backend } from './elasticsearch-backend.ts';
import { backfill } from './elasticsearch-backfill.ts';
import { coded, failureOfResponse } from './elasticsearch-errors.ts';
import { LOG_PROPERTIES, memoryProperties, SCHEMA, SETTINGS, type Semantics } from './elasticsearch-mapping.ts';

/** Makes the indices, and refuses those of a newer schema or of another model. */

/** What the mapping's `_meta.superseded` says of an index. */
const meta = z.object({
  schema: z.number(),
  model: z.string().nullish(),
  dimensions: z.number().nullish(),
  hash: z.string().nullish(),
  inference_id: z.string().nullish(),
});
type Meta = z.output<typeof meta>;

/** The memory index and the log index behind their aliases; safe to repeat and to run twice at once. */
export async function setUp(backend: Backend, model: EmbeddingModel, inferenceId: string | null): Promise<void> {
  const semantics: Semantics = inferenceId === null ? { dimensions: model.dimensions } : { inferenceId };
  const identity = { model: model.name, dimensions: model.dimensions, hash: model.hash, inference_id: inferenceId };
  const memories = {
    alias: backend.index,
    properties: memoryProperties(semantics),
    meta: { schema: SCHEMA, ...identity },
  };
  const log = { alias: backend.log, properties: LOG_PROPERTIES, meta: { schema: SCHEMA } };
  for (const wanted of [log, memories]) {
    const found = (await read(backend, wanted.alias)) ?? (await create(backend, wanted));
    checkSchema(wanted.alias, found);
    if (wanted === memories) checkModel(wanted.alias, found, wanted.meta);
    if (found.schema < SCHEMA) await migrate(backend, wanted, found);
  }
}

interface Wanted {
  alias: string;
  properties: Record<string, estypes.MappingProperty>;
  meta: Meta;
}

/** What is behind the alias; null where there is nothing. */
async function read(backend: Backend, alias: string): Promise<Meta | null> {
  const what = `read the mapping of ${alias}`;
  try {
    const answer = await backend.elastic.attempt((client, call) => client.indices.getMapping({ index: alias }, call));
    const [index, ...others] = Object.entries(answer);
    if (!index) return null;
    const [name, { mappings }] = index;
    if (others.length > 0 || name === alias)
      throw notOurs(alias, others.length > 0 ? 'stands for several indices' : 'is an index, not an alias');
    const parsed = meta.safeParse(mappings._meta?.superseded);
    if (!parsed.success) throw notOurs(alias, 'stands for an index that Superseded did not make');
    return parsed.data;
  } catch (error) {
    if (failureOfResponse(error)?.status === 404) return null;
    throw coded(what, error);
  }
}

const notOurs = (alias: string, why: string): SupersededError =>
  new SupersededError('CONFIGURATION', `${alias} ${why}.`, { hint: 'Set ELASTICSEARCH_INDEX to another name.' });

async function create(backend: Backend, { alias, properties, meta: own }: Wanted): Promise<Meta> {
  try {
    await backend.elastic.attempt((client, call) =>
      client.indices.create(
        {
          index: `${alias}-000001`,
          aliases: { [alias]: { is_write_index: true } },
          settings: SETTINGS,
          mappings: { dynamic: 'strict', _meta: { superseded: own }, properties },
        },
        call,
      ),
    );
    return own;
  } catch (error) {
    // Another setup was faster, or our own first try was, whose answer was lost.
    const made = failureOfResponse(error)?.type === 'resource_already_exists_exception' && (await read(backend, alias));
    if (made) return made;
    throw coded(`create the index ${alias}-000001`, error);
  }
}

/** Deletes what is behind both aliases, where there is anything. */
export async function dropIndices(backend: Backend): Promise<void> {
  for (const alias of [backend.index, backend.log]) {
    await backend.elastic.call(`delete the index of ${alias}`, (client, call) =>
      client.indices.delete({ index: `${alias}-000001`, ignore_unavailable: true }, call),
    );
  }
}

/** Adds the fields that are new since, and what belongs into them; the schema is noted last, so that a crash repeats it. */
async function migrate(backend: Backend, { alias, properties }: Wanted, found: Meta): Promise<void> {
  const put = (mapping: Pick<estypes.IndicesPutMappingRequest, 'properties' | '_meta'>) =>
    backend.elastic.call(`add fields to ${alias}`, (client, call) =>
      client.indices.putMapping({ index: alias, ...mapping }, call),
    );
  await put({ properties });
  if (alias === backend.index) await backfill(backend);
  await put({ _meta: { superseded: { ...found, schema: SCHEMA } } });
}

function checkSchema(alias: string, { schema }: Meta): void {
  if (schema <= SCHEMA) return;
  throw new SupersededError(
    'SCHEMA_MISMATCH',
    `The index behind ${alias} has schema ${schema}; this version knows ${SCHEMA}.`,
    { hint: 'A newer version made it. Update Superseded, or set ELASTICSEARCH_INDEX to another name.' },
  );
}

function checkModel(alias: string, found: Meta, own: Meta): void {
  const same =
    found.model === own.model &&
    found.dimensions === own.dimensions &&
    (found.inference_id ?? null) === (own.inference_id ?? null) &&
    (found.hash === own.hash || found.hash == null || own.hash == null);
  if (same) return;
  throw new SupersededError(
    'MODEL_MISMATCH',
    `The index behind ${alias} holds vectors of ${describe(found)}; the embedder in use is ${describe(own)}.`,
    {
      hint:
        'Use the model the index was made with, or re-embed: `superseded export` with that model, then ' +
        '`superseded import` with this one and a new name in ELASTICSEARCH_INDEX.',
    },
  );
}

function describe({ model, dimensions, hash, inference_id: endpoint }: Meta): string {
  const parts = [`${dimensions} dimensions`, hash?.slice(0, 12), endpoint && `the endpoint ${endpoint}`].filter(
    Boolean,
  );
  return `${model} (${parts.join(', ')})`;
}
