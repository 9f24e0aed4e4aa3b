/** Characters of a chunk, about. */
const CHUNK_LENGTH = 64 * 1024;

/** Steps after which a value is taken for large. */
const SMALL = 4_096;

/**
 * The JSON of a value in chunks, the same as `JSON.stringify` gives for plain objects, arrays and leaves. Serializing a large response
 * in one piece would keep the event loop from all other requests.
 */
export const jsonChunks = (value: unknown): Generator<string> => inChunks(pieces(value));

/** The same text in larger pieces. */
export function* inChunks(pieces: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

function* pieces(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > CHUNK_LENGTH) {
    yield* piecesOfText(value);
  } else if (typeof value !== 'object' || value === null || stepsOf(value, SMALL) <= SMALL) {
    yield JSON.stringify(value) ?? 'null';
  } else if (Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      yield separator;
      yield* pieces(item);
      separator = ',';
    }
    yield ']';
  } else {
    let separator = '{';
    for (const [name, property] of Object.entries(value)) {
      if (property === undefined) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      yield* pieces(property);
      separator = ',';
    }
    yield '}';
  }
}

/** A long text, cut between characters: half of a surrogate pair would be escaped. */
function* piecesOfText(text: string): Generator<string> {
  yield '"';
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + CHUNK_LENGTH;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end++;
    yield JSON.stringify(text.slice(start, end)).slice(1, -1);
  }
  yield '"';
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff;

/** Values in a tree, and a step for each 16 characters; stops counting beyond the limit. */
function stepsOf(value: unknown, limit: number): number {
  if (typeof value === 'string') return 1 + value.length / 16;
  if (typeof value !== 'object' || value === null) return 1;
  let steps = 1;
  for (const name in value) {
    steps += stepsOf((value as Record<string, unknown>)[name], limit - steps);
    if (steps > limit) break;
  }
  return steps;
}
