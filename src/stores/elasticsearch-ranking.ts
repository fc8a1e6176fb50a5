import { SupersededError } from '../errors.ts';
import { holds, type MemoryRow, type Scope, SHARED, statusOf } from '../memory.ts';
import { recallQuery, type Target } from '../recall-query.ts';
import type { Parts } from '../score.ts';
import type { Ranked, Ranking, RankQuery } from '../store.ts';
import type { Backend } from './elasticsearch-backend.ts';
import { documentIdOf } from './elasticsearch-document.ts';
import { type AnswerRow, numberIn, runEsql, textIn, textsIn } from './elasticsearch-esql.ts';
import { lookUp } from './elasticsearch-rows.ts';

/** Ranking: one query for the order and the parts, one look-up for the rows as they are now. */

interface Scored extends Parts {
  document: string;
  scope: Scope;
  score: number;
  /** Documents of what it replaced and of its successor. */
  links: string[];
  batches: string[];
}

/** Other commits may be under way for so many rounds before a ranking gives up on filling their rows' places. */
const ROUNDS = 3;

export async function rankRows(backend: Backend, scope: Scope, target: Target, query: RankQuery): Promise<Ranking> {
  const { signal } = query;
  const hidden = new Set<string>();
  for (let round = 1; ; round++) {
    const request = recallQuery(query, scope, target, [...hidden]);
    const scored = (await runEsql(backend, 'rank memories', request, signal)).map((row) => scoredOf(row, scope));
    const batches = [...new Set(scored.flatMap((hit) => hit.batches))];
    const documents = [...new Set(scored.flatMap(({ document, links }) => [document, ...links]))];
    const seen = await lookUp(backend, documents, { batches, signal });
    const rows = new Map(seen.found.map(({ document, row }) => [document, row]));
    // Rows of a commit that is not decided took places in the ranking: once more without them.
    const taking = seen.hidden.filter((batch) => batches.includes(batch) && !hidden.has(batch));
    if (taking.length === 0 || round === ROUNDS) return rankingOf(query, scored, rows);
    for (const batch of taking) hidden.add(batch);
  }
}

function rankingOf(query: RankQuery, scored: readonly Scored[], rows: ReadonlyMap<string, MemoryRow>): Ranking {
  const ranked = scored.flatMap(({ document, links: _l, batches: _b, scope: _s, ...parts }): Ranked[] => {
    const row = rows.get(document);
    // The query sees the last refresh, the row is of now: one that was closed in between is not recalled.
    return row && counts(row, query) ? [{ row, ...parts }] : [];
  });
  const own = new Set(ranked.map(({ row }) => documentIdOf(row)));
  const linked = new Map<string, MemoryRow>();
  for (const { row } of ranked) {
    for (const id of [row.supersededBy, ...row.supersedes]) {
      const document = id === null ? null : documentIdOf({ scope: row.scope, id });
      const found = document === null ? undefined : rows.get(document);
      if (document !== null && found && !own.has(document)) linked.set(document, found);
    }
  }
  return { ranked, linked: [...linked.values()] };
}

function counts(row: MemoryRow, query: RankQuery): boolean {
  if (!query.includeHistory) return holds(row, query);
  return row.createdAt <= query.knownAt && statusOf(row, query) !== 'upcoming';
}

function scoredOf(row: AnswerRow, own: Scope): Scored {
  const scope = ([own, SHARED] as const).find((readable) => readable === row.scope);
  if (scope === undefined) {
    throw new SupersededError('STORE_FAILED', 'A ranking held a memory of another scope; nothing was returned.', {
      hint: 'The index or what answers for it is wrong. Run `superseded doctor`.',
    });
  }
  const links = [...textsIn(row, 'superseded_by'), ...textsIn(row, 'supersedes')];
  return {
    document: textIn(row, '_id'),
    scope,
    links: links.map((id) => documentIdOf({ scope, id })),
    batches: textsIn(row, 'batch'),
    score: numberIn(row, 'score'),
    lexical: numberIn(row, 'lexical'),
    semantic: numberIn(row, 'semantic'),
    relevance: numberIn(row, 'relevance'),
    ageWeight: numberIn(row, 'age_weight'),
    trust: numberIn(row, 'trust'),
  };
}
