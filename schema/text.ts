/** Returns whether PostgreSQL can store the text. */
export function isCleanText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

/** Message for text that PostgreSQL cannot store. */
export const UNCLEAN = 'must not contain U+0000 or unpaired surrogates';

/** Returns whether a text has `min` to `max` Unicode code points, in time proportional to `max`. */
export function hasLength(text: string, min: number, max: number): boolean {
  // The number of code points is between half the number of code units and that number.
  if (text.length > 2 * max) return false;
  const points = text.length > max || text.length < 2 * min ? countCodePoints(text) : text.length;
  return points >= min && points <= max;
}

/** Counts Unicode code points without an intermediate array. */
export function countCodePoints(text: string): number {
  let points = 0;
  for (let index = 0; index < text.length; index++) {
    // A low surrogate is counted with its high surrogate.
    if ((text.charCodeAt(index) & 0xfc00) !== 0xdc00) points++;
  }
  return points;
}
