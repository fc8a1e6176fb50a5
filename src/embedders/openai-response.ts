import { z } from 'zod';
import { SupersededError } from '../errors.ts';
import { toUnit } from './unit-vectors.ts';

const answer = z.object({
  data: z.array(z.object({ index: z.int().nonnegative().optional(), embedding: z.array(z.unknown()) })),
});

type Items = z.infer<typeof answer>['data'];

/**
 * Reads an answer into unit vectors, in the order of the inputs (by `index` where given).
 * Throws EMBEDDER_FAILED on bad JSON, a wrong count, order or length, and on vectors without a direction.
 */
export function parseEmbeddings(text: string, count: number, dimensions: number | undefined): Float32Array[] {
  const items = inOrder(parseItems(text), count);
  const expected = dimensions ?? items[0]?.embedding.length ?? 0;
  return items.map(({ embedding }, i) => {
    if (embedding.length !== expected) {
      throw failed(`a vector of ${embedding.length} dimensions came where ${expected} were expected (input ${i})`);
    }
    const vector = new Float32Array(expected);
    embedding.forEach((value, k) => {
      if (typeof value !== 'number' || !Number.isFinite(value)) {
        throw failed(
          `the vector of input ${i} holds ${typeof value === 'number' ? value : typeof value}, not a number`,
        );
      }
      vector[k] = value;
    });
    const unit = toUnit(vector);
    if (unit === null) throw failed(`the vector of input ${i} is zero, empty or too large: it has no direction`);
    return unit;
  });
}

function parseItems(text: string): Items {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw failed(`${text.length} characters came that are not JSON, or JSON cut short`);
  }
  const parsed = answer.safeParse(json);
  if (parsed.success) return parsed.data.data;
  const [issue] = parsed.error.issues;
  throw failed(`JSON of another form came (${issue?.path.join('.') || 'the whole'}: ${issue?.message})`);
}

function inOrder(items: Items, count: number): Items {
  if (items.length !== count) throw failed(`${items.length} vectors came for ${count} inputs`);
  const numbered = items.filter((item) => item.index !== undefined);
  if (numbered.length === 0) return items;
  const sorted = numbered.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
  if (sorted.length === count && sorted.every((item, i) => item.index === i)) return sorted;
  const came = items.slice(0, 8).map((item) => item.index ?? 'none');
  throw failed(`the indexes ${came.join(', ')}${count > 8 ? ', …' : ''} do not name the ${count} inputs once each`);
}

function failed(what: string): SupersededError {
  return new SupersededError('EMBEDDER_FAILED', `The embeddings service gave an answer that cannot be used: ${what}.`, {
    hint: 'Check that EMBEDDINGS_MODEL (model) is an embedding model and EMBEDDINGS_URL (url) an OpenAI-compatible service.',
  });
}
