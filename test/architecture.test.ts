import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /(?<!\.d)\.(ts|js)$/.test(name))
  .map((name) => name.replaceAll('\\', '/'))
  .sort();
const source = (name: string): string => readFileSync(join(ROOT, 'src', name), 'utf8');
const code = (name: string): string => source(name).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

/** The files of src that a file imports. */
function importsOf(name: string): string[] {
  const specifiers = [...code(name).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1] ?? '');
  return specifiers.map((specifier) => relative(join(ROOT, 'src'), resolve(ROOT, 'src', dirname(name), specifier)));
}

/** Layers from the inside out; a file imports its own layer and those before it. */
const LAYERS: readonly (readonly RegExp[])[] = [
  [
    /^(errors|memory|fields|validation|aging|score|hazard|counts|learned-windows|embedder|store|analyzer|bm25|esql|secrets|project-file|one-at-a-time)\.ts$/,
  ],
  [/^recall-query\.ts$/, /^query-shapes\.ts$/, /^embedders\//, /^stores\//],
  [/^(?!cli|command-line)[a-z-]+\.ts$/],
  [/^(http|mastra)\//],
  [/^(commands\/|command-line\.ts$|cli\.ts$|mastra\/index\.ts$)/],
];
const OUTER = new Set(['open.ts', 'config.ts', 'cli.ts']);
const layerOf = (name: string): number => LAYERS.findIndex((layer) => layer.some((pattern) => pattern.test(name)));

describe('the architecture', () => {
  it('points imports one way: from commands and surfaces over the verbs to the nouns', () => {
    const wrong = files.flatMap((name) =>
      importsOf(name)
        .filter((target) => layerOf(target) > layerOf(name) && !name.startsWith('mastra/'))
        .map((target) => `${name} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has no circle of imports', () => {
    const done = new Set<string>();
    const visit = (name: string, path: string[]): void => {
      if (path.includes(name)) throw new Error(`Circle: ${[...path, name].join(' -> ')}`);
      if (done.has(name)) return;
      for (const target of importsOf(name)) if (files.includes(target)) visit(target, [...path, name]);
      done.add(name);
    };
    for (const name of files) visit(name, []);
    expect(done.size).toBe(files.length);
  });

  it('reads the environment in config.ts alone', () => {
    expect(files.filter((name) => code(name).includes('process.env'))).toEqual(['config.ts']);
  });

  it('imports database clients in the stores alone', () => {
    const importers = files.filter((name) => /from '(@elastic\/elasticsearch|@libsql\/client)/.test(code(name)));
    expect(importers.filter((name) => !name.startsWith('stores/'))).toEqual([]);
  });

  it('opens stores and embedders in the composition root alone', () => {
    // The mapping is data, and the checked query shapes are checked against it.
    const driver = (target: string) =>
      /^(stores|embedders)\//.test(target) && target !== 'stores/elasticsearch-mapping.ts';
    const openers = files.filter((name) => importsOf(name).some(driver));
    expect(openers.filter((name) => !/^(stores|embedders)\//.test(name))).toEqual(['open.ts']);
  });

  it('asks the clock at the edges alone', () => {
    const edges = /^(command-line|open|superseded)\.ts$|^mastra\/|^commands\//;
    const askers = files.filter((name) => /Date\.now|new Date\(\)/.test(code(name)));
    expect(askers.filter((name) => !edges.test(name))).toEqual([]);
  });

  it('keeps the core free of the framework', () => {
    const users = files.filter((name) => /from '@mastra\//.test(code(name)));
    expect(users.filter((name) => !/^(mastra|http)\//.test(name))).toEqual([]);
  });

  it('keeps every file below 250 lines and two folders deep at most', () => {
    expect(files.filter((name) => source(name).split('\n').length > 251)).toEqual([]);
    expect(files.filter((name) => name.split('/').length > 2)).toEqual([]);
  });

  it('has no dumping grounds and no barrels', () => {
    const forbidden = /(^|\/)(utils?|helpers?|common|misc|types|shared|index)\.(ts|js)$/;
    expect(files.filter((name) => forbidden.test(name) && name !== 'mastra/index.ts')).toEqual([]);
  });

  it('gives up no types', () => {
    expect(files.filter((name) => /:\s*any\b|\bas any\b|as unknown as/.test(code(name)))).toEqual([]);
  });

  it('knows every file: each has a layer', () => {
    expect(files.filter((name) => name.endsWith('.ts') && layerOf(name) === -1 && !OUTER.has(name))).toEqual([]);
  });
});
