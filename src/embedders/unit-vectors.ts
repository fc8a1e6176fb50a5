/** Scales a vector to length 1 in place and returns it; null where it has no direction (zero, NaN or infinite). */
export function toUnit(vector: Float32Array): Float32Array | null {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length) || length === 0) return null;
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) / length;
  return vector;
}

/** The unit vector of the mean of unit vectors: one vector for a text that was embedded in several parts. */
export function meanOfUnits(vectors: readonly Float32Array[]): Float32Array | null {
  const [first] = vectors;
  if (first === undefined) return null;
  if (vectors.length === 1) return first;
  const sum = new Float64Array(first.length);
  for (const vector of vectors) for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
  return toUnit(Float32Array.from(sum));
}
