import { toComparableText } from '../../shared/comparable-text.ts';

/** Words of a name of which either may be the family name. The pattern of a text of thousands of words would take the database hours. */
const MAX_WORDS = 12;

/** Returns the comparable forms of a name in which people write it: as it is, and with the family name first. */
export function toNameForms(name: string): string[] {
  const comparable = toComparableText(name);
  const [family, given, ...others] = comparable.split(/ ?, ?/);
  const forms = [comparable];
  if (given && others.length === 0) forms.push(`${given} ${family}`);
  const words = comparable.replaceAll(',', '').split(' ');
  for (let at = 1; at < words.length && words.length <= MAX_WORDS; at++) {
    forms.push(`${words.slice(at).join(' ')}, ${words.slice(0, at).join(' ')}`);
    forms.push(`${words.slice(at).join(' ')} ${words.slice(0, at).join(' ')}`);
  }
  return [...new Set(forms)].filter((form) => form !== '');
}

/** Characters of a form that is looked for: more than the index of names takes. */
const MAX_FORM = 3000;

/** Whether the form can be looked for in texts: one of punctuation alone would be found between any two words. */
export const isNaming = (form: string): boolean => form.length <= MAX_FORM && /[\p{L}\p{N}\p{So}]/u.test(form);

/** Characters before and after a form in a pattern. */
const MAX_BOUNDS = 40;

/** Characters of the forms of one pattern: PostgreSQL rejects one that is several times as long. */
const MAX_PATTERN = 10_000;

/** Returns regular expressions of PostgreSQL of which one finds each comparable text that contains one of the forms. */
export function createPatterns(forms: readonly string[]): string[] {
  const size = Math.ceil(MAX_PATTERN / Math.max(...forms.map(({ length }) => length + MAX_BOUNDS)));
  const begins = Array.from({ length: Math.ceil(forms.length / size) }, (_, batch) => batch * size);
  return begins.map((at) => createPattern(forms.slice(at, at + size)));
}

/** Letters of scripts that have no spaces between words. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/**
 * Returns a regular expression for comparable text that contains one of the forms, where no letter or digit precedes or follows it, unless the
 * script has no spaces there. Words may have what separates them in names of files. It is one of PostgreSQL too.
 */
function createPattern(forms: readonly string[], letterOrDigit = '[[:alnum:]]'): string {
  const bounded = forms.map((form) => {
    const letters = [...form];
    const escaped = form
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/, |[ -]/g, (separator) => (separator === ', ' ? ' ?, ?' : '[ _.-]+'));
    const before = UNSPACED.test(letters[0]!) ? '' : `(?<!${letterOrDigit})`;
    const after = UNSPACED.test(letters.at(-1)!) ? '' : `(?!${letterOrDigit})`;
    return before + escaped + after;
  });
  return `(?:${bounded.join('|')})`;
}

/**
 * Replaces the name in the text, however it is written. Returns the same text if it does not contain the name.
 */
export function replaceName(text: string, name: string, replacement: string): string {
  const forms = toNameForms(name).filter(isNaming);
  if (forms.length === 0) return text;
  // The comparable text, and for each of its characters where its letter begins in the text.
  let comparable = '';
  const starts: number[] = [];
  for (const { segment, index } of new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)) {
    // Letters around it, because white space at an end would be removed.
    const form = toComparableText(`x${segment}x`).slice(1, -1);
    if (form === ' ' && comparable.endsWith(' ')) continue;
    comparable += form;
    for (let at = 0; at < form.length; at++) starts.push(index);
  }
  starts.push(text.length);
  const pattern = new RegExp(createPattern(forms, '[\\p{L}\\p{N}]'), 'gu');
  let replaced = '';
  let end = 0;
  for (const match of comparable.matchAll(pattern)) {
    replaced += text.slice(end, starts[match.index]!) + replacement;
    end = starts[match.index + match[0].length]!;
  }
  return replaced + text.slice(end);
}
