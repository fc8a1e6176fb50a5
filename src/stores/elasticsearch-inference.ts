import { SupersededError } from '../errors.ts';
import type { Backend } from './elasticsearch-backend.ts';

/** The endpoint's vectors of texts, of unit length: for what must see them, such as the calibration check. */
export async function embedOnServer(
  backend: Backend,
  inferenceId: string | null,
  kind: 'query' | 'passage',
  texts: readonly string[],
): Promise<Float32Array[]> {
  if (inferenceId === null)
    throw new SupersededError('UNSUPPORTED', 'No inference endpoint is set: vectors are made here.');
  const answer = await backend.elastic.call(`embed with the endpoint ${inferenceId}`, (client, call) =>
    client.inference.textEmbedding(
      { inference_id: inferenceId, input: [...texts], input_type: kind === 'query' ? 'search' : 'ingest' },
      call,
    ),
  );
  const vectors = answer?.text_embedding ?? [];
  if (vectors.length !== texts.length) {
    throw new SupersededError(
      'EMBEDDER_FAILED',
      `The endpoint ${inferenceId} answered ${vectors.length} of ${texts.length} texts.`,
    );
  }
  return vectors.map(({ embedding }) => {
    const length = Math.hypot(...embedding) || 1;
    return Float32Array.from(embedding, (component) => component / length);
  });
}
