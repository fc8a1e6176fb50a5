/** What the indices look like, as data; bump SCHEMA with every change that an older version could not read. */

export const SCHEMA = 2;

/** How the semantic branch is stored: vectors of the client, or text that an inference endpoint embeds. */
export type Semantics = { dimensions: number } | { inferenceId: string };

const keyword = { type: 'keyword' } as const;
const date = { type: 'date' } as const;
const text = { type: 'text', analyzer: 'standard' } as const;
/** Kept and returned, never searched. */
const kept = { type: 'object', enabled: false } as const;
const unsearched = { type: 'keyword', index: false, doc_values: false } as const;

/** Fields of a memory, the semantic one apart. */
const MEMORY_FIELDS = {
  id: keyword,
  scope: keyword,
  kind: keyword,
  topic: keyword,
  title: text,
  content: text,
  // `text` for the lexical branch, whole tags for the filter.
  tags: { ...text, fields: { exact: keyword } },
  text_key: keyword,
  created_at: date,
  valid_from: date,
  planned_to: date,
  valid_to: date,
  /** Whether valid_to ≤ valid_from: a comparison of two columns, which no Lucene query can make. */
  never_valid: { type: 'boolean' },
  /** created_at, or valid_from where it had ended by then; none where it was announced before it began. */
  watched_from: date,
  closed_at: date,
  closed_as: keyword,
  closed_reason: unsearched,
  supersedes: keyword,
  superseded_by: keyword,
  denies: keyword,
  denied_by: keyword,
  denied_at: date,
  reopens: keyword,
  reopened_by: keyword,
  reopened_at: date,
  derived_from: keyword,
  confidence: { type: 'double' },
  /** What callers see; computed from the next two, for the query. */
  feedback: { type: 'double' },
  feedback_sum: { type: 'double' },
  feedback_count: { type: 'integer' },
  fresh_at: date,
  confirmed_at: date,
  changed_mind: { type: 'boolean' },
  similar_to: keyword,
  reviewed_at: date,
  changed_at: date,
  heard_at: date,
  changes: { type: 'integer' },
  /** On what is left of an erased memory, which has none of the fields above but id and scope. */
  erased_at: date,
  /** The commit that wrote the row last: tells a retry that it succeeded the first time. */
  written_by: unsearched,
  /** The commit of several rows that made this one, which shows it once it is done. */
  batch: keyword,
  /** The commit of several rows that is about to change this one. */
  claim: keyword,
} as const;

/** Exact cosines: `flat` scans, which a scope's filter keeps short; quantised forms lose recall with small models. */
export const vectorField = (dimensions: number) =>
  ({
    type: 'dense_vector',
    dims: dimensions,
    similarity: 'cosine',
    index: true,
    index_options: { type: 'flat' },
  }) as const;

/**
 * Unquantised `hnsw`, for the same reason. Chunks of 150 words: most memories are one chunk, and the end of a long
 * one is still found, where `none` would cut it off at the model's window. A memory scores by its best chunk.
 */
export const passageField = (inferenceId: string) =>
  ({
    type: 'semantic_text',
    inference_id: inferenceId,
    index_options: { dense_vector: { type: 'hnsw' } },
    chunking_settings: { strategy: 'sentence', max_chunk_size: 150, sentence_overlap: 1 },
  }) as const;

export const memoryProperties = (semantics: Semantics) => ({
  ...MEMORY_FIELDS,
  ...('inferenceId' in semantics
    ? { passage: passageField(semantics.inferenceId) }
    : { vector: vectorField(semantics.dimensions) }),
});

/** Audit entries and transactions in one index, told apart by `type`. */
export const LOG_PROPERTIES = {
  type: keyword,
  scope: keyword,
  memory: keyword,
  id: keyword,
  at: date,
  actor: keyword,
  verb: keyword,
  source: keyword,
  before: kept,
  after: kept,
  detail: kept,
  batch: keyword,
  state: keyword,
  touched: { ...date, index: false, doc_values: false },
  changes: kept,
} as const;

/** One primary shard: BM25 statistics are then those of the whole store, and one refresh shows one commit. */
export const SETTINGS = { number_of_shards: 1 } as const;

/** A mapping with both semantic fields, against which every query of either branch can be checked. */
export const queryMapping = (dimensions = 384) => ({
  properties: { ...memoryProperties({ dimensions }), passage: passageField('embeddings') },
});
