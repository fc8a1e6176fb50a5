import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@elastic/elasticsearch';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { columnsOf, type Hit, type Mapping } from './esql/fields.ts';
import { readRequest } from './esql/params.ts';
import { type Result, type Rules, runQuery } from './esql/run.ts';
import type { Backend, SearchBody } from './esql/search.ts';
import { EsqlError } from './esql/values.ts';
import { type StandIn, startStandIn } from './esql-stand-in.ts';
import cases from './golden/esql-cases.json';

type Doc = Record<string, unknown> & { _score?: number };
interface Fake extends Backend {
  searches: SearchBody[];
}

/** A node that answers every search with the same documents, and kNN searches with others where given. */
function fake(mapping: Mapping, docs: Doc[], neighbours: Doc[] = docs): Fake {
  const searches: SearchBody[] = [];
  const hit = ({ _score = 0, ...source }: Doc, at: number): Hit => ({
    _id: String(source.id ?? at),
    _index: 'memories',
    _score,
    _source: source,
  });
  return {
    searches,
    fields: async (index) => (index === 'missing' ? null : columnsOf(mapping)),
    search: async (_, body) => {
      searches.push(body);
      return { hits: (JSON.stringify(body.query).includes('"knn"') ? neighbours : docs).map(hit).slice(0, body.size) };
    },
  };
}

const PLAIN: Rules = { license: 'trial', version: '9.5.3', now: () => Date.UTC(2026, 0, 1) };
const EMPTY = fake({}, []);

const run = async (
  query: string,
  params = '[]',
  backend: Backend = EMPTY,
  rules: Partial<Rules> = {},
): Promise<Result> =>
  runQuery(readRequest(`{"query": ${JSON.stringify(query)}, "params": ${params}}`), backend, { ...PLAIN, ...rules });
const record = ({ columns, values }: Result, row = 0): Record<string, unknown> =>
  Object.fromEntries(columns.map(({ name }, at) => [name, values[row]?.[at]]));
const evaluated = async (expression: string, params = '[]'): Promise<unknown> =>
  record(await run(`ROW nothing = null | EVAL x = ${expression}`, params)).x;
const refusal = async (promise: Promise<unknown>): Promise<EsqlError> => {
  const error = await promise.then(
    (result) => new Error(`accepted: ${JSON.stringify(result)}`),
    (failure: unknown) => failure,
  );
  if (!(error instanceof EsqlError)) throw error;
  return error;
};
const refused = async (
  query: string,
  params = '[]',
  backend: Backend = EMPTY,
  rules: Partial<Rules> = {},
): Promise<string> => (await refusal(run(query, params, backend, rules))).message;

describe('DECAY computes what Elasticsearch computes', () => {
  const value = (given: unknown, type: string): string => {
    if (type === 'integer') return String(given);
    if (type === 'long') return `TO_LONG(${given})`;
    if (type === 'double') return `${given}.0`;
    const maker = {
      date: 'TO_DATETIME',
      date_nanos: 'TO_DATE_NANOS',
      cartesian_point: 'TO_CARTESIANPOINT',
      geo_point: 'TO_GEOPOINT',
    };
    return `${maker[type as keyof typeof maker]}("${given}")`;
  };
  it.each(cases.decay)('$id: $value_type $value from $origin, scale $scale, $options', async (one) => {
    const dated = one.value_type.startsWith('date');
    const quoted = (text: unknown) => (typeof text === 'string' && !dated ? JSON.stringify(text) : String(text));
    const options = Object.entries(one.options ?? {}).map(
      ([name, option]) => `"${name}": ${name === 'offset' ? quoted(option) : JSON.stringify(option)}`,
    );
    const map = one.options ? `, { ${options.join(', ')} }` : '';
    const expression = `DECAY(v, ${value(one.origin, one.value_type)}, ${quoted(one.scale)}${map})`;
    // Dated fixtures write their offset as a duration literal, which a map takes as it is.
    const result = await run(`ROW v = ${value(one.value, one.value_type)} | EVAL x = ${expression}`);
    expect(record(result).x).toBeGreaterThanOrEqual(one.expected - one.tolerance);
    expect(record(result).x).toBeLessThanOrEqual(one.expected + one.tolerance);
  });

  it('is linear where no type is given, and where the type is written in capitals', async () => {
    const half = (options: string) => evaluated(`DECAY(NOW() - 2160 hours, NOW(), 1080 hours${options})`);
    expect(await half('')).toBe(0);
    expect(await half(', {"type": "EXP"}')).toBe(0);
    expect(await half(', {"type": "exp"}')).toBe(0.25);
  });
  it('answers null for null and for several values, the latter with a warning', async () => {
    expect(await evaluated('DECAY(nothing::double, 1.0, 2.0)')).toBeNull();
    const result = await run('ROW v = [1, 2] | EVAL x = DECAY(v, 1, 2)');
    expect(record(result).x).toBeNull();
    expect(result.warnings.join()).toContain('single-value function encountered multi-value');
  });
  it('takes its origin and scale from params and from columns made of constants', async () => {
    const params = '[{"at": "2026-01-01T00:00:00Z"}, {"half": "24 hours"}]';
    const expression = 'DECAY("2025-12-31T00:00:00Z"::datetime, ?at::datetime, ?half::time_duration, {"type": "exp"})';
    expect(await evaluated(expression, params)).toBe(0.5);
    expect(record(await run('ROW v = 5, o = 10, s = 10 | EVAL x = DECAY(v, o, s)')).x).toBe(0.75);
  });
});

const ROWS: Mapping = {
  properties: {
    key: { type: 'keyword' },
    group: { type: 'keyword' },
    score: { type: 'double' },
    title: { type: 'text' },
    col1: { type: 'keyword' },
    y: { type: 'integer' },
  },
};
const FUSE =
  'FROM rows METADATA _id, _index, _score | LIMIT 100 | FUSE LINEAR SCORE BY score GROUP BY group KEY BY key';
const fused = (rows: unknown[], options: unknown, rules: Partial<Rules> = {}, rest = ''): Promise<Result> =>
  run(`${FUSE} WITH ${JSON.stringify(options)}${rest}`, '[]', fake(ROWS, rows as Doc[]), rules);

describe('FUSE LINEAR computes what Elasticsearch computes', () => {
  it.each(cases.fuse_linear)('$id: $options $note', async ({ rows, options, expected, tolerance }) => {
    const result = await fused(rows, options, { snapshot: true });
    const scores = Object.fromEntries(result.values.map((_, at) => [record(result, at).key, record(result, at).score]));
    expect(Object.keys(scores).sort()).toEqual(Object.keys(expected).sort());
    for (const [key, score] of Object.entries(expected)) {
      if (score === null) expect(scores[key]).toBeNull();
      else expect(Math.abs((scores[key] as number) - score)).toBeLessThanOrEqual(tolerance);
    }
  });
  it.each(cases.fuse_passthrough)(
    '$id: the other columns keep their first value that is not null',
    async ({ rows, expected }) => {
      const result = await fused(rows, {});
      const found = result.values.map((_, at) => record(result, at));
      for (const { groups, ...row } of expected)
        expect(found).toContainEqual(expect.objectContaining({ ...row, group: groups }));
      expect(found).toHaveLength(expected.length);
    },
  );
  it('warns of null and of several scores or groups', async () => {
    const rows = [
      { key: 'a', group: null, score: 1 },
      { key: 'b', group: 'x', score: null },
      { key: 'c', group: ['x', 'y'], score: 1 },
      { key: 'd', group: 'x', score: [1, 2] },
    ];
    const { warnings } = await fused(rows, {});
    for (const what of ['group column has null values', 'score column has null values'])
      expect(warnings.join()).toContain(`${what}; assigning null scores`);
    for (const what of ['group', 'score'])
      expect(warnings.join()).toContain(`${what} column contains multivalued entries`);
  });
  it('lists the score first and the key and group last, and text comes out as keyword', async () => {
    const { columns } = await fused([], {}, {}, ' | DROP _id, _index, _score');
    expect(columns.map(({ name, type }) => `${name}:${type}`)).toEqual([
      'score:double',
      'col1:keyword',
      'title:keyword',
      'y:integer',
      'key:keyword',
      'group:keyword',
    ]);
  });
});

describe('What Elasticsearch refuses is refused', () => {
  const forked = 'FROM rows METADATA _id, _index, _score | FORK ( WHERE true | LIMIT 5 ) ( LIMIT 5 ) | FUSE LINEAR';
  const outcomes: Record<string, () => Promise<string>> = {
    v01: () => refused(`${forked} WITH { "weights": { "fork1": 0 } }`, '[]', fake(ROWS, [])),
    v02: () => refused(`${forked} WITH { "weights": { "fork1": -1 } }`, '[]', fake(ROWS, [])),
    v03: () => refused(`${forked} WITH { "normalizer": "l2_norm" }`, '[]', fake(ROWS, [])),
    v04: () => refused(`${forked} WITH { "unknown": 1 }`, '[]', fake(ROWS, [])),
    v05: () => refused(forked.replace(' | LIMIT 5', ''), '[]', fake(ROWS, [])),
    v06: () => refused('ROW v = NOW() | EVAL x = DECAY(v, NOW(), 45 days)'),
    v07: () => refused('FROM rows | EVAL x = DECAY(y, 1, y)', '[]', fake(ROWS, [])),
    v08: () => refused('ROW v = NOW() | EVAL x = DECAY(v, NOW(), 45 hours, { "decay": 1 })'),
    v09: () => refused('ROW v = NOW() | EVAL x = DECAY(v, NOW(), 45 hours, { "type": "sigmoid" })'),
    v10: async () => `accepted: ${await evaluated('DECAY(NOW() - 9 hours, NOW(), 6 hours, { "type": "EXP" })')}`,
  };
  const messages: Record<string, string> = {
    v01: 'line 1:86: expected weight to be positive, got [0]',
    v02: 'expected weight to be positive, got [-1]',
    v03: '["l2_norm"] is not a valid normalizer',
    v04: 'unknown option [unknown] in [FUSE LINEAR WITH { "unknown": 1 }]',
    v05: 'FUSE can only be used on a limited number of rows. Consider adding a LIMIT before FUSE.',
    v06: 'third argument of [DECAY(v, NOW(), 45 days)] must be [time_duration], found value [45 days] type [date_period]',
    v07: 'Function [DECAY(y, 1, y)] has non-literal value [scale].',
    v08: 'Invalid option [decay] in [DECAY(v, NOW(), 45 hours, { "decay": 1 })], allowed types [[DOUBLE]]',
    v09: 'type option has invalid value, expected one of [gauss, linear, exp], found ["sigmoid"]',
    v10: 'accepted: 0.25',
  };
  it.each(cases.validation)('$id: $on $input: $outcome', async ({ id }) => {
    expect(await outcomes[id]?.()).toContain(messages[id]);
  });
  it("refuses FUSE under a basic licence in Elasticsearch's words", async () => {
    const error = await refusal(run(forked, '[]', fake(ROWS, []), { license: 'basic' }));
    expect(error).toMatchObject({ type: 'verification_exception', status: 400 });
    expect(error.message).toBe('Found 1 problem\nline 1:86: current license is non-compliant for [FUSE LINEAR]');
  });

  it.each([
    ['a column that does not exist', 'FROM rows | WHERE nope > 1', 'line 1:19: Unknown column [nope]'],
    ['an index that does not exist', 'FROM missing', 'Unknown index [missing]'],
    [
      'a CASE that mixes whole and broken numbers',
      'ROW a = CASE(true, 1, 2.0)',
      'third argument of [CASE(true, 1, 2.0)] must be [integer], found value [2.0] type [double]',
    ],
    ['LEAST likewise', 'ROW a = LEAST(1, 2.0)', 'second argument of [LEAST(1, 2.0)] must be [integer]'],
    [
      'a keyword compared with a number',
      'FROM rows | WHERE key == 5',
      'first argument of [key == 5] is [keyword] so second argument must also be [keyword] but was [integer]',
    ],
    [
      'a condition that is not boolean',
      'FROM rows | WHERE score + 1',
      'Condition expression needs to be boolean, found [DOUBLE]',
    ],
    [
      'the difference of two dates',
      'ROW a = NOW() - NOW()',
      '[-] has arguments with incompatible types [datetime] and [datetime]',
    ],
    ['arithmetic on text', 'FROM rows | EVAL x = title * 2', 'first argument of [title * 2] must be [numeric]'],
    ['a duration as a column', 'ROW a = 5 | EVAL b = 3 hours', 'EVAL does not support type [time_duration]'],
    ['a string in place of a date', 'ROW a = NOW() | WHERE a > "soon"', 'Cannot convert string [soon] to [DATETIME]'],
    [
      'a limit that is no whole number',
      'ROW a = 1 | LIMIT 1.5',
      'value of [LIMIT 1.5] must be a non negative integer, found value [1.5] type [double]',
    ],
    [
      'branches whose columns differ in type',
      'FROM rows | FORK (LIMIT 1 | EVAL x = 1) (LIMIT 1 | EVAL x = "a")',
      'Column [x] has conflicting data types in FORK branches: [KEYWORD] and [INTEGER]',
    ],
    [
      'two FORKs',
      'ROW a = 1 | FORK (LIMIT 1) (LIMIT 1) | FORK (LIMIT 1) (LIMIT 1)',
      'Only a single FORK command is supported',
    ],
    [
      'MATCH after LIMIT',
      'FROM rows | LIMIT 5 | WHERE MATCH(title, "x")',
      '[MATCH] function cannot be used after LIMIT',
    ],
    ['MATCH in EVAL', 'FROM rows | EVAL x = MATCH(title, "x")', '[MATCH] function is only supported in WHERE'],
    ['MATCH of a column', 'FROM rows | WHERE MATCH(title, key)', 'Query must be a constant string'],
    [
      'a number sought in text',
      'FROM rows | WHERE MATCH(title, 5)',
      'first argument of [MATCH(title, 5)] is [text] so second argument must also be [text] but was [integer]',
    ],
    [
      'ROUND to a broken number of digits',
      'ROW a = ROUND(1.5, 1.5)',
      'second argument of [ROUND(1.5, 1.5)] must be [whole number',
    ],
    [
      'an unknown MATCH option',
      'FROM rows | WHERE MATCH(title, "x", {"bogus": 1})',
      'Invalid option [bogus] in [MATCH(title, "x", {"bogus": 1})], expected one of [operator',
    ],
    [
      'FUSE without _score',
      'FROM rows METADATA _id, _index | LIMIT 3 | FORK (LIMIT 1) (LIMIT 1) | FUSE LINEAR',
      'FUSE requires a score column, default [_score] column not found.',
    ],
    [
      'FUSE by a whole number',
      'FROM rows METADATA _id, _index | FORK (LIMIT 1) (LIMIT 1) | FUSE LINEAR SCORE BY y',
      'expected SCORE BY column [y] to be DOUBLE, not INTEGER',
    ],
    [
      'a column beside aggregates',
      'FROM rows | STATS title BY key',
      'column [title] must appear in the STATS BY clause',
    ],
    ['the sum of strings', 'FROM rows | STATS SUM(key)', 'argument of [SUM(key)] must be'],
  ])('refuses %s', async (_, query, message) => {
    expect(await refused(query, '[]', fake(ROWS, []))).toContain(message);
  });

  it('refuses a parameter that was not given, naming each place', async () => {
    const error = await refusal(run('ROW a = ?a,\n b = ?b'));
    expect(error.type).toBe('parsing_exception');
    expect(error.message).toBe('line 1:9: Unknown query parameter [a]; line 2:6: Unknown query parameter [b]');
  });
  it('tells 1 from 1.0 in the request, and refuses a list that mixes them', async () => {
    expect(await refused('ROW a = ?v', '[{"v": [1, 0.5]}]')).toContain(
      'Parameter [v] contains mixed data types: [1, 0.5]',
    );
    expect((await run('ROW a = ?v', '[{"v": [1.0, 0.5]}]')).values).toEqual([[[1, 0.5]]]);
    expect((await run('ROW a = ?v', '[{"v": 1.0}]')).columns).toEqual([{ name: 'a', type: 'double' }]);
    expect((await run('ROW a = ?v', '[{"v": 1}]')).columns).toEqual([{ name: 'a', type: 'integer' }]);
    expect(await refused('ROW a = 1 | LIMIT ?l', '[{"l": 1.0}]')).toContain('must be a non negative integer');
  });
});

describe('What the stand-in was not taught is refused by name', () => {
  it.each([
    ['a command', 'ROW a = 1 | DISSECT a "%{b}"', 'does not know the command [DISSECT]'],
    ['a source', 'TS metrics', 'does not know the command [TS]'],
    ['a function', 'ROW a = SHA256("x")', 'Unknown function [SHA256]'],
    ['an aggregation', 'ROW a = 1 | STATS MEDIAN(a)', 'Unknown function [MEDIAN]'],
    ['an aggregation inside an expression', 'ROW a = 1 | STATS SUM(a) / 2', 'only one aggregate function by itself'],
    ['an operator', 'ROW a = "x" | WHERE a LIKE "x*"', 'does not know the operator [LIKE]'],
    ['a cast', 'ROW a = "x"::ip', 'does not know the conversion to [ip]'],
    ['RRF', 'FROM rows METADATA _id, _index, _score | LIMIT 1 | FUSE', 'knows FUSE LINEAR only'],
    ['several indices', 'FROM a, b', 'one index or alias at a time'],
    ['positional params', 'ROW a = ?', 'knows named params (?name) only'],
    ['identifier params', 'ROW a = ??name', 'knows named params (?name) only'],
    ['options of another function', 'ROW a = ABS(1, {"x": 1})', 'does not know options of [ABS]'],
    [
      'a KNN option',
      'FROM rows | WHERE KNN(vector, [0.5], {"visit_percentage": 1.0}) | LIMIT 1',
      'the KNN option [visit_percentage]',
    ],
    ['vectors in the answer', 'FROM rows | LIMIT 1', 'does not return [vector], a dense_vector'],
    ['a leftover', 'ROW a = 1 1', "mismatched input '1' expecting {<EOF>, '|'}"],
    ['an expression among options', 'ROW a = DECAY(1, 1, 1, {"decay": 0.5 + 0.1})', "mismatched input '+'"],
  ])('refuses %s', async (_, query, message) => {
    const backend = fake({ properties: { ...ROWS.properties, vector: { type: 'dense_vector' } } }, []);
    expect(await refused(query, '[]', backend)).toContain(message);
  });
  it.each([
    ['{"query": "ROW a = 1", "columnar": true}', 'unknown field [columnar]'],
    ['{"query": "ROW a = 1", "params": [1]}', 'knows params of the form'],
    ['{"query": "ROW a = 1", "params": [{"a": {"identifier": "x"}}]}', 'does not know the form of parameter [a]'],
    ['{"params": []}', '[query] is required'],
    ['{"query"', '[1:1] '],
  ])('refuses the request %s', (body, message) => {
    expect(() => readRequest(body)).toThrow(EsqlError);
    expect(() => readRequest(body)).toThrow(message);
  });
  it('knows no DECAY before 9.3, no FUSE before 9.2 and no FORK before 9.1', async () => {
    expect(await refused('ROW a = DECAY(1, 1, 1)', '[]', EMPTY, { version: '9.2.4' })).toContain(
      'Unknown function [DECAY]',
    );
    expect(await refused(FUSE, '[]', fake(ROWS, []), { version: '9.1.0' })).toContain("mismatched input 'FUSE'");
    const fork = 'ROW a = 1 | FORK (LIMIT 1) (LIMIT 1)';
    expect(await refused(fork, '[]', EMPTY, { version: '9.0.8' })).toContain("mismatched input 'FORK'");
  });
});

describe('Expressions follow ES|QL', () => {
  it.each([
    ['7 / 2', 3],
    ['-7 / 2', -3],
    ['7 % 4', 3],
    ['7 / 2.0', 3.5],
    ['2 + 3 * 4 - -1', 15],
    ['(2 + 3) * 4', 20],
    ['2147483647 + 1', null],
    ['2147483648 + 1', 2147483649],
    ['1 / 0', null],
    ['1.0 / 0.0', null],
    ['POW(10.0, 400)', null],
    ['POW(2, 3)', 8],
    ['ABS(-2.5)', 2.5],
    ['ROUND(2.5)', 3],
    ['ROUND(-2.567, 2)', -2.57],
    ['GREATEST(1.0, 2)', 2],
    ['LEAST(0.5, 1)', 0.5],
    ['LEAST(nothing::double, 1.0)', null],
    ['GREATEST([1, 5], 3)', 5],
    ['COALESCE(nothing, 2)', 2],
    ['CASE(false, 1, nothing::boolean, 2, 3)', 3],
    ['CASE(false, 1)', null],
    ['nothing IS NULL', true],
    ['[1, 2] IS NOT NULL', true],
    ['nothing::integer == 1', null],
    ['nothing::boolean OR true', true],
    ['nothing::boolean AND true', null],
    ['nothing::boolean AND false', false],
    ['NOT nothing::boolean', null],
    ['2 IN (1, 2, nothing::integer)', true],
    ['3 IN (1, 2, nothing::integer)', null],
    ['3 NOT IN (1, 2)', true],
    ['[1, 2] == 1', null],
    ['"b" > "a"', true],
    ['"\\uFF5E" < "\\uD83D\\uDE00"', true],
    ['MV_CONTAINS(["a", "b"], "a")', true],
    ['MV_CONTAINS("a", nothing::keyword)', true],
    ['MV_CONTAINS(nothing::keyword, "a")', false],
    ['MV_INTERSECTS(["a", "b"], ["b", "c"])', true],
    ['MV_INTERSECTS("a", nothing::keyword)', false],
    ['MV_COUNT(["a", "a"])', 2],
    ['MV_COUNT(nothing)', null],
    ['MV_SORT([3, 1, 2], "desc")', [3, 2, 1]],
    ['TO_LONG("2026-01-01T00:00:00.5Z"::datetime)', 1767225600500],
    ['"2026-01-01T02:00:00+02:00"::datetime', '2026-01-01T00:00:00.000Z'],
    ['"2025-02-30"::datetime', null],
    ['1767225600000::datetime - 36 hours', '2025-12-30T12:00:00.000Z'],
    ['TO_STRING(5)', '5'],
    ['"1.5"::double', 1.5],
    ['"x"::long', null],
    ['NOW()', '2026-01-01T00:00:00.000Z'],
    ['NOW() > "2025-12-31"', true],
  ])('%s is %j', async (expression, expected) => {
    const text = expression.replace(/\\u(....)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    expect(await evaluated(text)).toEqual(expected);
  });
  it('warns where it answers null in place of a failure', async () => {
    const { warnings } = await run('ROW a = 1 | EVAL b = a / 0 | LIMIT 1');
    expect(warnings).toEqual([
      'Line 1:22: evaluation of [a / 0] failed, treating result as null. Only first 20 failures recorded.',
      'Line 1:22: java.lang.ArithmeticException: / by zero',
    ]);
  });
  it('keeps user text one literal, whatever it holds', async () => {
    const text = 'x") | DROP a | EVAL b = ?q // /* `\\ """';
    expect((await run('ROW a = ?q', JSON.stringify([{ q: text }]))).values).toEqual([[text]]);
    expect(await evaluated('"a \\"quoted\\" \\\\ word"')).toBe('a "quoted" \\ word');
    expect(await evaluated('"""raw "text" \\n"""')).toBe('raw "text" \\n');
  });
  it('reads comments, names in backquotes and keywords in any case', async () => {
    const result = await run('row `a b` = 1 /* one */ | eval C = `a b` + 1 // two\n| Keep C');
    expect(result).toMatchObject({ columns: [{ name: 'C', type: 'integer' }], values: [[2]] });
  });
});

const DOCS: Doc[] = [
  { key: 'b', group: 'x', score: 0.5, y: 3, title: 'one' },
  { key: 'a', group: 'x', score: null, y: 2 },
  { key: 'c', group: ['y', 'x', 'y'], score: 2, y: 1 },
];
const rowsOf = async (rest: string): Promise<unknown[][]> =>
  (await run(`FROM rows | ${rest}`, '[]', fake(ROWS, DOCS))).values;

describe('Commands follow ES|QL', () => {
  it('sorts nulls last upwards and first downwards, unless told otherwise', async () => {
    expect(await rowsOf('EVAL s = score | SORT s | KEEP key')).toEqual([['b'], ['c'], ['a']]);
    expect(await rowsOf('EVAL s = score | SORT s DESC | KEEP key')).toEqual([['a'], ['c'], ['b']]);
    expect(await rowsOf('EVAL s = score | SORT s DESC NULLS LAST, key | KEEP key')).toEqual([['c'], ['b'], ['a']]);
  });
  it('sums, counts and collects by group, each value of a list being a group', async () => {
    const stats =
      'STATS s = SUM(score), n = COUNT(*), c = COUNT(score), k = VALUES(key), m = MAX(title) BY group | SORT group';
    expect(await rowsOf(stats)).toEqual([
      [2.5, 3, 2, ['b', 'a', 'c'], 'one', 'x'],
      [2, 1, 1, 'c', null, 'y'],
    ]);
    expect((await run('ROW b = ["x", "x"] | STATS n = COUNT(*), c = COUNT(b) BY b')).values).toEqual([[1, 2, 'x']]);
    expect(await rowsOf('STATS v = VALUES(group)')).toEqual([[['x', 'y']]]);
    expect(await rowsOf('WHERE score + 1 > 200 | STATS s = SUM(y), n = COUNT(*)')).toEqual([[null, 0]]);
  });
  it('reads keywords as doc values hold them: sorted, each once', async () => {
    expect(await rowsOf('WHERE y == 1 OR y + 0 == 1 | KEEP group')).toEqual([[['x', 'y']]]);
  });
  it('expands lists, keeps and drops by pattern, and puts a redefined column last', async () => {
    expect(await rowsOf('MV_EXPAND group | WHERE y == 1 | KEEP group, k*')).toEqual([
      ['x', 'c'],
      ['y', 'c'],
    ]);
    const named = async (query: string) => (await run(query)).columns.map(({ name }) => name);
    expect(await named('ROW a = 1, b = 2, c = 3 | EVAL a = b | DROP c*')).toEqual(['b', 'a']);
    expect(await named('ROW a = 1, ab = 2, b = 3 | KEEP b, *, a*, a')).toEqual(['b', 'ab', 'a']);
  });
  it('gives each branch its own rows, in order, and null for columns of others', async () => {
    const { columns, values } = await run('ROW a = 1 | FORK (EVAL b = a + 1 | LIMIT 1) (EVAL c = "x" | LIMIT 1)');
    expect(columns.map(({ name }) => name)).toEqual(['a', 'b', '_fork', 'c']);
    expect(values).toEqual([
      [1, 2, 'fork1', null],
      [1, null, 'fork2', 'x'],
    ]);
  });
  it('limits to 1000 rows with a warning where the query has no LIMIT', async () => {
    const many = Array.from({ length: 1200 }, (_, y) => ({ y }));
    const result = await run('FROM rows | EVAL z = y', '[]', fake(ROWS, many));
    expect(result.values).toHaveLength(1000);
    expect(result.warnings).toEqual(['No limit defined, adding default limit of [1000]']);
  });
});

const MEMORIES: Mapping = {
  properties: {
    id: { type: 'keyword' },
    scope: { type: 'keyword' },
    topic: { type: 'keyword' },
    title: { type: 'text' },
    content: { type: 'text' },
    tags: { type: 'text' },
    vector: { type: 'dense_vector' },
    created_at: { type: 'date' },
    fresh_at: { type: 'date' },
    valid_to: { type: 'date' },
    confidence: { type: 'float' },
    feedback: { type: 'float' },
  },
};
const START = `FROM memories METADATA _id, _index, _score
| WHERE scope IN (?own, ?shared) AND created_at <= ?known::datetime AND (valid_to IS NULL OR valid_to > ?known::datetime)
| FORK ( WHERE MATCH(title, ?q) OR MATCH(content, ?q) OR MATCH(tags, ?q)
         | SORT _score DESC, fresh_at DESC, id, scope | LIMIT 80 | EVAL relevance = _score / (_score + 11.0), lexical = relevance )
       ( WHERE KNN(vector, ?v)
         | SORT _score DESC, fresh_at DESC, id, scope | LIMIT 80
         | EVAL relevance = LEAST(1.0, GREATEST(0.0, (2.0 * _score - 1.0 - ?lo) / (?hi - ?lo))), semantic = relevance )`;
const END = `| EVAL trust = (0.5 + 0.5 * confidence) * (1.0 + 0.8 * LEAST(feedback, 0.0)), score = relevance * age_weight * trust
| WHERE score > 0
| SORT score DESC, fresh_at DESC, id, scope
| LIMIT ?limit
| KEEP id, tags, fresh_at, relevance, lexical, semantic, age_weight, trust, score`;
const FUSED = `${START}
| FUSE LINEAR SCORE BY relevance WITH { "weights": { "fork1": ?wl, "fork2": ?ws } }
| EVAL age_weight = CASE(
    topic IN (?never), 1.0,
    ?f0 + (1.0 - ?f0) * DECAY(LEAST(fresh_at, ?known::datetime), ?known::datetime, ?h0::time_duration, { "type": "exp" }))
${END}`;
const PORTABLE = `${START}
| EVAL relevance = relevance * CASE(_fork == "fork1", ?wl, ?ws)
| STATS relevance = SUM(relevance), lexical = MAX(lexical), semantic = MAX(semantic), tags = VALUES(tags), topic = MAX(topic),
    fresh_at = MAX(fresh_at), confidence = MAX(confidence), feedback = MAX(feedback) BY id, scope
| EVAL age_weight = CASE(topic IN (?never), 1.0,
    ?f0 + (1.0 - ?f0) * POW(0.5, GREATEST(TO_LONG(?known::datetime) - TO_LONG(fresh_at), 0) / 3600000.0 / ?hours))
${END}`;
const SHARED = `{"q": "tea"}, {"own": "user:a"}, {"shared": "shared"}, {"known": "2026-01-01T00:00:00Z"}, {"limit": 8}, {"lo": 0.73}, {"hi": 0.88}`;
const PARAMS = `[${SHARED}, {"wl": 0.3}, {"ws": 0.7}, {"never": "landmark"}, {"f0": 0.25}, {"h0": "1440 hours"}, {"hours": 1440.0}, {"v": [0.25, 0.5]}]`;
const memory = (id: string, more: Doc): Doc => ({
  id,
  scope: 'user:a',
  topic: 'note',
  tags: ['b', 'a'],
  created_at: '2025-01-01T00:00:00Z',
  fresh_at: '2025-11-02T00:00:00.000Z',
  confidence: 0.9,
  feedback: 0,
  ...more,
});
const recalled = (): Fake =>
  fake(
    MEMORIES,
    [memory('m1', { _score: 5.5 }), memory('m2', { _score: 1.1, fresh_at: Date.UTC(2026, 0, 1), feedback: -0.5 })],
    [memory('m3', { _score: 0.94, topic: 'landmark' }), memory('m1', { _score: 0.9 }), memory('m4', { _score: 0.8 })],
  );

describe('The whole recall query runs', () => {
  it.each([
    ['fuse', FUSED, 'trial'],
    ['portable', PORTABLE, 'basic'],
  ] as const)('in the dialect %s, with the scores the formulas give', async (_, query, license) => {
    const result = await run(query, PARAMS, recalled(), { license });
    const rows = result.values.map((__, at) => record(result, at));
    expect(rows.map(({ id }) => id)).toEqual(['m3', 'm1', 'm2']);
    const trust = 0.5 + 0.5 * Math.fround(0.9);
    const old = 0.25 + 0.75 * 0.5;
    const semantic = (score: number) => Math.min(1, Math.max(0, (2 * Math.fround(score) - 1 - 0.73) / (0.88 - 0.73)));
    expect(rows[0]?.score).toBeCloseTo(0.7 * semantic(0.94) * trust, 12);
    expect(rows[1]?.score).toBeCloseTo((0.3 * (5.5 / 16.5) + 0.7 * semantic(0.9)) * old * trust, 12);
    expect(rows[2]?.score).toBeCloseTo(0.3 * (1.1 / 12.1) * trust * 0.6, 8);
    expect(rows[1]).toMatchObject({ lexical: expect.closeTo(1 / 3, 12), semantic: expect.closeTo(semantic(0.9), 12) });
    expect(rows[0]).toMatchObject({
      lexical: null,
      age_weight: 1,
      fresh_at: '2025-11-02T00:00:00.000Z',
      tags: ['b', 'a'],
    });
    expect(result.columns[2]).toEqual({ name: 'fresh_at', type: 'date' });
    expect(result.warnings).toEqual([]);
  });

  it('sends each branch to the node: conditions as filter and kNN pre-filter, sort and limit pushed down', async () => {
    const backend = recalled();
    await run(FUSED, PARAMS, backend);
    const [lexical, semantic] = backend.searches as [SearchBody, SearchBody];
    const match = (field: string) => ({ match: { [field]: { query: 'tea', lenient: true } } });
    const known = Date.UTC(2026, 0, 1);
    const scopes = ['user:a', 'shared'].map((value) => ({ term: { scope: { value } } }));
    const open = [
      { bool: { must_not: [{ exists: { field: 'valid_to' } }] } },
      { range: { valid_to: { gt: known, format: 'epoch_millis' } } },
    ];
    const filter = [
      { bool: { should: scopes, minimum_should_match: 1 } },
      { range: { created_at: { lte: known, format: 'epoch_millis' } } },
      { bool: { should: open, minimum_should_match: 1 } },
    ];
    const should = { bool: { should: ['title', 'content', 'tags'].map(match), minimum_should_match: 1 } };
    expect(lexical.query).toEqual({ bool: { must: [should], filter } });
    const knn = { field: 'vector', k: 80, query_vector: [0.25, 0.5], filter };
    expect(semantic.query).toEqual({ bool: { must: [{ knn }], filter } });
    for (const body of [lexical, semantic]) {
      expect(body).toMatchObject({ size: 80, track_scores: true, track_total_hits: false });
      expect(body.sort).toEqual([
        { _score: { order: 'desc' } },
        { fresh_at: { order: 'desc', missing: '_first' } },
        { id: { order: 'asc', missing: '_last' } },
        { scope: { order: 'asc', missing: '_last' } },
      ]);
      expect(body._source).not.toContain('vector');
    }
  });

  const search = async (condition: string, rest = '| LIMIT 10 | KEEP id', more = ''): Promise<SearchBody> => {
    const backend = recalled();
    const body = `{"query": ${JSON.stringify(`FROM memories METADATA _score | WHERE ${condition} ${rest}`)}${more}}`;
    await runQuery(readRequest(body), backend, PLAIN);
    return backend.searches[0] as SearchBody;
  };

  it('adds the filter of the request to every search and to the kNN pre-filter', async () => {
    const filter = { term: { scope: 'user:a' } };
    const body = await search(
      'KNN(vector, [0.5, 0.5], { "k": 7, "min_candidates": 50 })',
      undefined,
      `, "filter": ${JSON.stringify(filter)}`,
    );
    const knn = { field: 'vector', k: 7, num_candidates: 50, query_vector: [0.5, 0.5], filter: [filter] };
    expect(body.query).toEqual({ bool: { must: [{ knn }], filter: [filter] } });
  });
  it('tests MV_CONTAINS and text on the rows, after kNN, as 9.5.3 does, and then sorts and limits itself', async () => {
    const body = await search(
      'KNN(vector, [0.5, 0.5]) AND MV_CONTAINS(tags, "a")',
      '| SORT _score DESC | LIMIT 3 | KEEP id',
    );
    expect(body.size).toBe(10_000);
    expect(body.sort).toBeUndefined();
    expect(JSON.stringify(body.query)).not.toContain('filter":[{');
    const query =
      'FROM memories METADATA _score | WHERE MATCH(title, "x") AND MV_CONTAINS(tags, "zzz") | SORT _score DESC | LIMIT 3';
    expect((await run(`${query} | KEEP id`, '[]', recalled())).values).toEqual([]);
  });
  it.each(['title == "x"', 'MV_CONTAINS(tags, "a")', 'confidence + 0.0 < 1'])(
    'limits only after %s was tested',
    async (condition) => {
      const body = await search(condition, '| LIMIT 3 | KEEP id');
      expect(body.size).toBe(10_000);
      expect(body.query).toEqual({ match_all: {} });
    },
  );
  it('takes the k of KNN from the next LIMIT and refuses KNN without one', async () => {
    expect(JSON.stringify((await search('KNN(vector, [0.5])', '| EVAL a = 1 | LIMIT 12 | KEEP id')).query)).toContain(
      '"k":12',
    );
    expect(await refused('FROM memories | WHERE KNN(vector, [0.5]) | STATS COUNT(*)', '[]', recalled())).toContain(
      'Knn function must be used with a LIMIT clause',
    );
    expect(
      await refused('FROM memories | WHERE KNN(vector, [0.5], {"num_candidates": 5}) | LIMIT 1', '[]', recalled()),
    ).toContain('Invalid option [num_candidates]');
    const k = await refused('FROM memories | WHERE KNN(vector, [0.5], {"k": 5.0}) | LIMIT 1', '[]', recalled());
    expect(k).toContain('cannot cast [5] to [integer]');
    expect(await refused('FROM memories | WHERE KNN(confidence, [0.5]) | LIMIT 1', '[]', recalled())).toContain(
      'must be [dense_vector, null, text], found value [confidence] type [double]',
    );
  });
  it.each([
    [
      'NOT (scope == "a")',
      { bool: { filter: [{ exists: { field: 'scope' } }], must_not: [{ term: { scope: { value: 'a' } } }] } },
    ],
    ['NOT (valid_to IS NULL)', { exists: { field: 'valid_to' } }],
    ['"2026-01-01" > created_at', { range: { created_at: { lt: 1767225600000, format: 'epoch_millis' } } }],
    ['confidence >= 0.5', { range: { confidence: { gte: 0.5 } } }],
    ['false', { match_none: {} }],
  ])('pushes %s down', async (condition, dsl) => {
    expect((await search(condition)).query).toEqual({ bool: { must: [], filter: [dsl] } });
  });
  it('embeds with the endpoint it was given, and otherwise knows none', async () => {
    const query = 'FROM memories | WHERE KNN(vector, TEXT_EMBEDDING(?q, ?e), { "k": 5 }) | LIMIT 5 | KEEP id';
    const backend: Fake = { ...recalled(), embed: async (endpoint, text) => [endpoint.length, text.length] };
    await run(query, '[{"q": "tea"}, {"e": "e5"}]', backend);
    expect(JSON.stringify(backend.searches)).toContain('"query_vector":[2,3]');
    const error = await refusal(run(query, '[{"q": "tea"}, {"e": "e5"}]', recalled()));
    expect(error).toMatchObject({ status: 404, message: 'Inference endpoint not found [e5]' });
  });
  it('refuses what it could only answer in part', async () => {
    const many = fake(
      MEMORIES,
      Array.from({ length: 10_000 }, (_, at) => memory(`m${at}`, {})),
    );
    expect(await refused('FROM memories | EVAL a = 1 | SORT id | LIMIT 5 | KEEP id', '[]', many)).toContain(
      'cannot go through 10000 rows',
    );
    const several = fake(MEMORIES, [memory('m', { scope: ['user:a', 'user:b'] })]);
    expect(await refused('FROM memories | WHERE scope == "user:a" | LIMIT 5 | KEEP id', '[]', several)).toContain(
      'several values in [scope]',
    );
    expect(
      await refused('FROM memories | WHERE MATCH(title, "x") OR confidence + 1 > 1 | LIMIT 5', '[]', several),
    ).toContain('under OR or NOT');
  });
});

describe('The proxy', () => {
  let node: Server;
  let target: string;
  let standIn: StandIn | undefined;
  const seen: { url: string; method: string; headers: IncomingMessage['headers']; bytes: number }[] = [];
  const json = { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' };

  beforeAll(async () => {
    const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
      let bytes = 0;
      for await (const part of incoming) bytes += (part as Buffer).length;
      seen.push({ url: incoming.url ?? '', method: incoming.method ?? '', headers: incoming.headers, bytes });
      const say = (status: number, body: unknown) => outgoing.writeHead(status, json).end(JSON.stringify(body));
      if (incoming.url === '/')
        say(200, { version: { number: '9.5.3', build_flavor: 'default' }, tagline: 'You Know' });
      else if (incoming.url?.startsWith('/none'))
        say(404, { error: { type: 'index_not_found_exception' }, status: 404 });
      else if (incoming.url?.startsWith('/secret'))
        say(403, { error: { type: 'security_exception', reason: 'no' }, status: 403 });
      else if (incoming.url?.endsWith('/_mapping')) say(200, { 'memories-1': { mappings: MEMORIES } });
      else if (incoming.url?.includes('/_search')) {
        const hits = [{ _id: 'a', _index: 'memories-1', _score: 1.5, _source: memory('m1', {}) }];
        say(200, {
          took: 1,
          timed_out: false,
          _shards: { failed: incoming.url.includes('=true') ? 1 : 0 },
          hits: { hits },
        });
      } else if (incoming.url?.startsWith('/big')) outgoing.writeHead(200, json).end(Buffer.alloc(5_000_000, 'x'));
      else say(200, { bytes });
    };
    node = createServer((incoming, outgoing) => {
      answer(incoming, outgoing).catch(() => outgoing.destroy());
    });
    await new Promise<void>((done) => node.listen(0, '127.0.0.1', done));
    target = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await standIn?.stop();
    standIn = undefined;
  });
  afterAll(async () => {
    node.closeAllConnections();
    await new Promise((done) => node.close(done));
  });
  const start = async (options: Partial<Parameters<typeof startStandIn>[0]> = {}): Promise<Client> => {
    standIn = await startStandIn({ target, ...options });
    return new Client({ node: standIn.url, auth: { username: 'elastic', password: 'secret' }, maxRetries: 0 });
  };
  const failure = async (promise: Promise<unknown>) =>
    (await promise.catch((error: unknown) => error)) as {
      statusCode: number;
      meta: { body: { error: { type: string; reason: string; root_cause: unknown[] } } };
    };

  it("answers the client's ES|QL with the node's hits, under the caller's credentials", async () => {
    const client = await start();
    const query =
      'FROM memories METADATA _id, _index, _score | WHERE MATCH(title, ?q) | LIMIT 5 | KEEP _id, _index, _score, tags, valid_to, created_at';
    const answer = await client.esql.query({ query, params: [{ q: 'tea' }] as never, allow_partial_results: false });
    expect(answer).toMatchObject({
      is_partial: false,
      columns: [
        { name: '_id', type: 'keyword' },
        { name: '_index', type: 'keyword' },
        { name: '_score', type: 'double' },
        { name: 'tags', type: 'text' },
        { name: 'valid_to', type: 'date' },
        { name: 'created_at', type: 'date' },
      ],
      values: [['a', 'memories-1', 1.5, ['b', 'a'], null, '2025-01-01T00:00:00.000Z']],
    });
    const last = seen.at(-1);
    expect(last?.url).toBe('/memories/_search?allow_partial_search_results=false');
    expect(last?.headers.authorization).toMatch(/^Basic /);
    expect(standIn?.queries).toHaveLength(1);
  });
  it('tells of partial results where they are allowed', async () => {
    const client = await start();
    expect((await client.esql.query({ query: 'FROM memories | LIMIT 1 | KEEP id' })).is_partial).toBe(true);
  });
  it('sends warnings as headers the client understands', async () => {
    const client = await start();
    const { warnings } = await client.esql.query({ query: 'ROW a = "é" | EVAL b = TO_LONG(a)' }, { meta: true });
    expect(warnings?.[0]).toMatch(/^299 Elasticsearch-9.5.3 "Line 1:24: evaluation of \[TO_LONG\(a\)\] failed/);
    expect(warnings?.at(-1)).toContain('No limit defined');
  });
  it('passes everything else through, both ways and whatever the size', async () => {
    const client = await start();
    const big = Buffer.alloc(50_000_000, 'x');
    const answer = await fetch(`${standIn?.url}/_bulk?refresh=wait_for`, { method: 'POST', body: big });
    expect(await answer.json()).toEqual({ bytes: 50_000_000 });
    expect(seen.at(-1)).toMatchObject({ url: '/_bulk?refresh=wait_for', method: 'POST' });
    expect((await (await fetch(`${standIn?.url}/big`)).arrayBuffer()).byteLength).toBe(5_000_000);
    expect((await client.info()).version.number).toBe('9.5.3');
  }, 60_000);
  it('tells the licence, and refuses FUSE under basic', async () => {
    const client = await start({ license: 'basic', version: '9.4.1' });
    expect((await client.license.get()).license.type).toBe('basic');
    expect((await client.info()).version).toEqual({ number: '9.4.1', build_flavor: 'default' });
    const error = await failure(
      client.esql.query({ query: `${START} | FUSE LINEAR SCORE BY relevance`, params: JSON.parse(PARAMS) }),
    );
    expect(error.statusCode).toBe(400);
    expect(error.meta.body.error).toMatchObject({
      type: 'verification_exception',
      reason: expect.stringContaining('current license is non-compliant for [FUSE'),
    });
    expect(error.meta.body.error.root_cause).toHaveLength(1);
  });
  it('knows only the inference endpoints it was given', async () => {
    const client = await start({ inference: { e5: async (text) => [text.length, 0.5] } });
    const error = await failure(client.inference.get({ inference_id: 'other' }));
    expect(error).toMatchObject({
      statusCode: 404,
      meta: { body: { error: { type: 'resource_not_found_exception' } } },
    });
    expect((await client.inference.get({ inference_id: 'e5' })).endpoints[0]?.inference_id).toBe('e5');
    const query = 'FROM memories | WHERE KNN(vector, TEXT_EMBEDDING("tea", "e5"), {"k": 2}) | LIMIT 2 | KEEP id';
    expect((await client.esql.query({ query })).values).toEqual([['m1']]);
  });
  it("gives the node's own errors as they are, and a missing index as ES|QL does", async () => {
    const client = await start();
    expect(await failure(client.esql.query({ query: 'FROM secret' }))).toMatchObject({ statusCode: 403 });
    const missing = await failure(client.esql.query({ query: 'FROM none' }));
    expect(missing.statusCode).toBe(400);
    expect(missing.meta.body.error.reason).toContain('Unknown index [none]');
    const unknown = await failure(client.esql.query({ query: 'ROW a = 1', columnar: true }));
    expect(unknown.meta.body.error.reason).toContain('unknown field [columnar]');
    expect((await fetch(`${standIn?.url}/_query/async`, { method: 'POST', body: '{}' })).status).toBe(400);
  });
  it('breaks the connection where the node cannot be reached', async () => {
    const client = await start({ target: 'http://127.0.0.1:9' });
    expect(await failure(client.info())).toMatchObject({ name: 'ConnectionError' });
    expect(await failure(client.esql.query({ query: 'FROM memories' }))).toMatchObject({ name: 'ConnectionError' });
  });
});
