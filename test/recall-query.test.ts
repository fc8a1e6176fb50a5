import { describe, expect, it } from 'vitest';
import { type AgingTable, PRESETS } from '../src/aging.ts';
import { recallQuery, type Target } from '../src/recall-query.ts';
import type { RankQuery } from '../src/store.ts';
import { questionOf } from './store-fixtures.ts';

const NOW = Date.UTC(2026, 2, 1, 9);
const QUERY: RankQuery = questionOf({
  text: 'window or aisle?',
  vector: Float32Array.of(1, 0, 0.5),
  calibration: { lo: 0.73, hi: 0.88 },
  aging: PRESETS.default,
  limit: 8,
  asOf: NOW,
  knownAt: NOW,
});
const SMALL: AgingTable = {
  windows: [
    { topics: ['plan', 'trip'], halfLifeHours: 720, floor: 0.1 },
    { topics: ['landmark'], halfLifeHours: null, floor: 1 },
  ],
  otherwise: { halfLifeHours: 1440.5, floor: 0 },
};
const dense: Target = { index: 'superseded-memories', dialect: 'fuse', inferenceId: null };
const compile = (query: Partial<RankQuery> = {}, target: Partial<Target> = {}) =>
  recallQuery({ ...QUERY, ...query }, 'user:ana', { ...dense, ...target });
const compact = ({ params }: { params: readonly object[] }) => params.map((param) => JSON.stringify(param)).join(' ');

describe('the recall query', () => {
  it('fuses and decays, over client-side vectors', () => {
    const request = compile();
    expect(request.query).toMatchInlineSnapshot(`
      "FROM superseded-memories METADATA _id, _index, _score
      | WHERE scope IN (?own, ?shared) AND created_at <= ?known::datetime
          AND valid_from <= ?asof::datetime AND (planned_to IS NULL OR planned_to > ?asof::datetime)
          AND (closed_at IS NULL OR closed_at > ?known::datetime OR valid_to > ?asof::datetime)
      | FORK ( WHERE MATCH(title, ?q) OR MATCH(content, ?q) OR MATCH(tags, ?q)
               | SORT _score DESC, fresh_at DESC, id, scope | LIMIT ?branch
               | EVAL relevance = _score / (_score + ?k::double), lexical = relevance
               | KEEP _id, _index, id, scope, topic, confidence, feedback, fresh_at, superseded_by, supersedes, batch, relevance, lexical )
             ( WHERE KNN(vector, ?v, { "k": ?near })
               | SORT _score DESC, fresh_at DESC, id, scope | LIMIT ?branch
               | EVAL relevance = LEAST(1.0, GREATEST(0.0, (2.0 * _score - 1.0 - ?lo::double) / (?hi::double - ?lo::double))), semantic = relevance
               | KEEP _id, _index, id, scope, topic, confidence, feedback, fresh_at, superseded_by, supersedes, batch, relevance, semantic )
      | FUSE LINEAR SCORE BY relevance WITH { "weights": { "fork1": ?wl, "fork2": ?ws } }
      | EVAL age_weight = CASE(
          topic IN (?w1_1, ?w1_2), ?floor1::double + (1.0 - ?floor1::double) * DECAY(LEAST(fresh_at, ?asof::datetime), ?asof::datetime, ?half1::time_duration, { "type": "exp" }),
          topic IN (?w2_1), ?floor2::double + (1.0 - ?floor2::double) * DECAY(LEAST(fresh_at, ?asof::datetime), ?asof::datetime, ?half2::time_duration, { "type": "exp" }),
          topic IN (?w3_1, ?w3_2), ?floor3::double + (1.0 - ?floor3::double) * DECAY(LEAST(fresh_at, ?asof::datetime), ?asof::datetime, ?half3::time_duration, { "type": "exp" }),
          topic IN (?w4_1, ?w4_2), 1.0,
          ?floor0::double + (1.0 - ?floor0::double) * DECAY(LEAST(fresh_at, ?asof::datetime), ?asof::datetime, ?half0::time_duration, { "type": "exp" }))
      | EVAL trust = (0.5 + 0.5 * confidence) * (1.0 + 0.8 * LEAST(feedback, 0.0)), score = relevance * age_weight * trust
      | WHERE score > 0
      | SORT score DESC, fresh_at DESC, id, scope
      | LIMIT ?limit
      | KEEP _id, id, scope, superseded_by, supersedes, batch, lexical, semantic, relevance, age_weight, trust, score"
    `);
    expect(compact(request)).toMatchInlineSnapshot(
      `"{"own":"user:ana"} {"shared":"shared"} {"known":"2026-03-01T09:00:00.000Z"} {"asof":"2026-03-01T09:00:00.000Z"} {"q":"window or aisle?"} {"branch":80} {"k":11} {"v":[1.0000000009313226,1e-46,0.5]} {"near":80} {"lo":0.73} {"hi":0.88} {"wl":0.3} {"ws":0.7} {"w1_1":"preference"} {"w1_2":"opinion"} {"floor1":0.25} {"half1":"1080 hours"} {"w2_1":"plan"} {"floor2":0.1} {"half2":"720 hours"} {"w3_1":"event"} {"w3_2":"fact"} {"floor3":0.5} {"half3":"8760 hours"} {"w4_1":"constraint"} {"w4_2":"landmark"} {"floor0":0.25} {"half0":"1440 hours"} {"limit":8}"`,
    );
  });

  it('fuses and decays, over text that the server embeds', () => {
    const request = compile({ vector: null, aging: SMALL }, { inferenceId: 'embeddings' });
    expect(request.query).toMatchInlineSnapshot(`
      "FROM superseded-memories METADATA _id, _index, _score
      | WHERE scope IN (?own, ?shared) AND created_at <= ?known::datetime
          AND valid_from <= ?asof::datetime AND (planned_to IS NULL OR planned_to > ?asof::datetime)
          AND (closed_at IS NULL OR closed_at > ?known::datetime OR valid_to > ?asof::datetime)
      | FORK ( WHERE MATCH(title, ?q) OR MATCH(content, ?q) OR MATCH(tags, ?q)
               | SORT _score DESC, fresh_at DESC, id, scope | LIMIT ?branch
               | EVAL relevance = _score / (_score + ?k::double), lexical = relevance
               | KEEP _id, _index, id, scope, topic, confidence, feedback, fresh_at, superseded_by, supersedes, batch, relevance, lexical )
             ( WHERE KNN(passage, TEXT_EMBEDDING(?q, ?endpoint), { "k": ?near })
               | SORT _score DESC, fresh_at DESC, id, scope | LIMIT ?branch
               | EVAL relevance = LEAST(1.0, GREATEST(0.0, (2.0 * _score - 1.0 - ?lo::double) / (?hi::double - ?lo::double))), semantic = relevance
               | KEEP _id, _index, id, scope, topic, confidence, feedback, fresh_at, superseded_by, supersedes, batch, relevance, semantic )
      | FUSE LINEAR SCORE BY relevance WITH { "weights": { "fork1": ?wl, "fork2": ?ws } }
      | EVAL age_weight = CASE(
          topic IN (?w1_1, ?w1_2), ?floor1::double + (1.0 - ?floor1::double) * DECAY(LEAST(fresh_at, ?asof::datetime), ?asof::datetime, ?half1::time_duration, { "type": "exp" }),
          topic IN (?w2_1), 1.0,
          ?floor0::double + (1.0 - ?floor0::double) * DECAY(LEAST(fresh_at, ?asof::datetime), ?asof::datetime, ?half0::time_duration, { "type": "exp" }))
      | EVAL trust = (0.5 + 0.5 * confidence) * (1.0 + 0.8 * LEAST(feedback, 0.0)), score = relevance * age_weight * trust
      | WHERE score > 0
      | SORT score DESC, fresh_at DESC, id, scope
      | LIMIT ?limit
      | KEEP _id, id, scope, superseded_by, supersedes, batch, lexical, semantic, relevance, age_weight, trust, score"
    `);
    expect(compact(request)).toMatchInlineSnapshot(
      `"{"own":"user:ana"} {"shared":"shared"} {"known":"2026-03-01T09:00:00.000Z"} {"asof":"2026-03-01T09:00:00.000Z"} {"q":"window or aisle?"} {"branch":80} {"k":11} {"endpoint":"embeddings"} {"near":80} {"lo":0.73} {"hi":0.88} {"wl":0.3} {"ws":0.7} {"w1_1":"plan"} {"w1_2":"trip"} {"floor1":0.1} {"half1":"720 hours"} {"w2_1":"landmark"} {"floor0":0} {"half0":"86430 minutes"} {"limit":8}"`,
    );
  });

  it('sums and raises to a power where there is no FUSE, over client-side vectors', () => {
    const request = compile({ aging: SMALL }, { dialect: 'portable' });
    expect(request.query).toMatchInlineSnapshot(`
      "FROM superseded-memories METADATA _id, _index, _score
      | WHERE scope IN (?own, ?shared) AND created_at <= ?known::datetime
          AND valid_from <= ?asof::datetime AND (planned_to IS NULL OR planned_to > ?asof::datetime)
          AND (closed_at IS NULL OR closed_at > ?known::datetime OR valid_to > ?asof::datetime)
      | FORK ( WHERE MATCH(title, ?q) OR MATCH(content, ?q) OR MATCH(tags, ?q)
               | SORT _score DESC, fresh_at DESC, id, scope | LIMIT ?branch
               | EVAL relevance = _score / (_score + ?k::double), lexical = relevance
               | KEEP _id, _index, id, scope, topic, confidence, feedback, fresh_at, superseded_by, supersedes, batch, relevance, lexical )
             ( WHERE KNN(vector, ?v, { "k": ?near })
               | SORT _score DESC, fresh_at DESC, id, scope | LIMIT ?branch
               | EVAL relevance = LEAST(1.0, GREATEST(0.0, (2.0 * _score - 1.0 - ?lo::double) / (?hi::double - ?lo::double))), semantic = relevance
               | KEEP _id, _index, id, scope, topic, confidence, feedback, fresh_at, superseded_by, supersedes, batch, relevance, semantic )
      | EVAL relevance = relevance * CASE(_fork == "fork1", ?wl::double, ?ws::double)
      | STATS relevance = SUM(relevance), lexical = MAX(lexical), semantic = MAX(semantic), topic = MAX(topic),
          confidence = MAX(confidence), feedback = MAX(feedback), fresh_at = MAX(fresh_at),
          superseded_by = MAX(superseded_by), supersedes = VALUES(supersedes), batch = MAX(batch) BY _id, id, scope
      | EVAL age_weight = CASE(
          topic IN (?w1_1, ?w1_2), ?floor1::double + (1.0 - ?floor1::double) * POW(0.5, GREATEST(TO_LONG(?asof::datetime) - TO_LONG(fresh_at), 0) / ?hour::double / ?half1::double),
          topic IN (?w2_1), 1.0,
          ?floor0::double + (1.0 - ?floor0::double) * POW(0.5, GREATEST(TO_LONG(?asof::datetime) - TO_LONG(fresh_at), 0) / ?hour::double / ?half0::double))
      | EVAL trust = (0.5 + 0.5 * confidence) * (1.0 + 0.8 * LEAST(feedback, 0.0)), score = relevance * age_weight * trust
      | WHERE score > 0
      | SORT score DESC, fresh_at DESC, id, scope
      | LIMIT ?limit
      | KEEP _id, id, scope, superseded_by, supersedes, batch, lexical, semantic, relevance, age_weight, trust, score"
    `);
    expect(compact(request)).toMatchInlineSnapshot(
      `"{"own":"user:ana"} {"shared":"shared"} {"known":"2026-03-01T09:00:00.000Z"} {"asof":"2026-03-01T09:00:00.000Z"} {"q":"window or aisle?"} {"branch":80} {"k":11} {"v":[1.0000000009313226,1e-46,0.5]} {"near":80} {"lo":0.73} {"hi":0.88} {"wl":0.3} {"ws":0.7} {"w1_1":"plan"} {"w1_2":"trip"} {"floor1":0.1} {"hour":3600000} {"half1":720} {"w2_1":"landmark"} {"floor0":0} {"half0":1440.5} {"limit":8}"`,
    );
  });

  it('sums and raises to a power where there is no FUSE, over text that the server embeds', () => {
    const request = compile({ vector: null, aging: PRESETS.flat }, { dialect: 'portable', inferenceId: 'embeddings' });
    expect(request.query).toMatchInlineSnapshot(`
      "FROM superseded-memories METADATA _id, _index, _score
      | WHERE scope IN (?own, ?shared) AND created_at <= ?known::datetime
          AND valid_from <= ?asof::datetime AND (planned_to IS NULL OR planned_to > ?asof::datetime)
          AND (closed_at IS NULL OR closed_at > ?known::datetime OR valid_to > ?asof::datetime)
      | FORK ( WHERE MATCH(title, ?q) OR MATCH(content, ?q) OR MATCH(tags, ?q)
               | SORT _score DESC, fresh_at DESC, id, scope | LIMIT ?branch
               | EVAL relevance = _score / (_score + ?k::double), lexical = relevance
               | KEEP _id, _index, id, scope, topic, confidence, feedback, fresh_at, superseded_by, supersedes, batch, relevance, lexical )
             ( WHERE KNN(passage, TEXT_EMBEDDING(?q, ?endpoint), { "k": ?near })
               | SORT _score DESC, fresh_at DESC, id, scope | LIMIT ?branch
               | EVAL relevance = LEAST(1.0, GREATEST(0.0, (2.0 * _score - 1.0 - ?lo::double) / (?hi::double - ?lo::double))), semantic = relevance
               | KEEP _id, _index, id, scope, topic, confidence, feedback, fresh_at, superseded_by, supersedes, batch, relevance, semantic )
      | EVAL relevance = relevance * CASE(_fork == "fork1", ?wl::double, ?ws::double)
      | STATS relevance = SUM(relevance), lexical = MAX(lexical), semantic = MAX(semantic), topic = MAX(topic),
          confidence = MAX(confidence), feedback = MAX(feedback), fresh_at = MAX(fresh_at),
          superseded_by = MAX(superseded_by), supersedes = VALUES(supersedes), batch = MAX(batch) BY _id, id, scope
      | EVAL age_weight = 1.0
      | EVAL trust = (0.5 + 0.5 * confidence) * (1.0 + 0.8 * LEAST(feedback, 0.0)), score = relevance * age_weight * trust
      | WHERE score > 0
      | SORT score DESC, fresh_at DESC, id, scope
      | LIMIT ?limit
      | KEEP _id, id, scope, superseded_by, supersedes, batch, lexical, semantic, relevance, age_weight, trust, score"
    `);
    expect(compact(request)).toMatchInlineSnapshot(
      `"{"own":"user:ana"} {"shared":"shared"} {"known":"2026-03-01T09:00:00.000Z"} {"asof":"2026-03-01T09:00:00.000Z"} {"q":"window or aisle?"} {"branch":80} {"k":11} {"endpoint":"embeddings"} {"near":80} {"lo":0.73} {"hi":0.88} {"wl":0.3} {"ws":0.7} {"limit":8}"`,
    );
  });

  const conditionsOf = (query: Partial<RankQuery>): string => compile(query).query.split('\n| FORK')[0] ?? '';

  it('filters by kind and topic in the text, before the branches', () => {
    expect(conditionsOf({ kinds: ['episodic', 'semantic'], topics: ['plan'] })).toMatchInlineSnapshot(`
      "FROM superseded-memories METADATA _id, _index, _score
      | WHERE scope IN (?own, ?shared) AND created_at <= ?known::datetime
          AND valid_from <= ?asof::datetime AND (planned_to IS NULL OR planned_to > ?asof::datetime)
          AND (closed_at IS NULL OR closed_at > ?known::datetime OR valid_to > ?asof::datetime)
          AND kind IN (?kind1, ?kind2)
          AND topic IN (?topic1)"
    `);
  });

  it('asks history for every status but upcoming', () => {
    expect(conditionsOf({ includeHistory: true })).toMatchInlineSnapshot(`
      "FROM superseded-memories METADATA _id, _index, _score
      | WHERE scope IN (?own, ?shared) AND created_at <= ?known::datetime
          AND (valid_from <= ?asof::datetime OR planned_to <= ?asof::datetime OR (closed_at <= ?known::datetime AND (valid_to <= ?asof::datetime OR never_valid)))"
    `);
  });

  it('asks strictly for confidence, no harm and one half-life', () => {
    expect(conditionsOf({ strict: true, aging: SMALL })).toMatchInlineSnapshot(`
      "FROM superseded-memories METADATA _id, _index, _score
      | WHERE scope IN (?own, ?shared) AND created_at <= ?known::datetime
          AND valid_from <= ?asof::datetime AND (planned_to IS NULL OR planned_to > ?asof::datetime)
          AND (closed_at IS NULL OR closed_at > ?known::datetime OR valid_to > ?asof::datetime)
          AND confidence >= 0.5 AND feedback > -0.5
          AND (topic IN (?w1_1, ?w1_2) AND fresh_at >= ?since1::datetime
            OR topic IN (?w2_1)
            OR topic NOT IN (?w1_1, ?w1_2) AND topic NOT IN (?w2_1) AND fresh_at >= ?since0::datetime)"
    `);
  });

  it('asks strictly for no age where nothing ages, and for one where all ages alike', () => {
    expect(conditionsOf({ strict: true, aging: PRESETS.flat })).not.toContain('since');
    expect(conditionsOf({ strict: true, aging: PRESETS['single-window'] })).toContain(
      'AND feedback > -0.5\n    AND (fresh_at >= ?since0::datetime)',
    );
  });

  it('sends the scope again in the request filter, with tags and the commits that are under way', () => {
    const target = { ...dense };
    expect(recallQuery(QUERY, 'user:ana', target).filter).toEqual({
      bool: { filter: [{ terms: { scope: ['user:ana', 'shared'] } }] },
    });
    expect(recallQuery({ ...QUERY, tags: ['travel'] }, 'shared', target, ['b1']).filter).toEqual({
      bool: {
        filter: [{ terms: { scope: ['shared'] } }, { terms: { 'tags.exact': ['travel'] } }],
        must_not: [{ terms: { batch: ['b1'] } }],
      },
    });
  });

  it('asks KNN for more neighbours where the request filter may take some away, with the same text', () => {
    const near = (tags: string[], hidden: string[] = []) => {
      const { query, params } = recallQuery({ ...QUERY, tags }, 'user:ana', dense, hidden);
      expect(query).toBe(compile().query);
      return params.flatMap((param) => ('near' in param ? [param.near] : []));
    };
    expect([near([]), near(['travel']), near([], ['b1'])]).toEqual([[80], [10_000], [10_000]]);
  });

  it('gives a topic to the first window that names it', () => {
    const window = { topics: ['plan'], halfLifeHours: 720, floor: 0.1 };
    const { query } = compile({
      aging: { ...SMALL, windows: [window, { ...window, topics: ['plan', 'trip', 'trip'] }] },
    });
    expect(query.match(/topic IN \([^)]*\)/g)).toEqual(['topic IN (?w1_1)', 'topic IN (?w2_1)']);
  });

  it('has the same text for every value of the same request', () => {
    const other = compile({ text: 'else', limit: 99, asOf: 0, knownAt: 1, calibration: { lo: 0, hi: 1 } });
    expect(other.query).toBe(compile().query);
  });

  it('differs between dialects in fusion and age alone, and between branches in the semantic condition alone', () => {
    const lines = (target: Partial<Target>) => compile({}, target).query.split('\n');
    const missing = (a: string[], b: string[]) => a.filter((line) => !b.includes(line));
    const server = { inferenceId: 'embeddings' };
    expect(missing(lines(server), lines({}))).toHaveLength(1);
    expect(missing(lines({}), lines(server))).toHaveLength(1);
    for (const line of missing(lines({}), lines({ dialect: 'portable' }))) expect(line).toMatch(/FUSE LINEAR|DECAY/);
  });

  it('refuses a question that nobody embedded, and half-lives that no duration can hold', () => {
    expect(() => compile({ vector: null })).toThrow(TypeError);
    const aging = { windows: [], otherwise: { halfLifeHours: 0, floor: 0 } };
    expect(() => compile({ aging })).toThrow(TypeError);
  });
});
