/** What splitting needs of a tokenizer: ids and word pieces of a text, without special tokens. */
export interface Pieces {
  ids: number[];
  tokens: string[];
}

export interface SplitOptions {
  /** Tokens of text one run may hold: the model's limit less special tokens and prefix. */
  budget: number;
  tokenize: (text: string) => Pieces;
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Cuts a text into runs of at most `budget` tokens; together they hold every token of the text, in order.
 * Runs are groups of whole sentences of about equal size, so that a short tail does not weigh as much as all before it.
 */
export function splitIntoRuns(text: string, { budget, tokenize }: SplitOptions): number[][] {
  const whole = tokenize(text);
  if (whole.ids.length <= budget) return [whole.ids];
  const parts: number[][] = [];
  for (const { segment } of sentences.segment(text)) parts.push(...cutAtWords(tokenize(segment), budget));
  return group(parts, budget);
}

/** Cuts one sentence at word starts; a word is cut only where it alone is over the budget. */
function cutAtWords({ ids, tokens }: Pieces, budget: number): number[][] {
  const parts: number[][] = [];
  let start = 0;
  while (ids.length - start > budget) {
    let end = start + budget;
    while (end > start && tokens[end]?.startsWith('##')) end--;
    if (end === start) end = start + budget;
    parts.push(ids.slice(start, end));
    start = end;
  }
  if (start < ids.length) parts.push(ids.slice(start));
  return parts;
}

function group(parts: readonly number[][], budget: number): number[][] {
  let left = parts.reduce((sum, part) => sum + part.length, 0);
  let target = evenShare(left, budget);
  const runs: number[][] = [];
  let run: number[] = [];
  for (const part of parts) {
    const full = run.length + part.length > budget || run.length + part.length / 2 > target;
    if (run.length > 0 && full) {
      runs.push(run);
      left -= run.length;
      target = evenShare(left, budget);
      run = [];
    }
    run.push(...part);
  }
  runs.push(run);
  return runs;
}

/** Size of each run when `tokens` are shared out among as few runs as can hold them. */
function evenShare(tokens: number, budget: number): number {
  return tokens / Math.ceil(tokens / budget);
}
