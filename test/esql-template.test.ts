import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { double, duration, esql, identifier, indexName, instant, join, list, param, vector } from '../src/esql.ts';

describe('the ES|QL template', () => {
  it('gives the text with a named param for each value, and the values in order', () => {
    const { query, params } = esql`FROM memories | WHERE topic == ${'plan'} AND confidence > ${0.5} | LIMIT ${8}`;
    expect(query).toBe('FROM memories | WHERE topic == ?p1 AND confidence > ?p2 | LIMIT ?p3');
    expect(params).toEqual([{ p1: 'plan' }, { p2: 0.5 }, { p3: 8 }]);
  });

  it('is frozen', () => {
    const compiled = esql`ROW a = ${1}`;
    expect(Object.isFrozen(compiled) && Object.isFrozen(compiled.params) && Object.isFrozen(compiled.params[0])).toBe(
      true,
    );
  });

  it('uses the names it is given, and one param for one value used twice', () => {
    const now = instant(Date.UTC(2026, 0, 1), 'now');
    const { query, params } = esql`WHERE created_at <= ${now} AND valid_to > ${now}`;
    expect(query).toBe('WHERE created_at <= ?now::datetime AND valid_to > ?now::datetime');
    expect(params).toEqual([{ now: '2026-01-01T00:00:00.000Z' }]);
  });

  it('renames values that share a name, equal or not, so that values never change the text', () => {
    const texts = [1, 2].map((second) => esql`ROW a = ${param(1, 'x')}, b = ${param(second, 'x')}`.query);
    expect(texts).toEqual(['ROW a = ?x, b = ?x_2', 'ROW a = ?x, b = ?x_2']);
  });

  it('merges nested fragments, numbering their unnamed values anew', () => {
    const inner = esql`topic == ${'plan'}`;
    const { query, params } = esql`WHERE kind == ${'semantic'} AND ${inner} AND ${esql`id == ${'a'}`}`;
    expect(query).toBe('WHERE kind == ?p1 AND topic == ?p2 AND id == ?p3');
    expect(params).toEqual([{ p1: 'semantic' }, { p2: 'plan' }, { p3: 'a' }]);
  });

  it('joins fragments', () => {
    const { query, params } = join([esql`a == ${1}`, esql`b == ${2}`], ' AND ');
    expect(query).toBe('a == ?p1 AND b == ?p2');
    expect(params).toEqual([{ p1: 1 }, { p2: 2 }]);
  });

  it('spreads a list into one param each', () => {
    const { query, params } = esql`topic IN (${list(['plan', 'event'], 'topic')}) OR kind IN (${list(['a'])})`;
    expect(query).toBe('topic IN (?topic1, ?topic2) OR kind IN (?p1)');
    expect(params).toEqual([{ topic1: 'plan' }, { topic2: 'event' }, { p1: 'a' }]);
  });

  it('casts what JSON cannot tell: whole doubles, instants, durations', () => {
    const { query, params } = esql`ROW a = ${double(1)}, b = ${instant(0)}, c = ${duration(1080)}`;
    expect(query).toBe('ROW a = ?p1::double, b = ?p2::datetime, c = ?p3::time_duration');
    expect(params).toEqual([{ p1: 1 }, { p2: '1970-01-01T00:00:00.000Z' }, { p3: '1080 hours' }]);
  });

  it('tells a duration in the largest unit that makes it whole', () => {
    const printed = [1, 1.5, 1 / 3600, 1 / 3_600_000, 1 / 7].map((hours) => esql`${duration(hours)}`.params[0]?.p1);
    expect(printed).toEqual(['1 hours', '90 minutes', '1 seconds', '1 milliseconds', '514286 milliseconds']);
  });

  it('puts checked names into the text', () => {
    expect(esql`FROM ${indexName('superseded-memories')} | KEEP ${identifier('fresh_at')}`.query).toBe(
      'FROM superseded-memories | KEEP fresh_at',
    );
  });

  it('prints every component of a vector as a float, and keeps it to the bit', () => {
    const component = fc.oneof(
      fc.float({ noNaN: true, min: -2, max: 2 }),
      fc.constantFrom(0, -0, 1, -1, 2, 16_777_216),
    );
    fc.assert(
      fc.property(fc.array(component, { minLength: 1, maxLength: 8 }), (components) => {
        const json = JSON.stringify(esql`${vector(Float32Array.from(components), 'v')}`.params[0]?.v);
        for (const printed of json.slice(1, -1).split(',')) expect(printed).toMatch(/[.e]/);
        const back = Float32Array.from(JSON.parse(json) as number[]);
        back.forEach((value, at) => {
          expect(value === Math.fround(components[at] ?? Number.NaN)).toBe(true);
        });
      }),
      { numRuns: 2000 },
    );
  });

  const misuses: [string, () => unknown][] = [
    ['a call without a template', () => esql('FROM memories' as never)],
    ['a call with a plain array', () => esql(['FROM memories'] as never)],
    ['undefined', () => esql`ROW a = ${undefined}`],
    ['null', () => esql`ROW a = ${null}`],
    ['NaN', () => esql`ROW a = ${Number.NaN}`],
    ['an infinity', () => esql`ROW a = ${Number.POSITIVE_INFINITY}`],
    ['an object', () => esql`ROW a = ${{ query: 'DROP', params: [] }}`],
    ['an object in the shape of a helper’s', () => esql`ROW a = ${{ identifier: 'a | DROP b' }}`],
    ['a bare array', () => esql`topic IN (${['a']})`],
    ['a date', () => esql`ROW a = ${new Date(0)}`],
    ['a function', () => esql`ROW a = ${() => 1}`],
    ['a lone surrogate', () => esql`ROW a = ${'\ud800'}`],
    ['a value inside a string literal', () => esql`WHERE topic == "${'plan'}"`],
    ['a value after a question mark', () => esql`WHERE ?${'plan'} == 1`],
    ['an empty list', () => list([])],
    ['an empty vector', () => vector([])],
    ['a vector with NaN', () => vector([0.5, Number.NaN])],
    ['a duration of nothing', () => duration(0)],
    ['a negative duration', () => duration(-1)],
    ['a duration without end', () => duration(Number.POSITIVE_INFINITY)],
    ['an instant with a fraction', () => instant(0.5)],
    ['an instant beyond the year 9999', () => instant(8.64e15)],
    ['an identifier with a space', () => identifier('a b')],
    ['an identifier in quotes', () => identifier('`a`')],
    ['an index with a wildcard', () => indexName('memories-*')],
    ['two indices', () => indexName('a,b')],
    ['an index with a command', () => indexName('a | DROP b')],
    ['a name that is none', () => param('a', 'a b')],
    ['a foreign fragment in a join', () => join([{ query: 'a', params: [] }], ' AND ')],
  ];
  it.each(misuses)('refuses %s', (_, misuse) => {
    expect(misuse).toThrow(TypeError);
  });
});
