/** ES|QL text cut into tokens. */
import { parsingError } from './values.ts';

export type TokenKind = 'integer' | 'decimal' | 'string' | 'param' | 'name' | 'quoted' | 'symbol' | 'end';
export interface Token {
  kind: TokenKind;
  /** What it means: an unescaped string or name, a parameter without its question mark. */
  value: string;
  start: number;
  end: number;
}

const PATTERNS: [TokenKind | 'space', RegExp][] = [
  ['space', /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y],
  ['decimal', /(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+/y],
  ['integer', /\d+/y],
  ['string', /"""[\s\S]*?"""|"(?:[^"\\\r\n]|\\[tnr"\\])*"/y],
  ['param', /\?[A-Za-z_]\w*/y],
  ['name', /[A-Za-z_@]\w*/y],
  ['quoted', /`(?:[^`]|``)*`/y],
  ['symbol', /::|==|!=|<=|>=|[-+*/%<>=|,.(){}[\]:]/y],
];
const ESCAPES: Record<string, string> = { t: '\t', n: '\n', r: '\r', '"': '"', '\\': '\\' };

/** The place of an offset as Elasticsearch counts it: `line:column`, both from 1. */
export function place(query: string, offset: number): string {
  const before = query.slice(0, offset);
  const line = before.split('\n').length;
  return `${line}:${offset - before.lastIndexOf('\n')}`;
}

function meaning(kind: TokenKind, raw: string): string {
  if (kind === 'param') return raw.slice(1);
  if (kind === 'quoted') return raw.slice(1, -1).replaceAll('``', '`');
  if (kind !== 'string') return raw;
  if (raw.startsWith('"""') && raw.length >= 6) return raw.slice(3, -3);
  return raw.slice(1, -1).replace(/\\(.)/g, (_, letter: string) => ESCAPES[letter] as string);
}

export function tokens(query: string): Token[] {
  const list: Token[] = [];
  let at = 0;
  next: while (at < query.length) {
    for (const [kind, pattern] of PATTERNS) {
      pattern.lastIndex = at;
      const raw = pattern.exec(query)?.[0];
      if (!raw) continue;
      if (kind !== 'space') list.push({ kind, value: meaning(kind, raw), start: at, end: at + raw.length });
      at += raw.length;
      continue next;
    }
    const rest = query.slice(at, at + 20);
    if (rest.startsWith('?'))
      throw parsingError(place(query, at), `the ES|QL stand-in knows named params (?name) only, not [${rest}]`);
    throw parsingError(place(query, at), `token recognition error at: '${rest}'`);
  }
  list.push({ kind: 'end', value: '<EOF>', start: query.length, end: query.length });
  return list;
}
