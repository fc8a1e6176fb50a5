import type { AgingTable, Pace } from './aging.ts';
import {
  double,
  duration,
  type Esql,
  esql,
  indexName,
  instant,
  join,
  list,
  type Param,
  param,
  vector,
} from './esql.ts';
import { type Scope, SHARED } from './memory.ts';
import { BRANCH_SIZE, LEXICAL_K, MS_PER_HOUR, WEIGHTS } from './score.ts';
import type { RankQuery } from './store.ts';

/** Compiles a recall into one ES|QL request; knows the index and the formula, and no client. */

/** `fuse` needs FUSE (an Enterprise or trial licence, or Serverless) and DECAY; `portable` needs neither. */
export type Dialect = 'fuse' | 'portable';

/** What a query is compiled for. */
export interface Target {
  /** The index or alias that holds the memories. */
  index: string;
  dialect: Dialect;
  /** The endpoint that embeds `passage` on the server; null where `vector` holds what the client embedded. */
  inferenceId: string | null;
}

/** A Query DSL condition: the few forms that recall needs. */
export type Condition =
  | { terms: Readonly<Record<string, readonly string[]>> }
  | { bool: { filter: readonly Condition[]; must_not?: readonly Condition[] } };

export interface RecallRequest extends Esql {
  /** Sent beside the text: the scope once more, so that a wrong text alone cannot read another user's memories. */
  readonly filter: Condition;
}

/** What a row brings through the fusion: scalars and the names of its links. Whole rows come from a look-up by id. */
const CARRIED = esql`id, scope, topic, confidence, feedback, fresh_at, superseded_by, supersedes, batch`;

/**
 * The request that ranks own and shared memories. `hiddenBatches` names writes that are not done: their rows are left
 * out. All conditions stand before FORK, so that they choose the candidates and not only the hits, and each has a
 * Lucene form, so that KNN takes it as a pre-filter. What the request filter alone says (tags, hidden batches) KNN may
 * learn only once it has its neighbours: there it is asked for as many as Elasticsearch allows, of which LIMIT keeps 80.
 */
export function recallQuery(
  query: RankQuery,
  scope: Scope,
  target: Target,
  hiddenBatches: readonly string[] = [],
): RecallRequest {
  const asOf = instant(query.asOf, 'asof');
  const windows = windowsOf(query.aging);
  const neighbours = query.tags.length + hiddenBatches.length > 0 ? MOST_NEIGHBOURS : BRANCH_SIZE;
  const compiled = esql`FROM ${indexName(target.index)} METADATA _id, _index, _score
| WHERE ${join(conditions(query, scope, asOf, windows), '\n    AND ')}
| FORK ${branches(query, target, neighbours)}
${target.dialect === 'fuse' ? fused() : summed()}
| EVAL age_weight = ${ageWeight(windows, target.dialect === 'fuse' ? decay(asOf) : power(asOf))}
| EVAL trust = (0.5 + 0.5 * confidence) * (1.0 + 0.8 * LEAST(feedback, 0.0)), score = relevance * age_weight * trust
| WHERE score > 0
| SORT score DESC, fresh_at DESC, id, scope
| LIMIT ${param(query.limit, 'limit')}
| KEEP _id, id, scope, superseded_by, supersedes, batch, lexical, semantic, relevance, age_weight, trust, score`;
  return Object.freeze({ ...compiled, filter: filterOf(query, scope, hiddenBatches) });
}

function filterOf(query: RankQuery, scope: Scope, hiddenBatches: readonly string[]): Condition {
  const filter: Condition[] = [{ terms: { scope: [...new Set([scope, SHARED])] } }];
  // Tags have many values, which ES|QL does not compare (it gives null); a request filter does.
  if (query.tags.length > 0) filter.push({ terms: { 'tags.exact': [...query.tags] } });
  if (hiddenBatches.length === 0) return { bool: { filter } };
  return { bool: { filter, must_not: [{ terms: { batch: [...hiddenBatches] } }] } };
}

function conditions(query: RankQuery, scope: Scope, asOf: Param, windows: Windows): Esql[] {
  const known = instant(query.knownAt, 'known');
  const all = [
    esql`scope IN (${param(scope, 'own')}, ${param(SHARED, 'shared')}) AND created_at <= ${known}`,
    ...(query.includeHistory ? [notUpcoming(asOf, known)] : holding(asOf, known)),
  ];
  if (query.kinds.length > 0) all.push(esql`kind IN (${list(query.kinds, 'kind')})`);
  if (query.topics.length > 0) all.push(esql`topic IN (${list(query.topics, 'topic')})`);
  return query.strict ? [...all, ...trusted(query.asOf, windows)] : all;
}

const holding = (asOf: Param, known: Param): Esql[] => [
  esql`valid_from <= ${asOf} AND (planned_to IS NULL OR planned_to > ${asOf})`,
  esql`(closed_at IS NULL OR closed_at > ${known} OR valid_to > ${asOf})`,
];

/** Every status but `upcoming`. `never_valid` stands for `valid_to <= valid_from`, which has no Lucene form. */
const notUpcoming = (asOf: Param, known: Param): Esql =>
  esql`(valid_from <= ${asOf} OR planned_to <= ${asOf} OR (closed_at <= ${known} AND (valid_to <= ${asOf} OR never_valid)))`;

/** Confident, unharmed, and within one half-life; topics that never age pass. */
function trusted(asOf: number, { named, otherwise }: Windows): Esql[] {
  const fresh = ({ halfLifeHours }: Pace, n: string): Esql[] => {
    if (halfLifeHours === null) return [];
    const since = Math.max(EARLIEST, Math.ceil(asOf - halfLifeHours * MS_PER_HOUR));
    return [esql`fresh_at >= ${instant(since, `since${n}`)}`];
  };
  const ways = named.map((window, at) =>
    join([esql`topic IN (${window.topics})`, ...fresh(window, String(at + 1))], ' AND '),
  );
  const elsewhere = [...named.map(({ topics }) => esql`topic NOT IN (${topics})`), ...fresh(otherwise, '0')];
  if (elsewhere.length > 0) ways.push(join(elsewhere, ' AND '));
  const sure = esql`confidence >= 0.5 AND feedback > -0.5`;
  return ways.length === 0 ? [sure] : [sure, esql`(${join(ways, '\n      OR ')})`];
}

/** 0001-01-01: older than any memory, and still an instant to ES|QL. */
const EARLIEST = -62_135_596_800_000;

/** The most that KNN takes. A flat field matches every document whatever its k (seen on 9.5.3); `hnsw` needs it. */
const MOST_NEIGHBOURS = 10_000;

function branches(query: RankQuery, target: Target, neighbours: number): Esql {
  const text = param(query.text, 'q');
  const size = param(BRANCH_SIZE, 'branch');
  const half = double(LEXICAL_K, 'k');
  const lo = double(query.calibration.lo, 'lo');
  const hi = double(query.calibration.hi, 'hi');
  const best = esql`SORT _score DESC, fresh_at DESC, id, scope | LIMIT ${size}`;
  return esql`( WHERE MATCH(title, ${text}) OR MATCH(content, ${text}) OR MATCH(tags, ${text})
         | ${best}
         | EVAL relevance = _score / (_score + ${half}), lexical = relevance
         | KEEP _id, _index, ${CARRIED}, relevance, lexical )
       ( WHERE ${nearest(query, target, text, param(neighbours, 'near'))}
         | ${best}
         | EVAL relevance = LEAST(1.0, GREATEST(0.0, (2.0 * _score - 1.0 - ${lo}) / (${hi} - ${lo}))), semantic = relevance
         | KEEP _id, _index, ${CARRIED}, relevance, semantic )`;
}

/** KNN also over `semantic_text`: MATCH gives some ten neighbours a shard there, whatever the LIMIT. */
function nearest(query: RankQuery, target: Target, text: Param, near: Param): Esql {
  if (target.inferenceId !== null) {
    return esql`KNN(passage, TEXT_EMBEDDING(${text}, ${param(target.inferenceId, 'endpoint')}), { "k": ${near} })`;
  }
  if (query.vector === null) throw new TypeError('recallQuery: the question was not embedded');
  return esql`KNN(vector, ${vector(query.vector, 'v')}, { "k": ${near} })`;
}

const fused = (): Esql =>
  esql`| FUSE LINEAR SCORE BY relevance WITH { "weights": { "fork1": ${param(WEIGHTS.lexical, 'wl')}, "fork2": ${param(WEIGHTS.semantic, 'ws')} } }`;

const summed = (): Esql =>
  esql`| EVAL relevance = relevance * CASE(_fork == "fork1", ${double(WEIGHTS.lexical, 'wl')}, ${double(WEIGHTS.semantic, 'ws')})
| STATS relevance = SUM(relevance), lexical = MAX(lexical), semantic = MAX(semantic), topic = MAX(topic),
    confidence = MAX(confidence), feedback = MAX(feedback), fresh_at = MAX(fresh_at),
    superseded_by = MAX(superseded_by), supersedes = VALUES(supersedes), batch = MAX(batch) BY _id, id, scope`;

interface Windows {
  named: readonly (Pace & { topics: ReturnType<typeof list> })[];
  otherwise: Pace;
}

/** The table with each topic in the first window that names it, as the score formula reads it. */
function windowsOf(table: AgingTable): Windows {
  const seen = new Set<string>();
  const named = table.windows.flatMap(({ topics, ...pace }) => {
    const own = [...new Set(topics)].filter((topic) => !seen.has(topic));
    for (const topic of own) seen.add(topic);
    return own.length === 0 ? [] : [{ ...pace, own }];
  });
  return {
    named: named.map(({ own, ...pace }, at) => ({ ...pace, topics: list(own, `w${at + 1}_`) })),
    otherwise: table.otherwise,
  };
}

type Fading = (halfLifeHours: number, n: string) => Esql;

function ageWeight(windows: Windows, fading: Fading): Esql {
  const weight = ({ halfLifeHours, floor }: Pace, n: string): Esql => {
    if (halfLifeHours === null) return esql`1.0`;
    const least = double(floor, `floor${n}`);
    return esql`${least} + (1.0 - ${least}) * ${fading(halfLifeHours, n)}`;
  };
  const otherwise = weight(windows.otherwise, '0');
  if (windows.named.length === 0) return otherwise;
  const cases = windows.named.map((window, at) => esql`topic IN (${window.topics}), ${weight(window, String(at + 1))}`);
  return esql`CASE(\n    ${join([...cases, otherwise], ',\n    ')})`;
}

/** Each DECAY has a constant scale; `exp` in lower case, since any other spelling means linear. */
const decay =
  (asOf: Param): Fading =>
  (hours, n) =>
    esql`DECAY(LEAST(fresh_at, ${asOf}), ${asOf}, ${duration(hours, `half${n}`)}, { "type": "exp" })`;

const power = (asOf: Param): Fading => {
  const hour = double(MS_PER_HOUR, 'hour');
  return (hours, n) =>
    esql`POW(0.5, GREATEST(TO_LONG(${asOf}) - TO_LONG(fresh_at), 0) / ${hour} / ${double(hours, `half${n}`)})`;
};
