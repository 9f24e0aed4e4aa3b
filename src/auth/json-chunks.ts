/** Approximate characters of a chunk. */
const CHUNK_LENGTH = 64 * 1024;

/** Number of steps above which a value is large. */
const MAX_SMALL_STEPS = 4_096;

/**
 * Yields the JSON of a value in chunks: the text of `JSON.stringify` for plain objects, arrays and leaves. Serializing a large response at
 * once would block the event loop.
 */
export const splitJson = (value: unknown): Generator<string> => inChunks(splitValue(value));

/** Joins pieces of text to chunks. */
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

function* splitValue(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > CHUNK_LENGTH) {
    yield* splitText(value);
  } else if (typeof value !== 'object' || value === null || countSteps(value, MAX_SMALL_STEPS) <= MAX_SMALL_STEPS) {
    yield JSON.stringify(value) ?? 'null';
  } else if (Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      yield separator;
      yield* splitValue(item);
      separator = ',';
    }
    yield ']';
  } else {
    let separator = '{';
    for (const [name, property] of Object.entries(value)) {
      if (property === undefined) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      yield* splitValue(property);
      separator = ',';
    }
    yield '}';
  }
}

/** Yields a long string in pieces. Surrogate pairs are not split, because a lone surrogate would be escaped. */
function* splitText(text: string): Generator<string> {
  yield '"';
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + CHUNK_LENGTH;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end++;
    yield JSON.stringify(text.slice(start, end)).slice(1, -1);
  }
  yield '"';
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff;

/** Counts the values of a tree, with one step for each 16 characters. Stops above the limit. */
function countSteps(value: unknown, limit: number): number {
  if (typeof value === 'string') return 1 + value.length / 16;
  if (typeof value !== 'object' || value === null) return 1;
  let steps = 1;
  for (const name in value) {
    steps += countSteps((value as Record<string, unknown>)[name], limit - steps);
    if (steps > limit) break;
  }
  return steps;
}
