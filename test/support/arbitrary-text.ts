import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/** Any character but a surrogate, and the number that it is generated from. */
const character = fc.nat({ max: 0x10ffff - SURROGATES.count }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (text) => {
    const codePoint = (text as string).codePointAt(0)!;
    return codePoint < SURROGATES.first ? codePoint : codePoint - SURROGATES.count;
  },
);

/**
 * Returns an arbitrary of texts of any characters, the same as `unit: 'binary'` of fast-check, which makes a table of all 1.1 million
 * characters: it takes a second, and every later collection of garbage marks it.
 */
export const arbitraryText = (constraints: { maxLength?: number } = {}) =>
  fc.string({ ...constraints, unit: character });
