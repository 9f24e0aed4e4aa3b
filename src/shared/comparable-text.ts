/** Characters that are not shown. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Letters and punctuation that people write for one another. */
const SAME: Record<string, string> = { ß: 'ss', ς: 'σ', ı: 'i', '’': "'", '‘': "'", ʼ: "'", '‐': '-', '–': '-' };

/**
 * Returns the form in which names, e-mail addresses and texts are compared and searched: Unicode compatibility forms are one (NFKC), as are
 * cases of letters (ẞ, ß and ss; Σ, σ and ς; İ, I, i and ı), and a run of white space is a space. The database's function `comparable_text` is the
 * same: `test/domain/comparable-text.test.ts` compares them.
 */
export const toComparableText = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .toUpperCase()
    .toLowerCase()
    .replace(/\p{Script=Cherokee}/gu, (letter) => letter.toUpperCase())
    .normalize('NFKC')
    .replace(/i\u0307+/gu, 'i')
    .replace(/[ßςı’‘ʼ‐–]/gu, (character) => SAME[character]!)
    // An i composes with what follows its removed dot.
    .normalize('NFKC')
    .replace(/[\s\u0085]+/gu, ' ')
    .trim();
