import { findEndOfString } from '../src/limits/parse-json.ts';
import { type FieldError, MAX_FIELD_ERRORS, shortenName } from '../src/shared/errors.ts';
import { isObject } from './is-object.ts';
import { isCleanText, UNCLEAN } from './text.ts';

/** Message for a JSON number that changes when it is read, beyond the rounding of a decimal (ERR-27): see `isExactText`. */
export const INEXACT_NUMBER =
  'must be a number from -(2^53 - 1) to 2^53 - 1 that does not become 0 or lose its fraction; send others as text';

/** Whether a number that was read from JSON is the one that was sent. */
export const isExactNumber = (value: unknown): boolean => Math.abs(value as number) <= Number.MAX_SAFE_INTEGER;

/** Magnitude from which a double has no fraction. */
const FIRST_WITHOUT_FRACTION = 2 ** 52;

/** Whether the text of a number is that of the double it is read as, except for the rounding of a decimal. */
export function isExactText(text: string): boolean {
  const value = Number(text);
  if (value === 0) return !/^[^e]*[1-9]/i.test(text);
  if (Math.abs(value) < FIRST_WITHOUT_FRACTION) return true;
  return isExactNumber(value) && toCanonicalDigits(text) === toCanonicalDigits(String(value));
}

/** Returns the digits of a number without zeros at both ends, and its exponent. */
function toCanonicalDigits(text: string): string {
  const [, integer, fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(text)!;
  const digits = (integer! + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Matches JSON text with a number, not an id, that may not be exact: of 16 digits, or with an exponent that is positive or of three digits. */
export const MAY_BE_INEXACT = /(?:^|[\s:,[])-?[\d.]*?(?:\d{16}|\de(?:\+?\d|-\d{3}))/i;

/** Returns the value of JSON. Numbers that are not exact are infinite in it, so that `isExactNumber` finds them. */
export const parseExactJson = (text: string): unknown =>
  JSON.parse(MAY_BE_INEXACT.test(text) ? replaceInexactNumbers(text) : text);

/** Replaces numbers outside of strings: a reviver would need twenty times as long as the parser. */
function replaceInexactNumbers(text: string): string {
  const pattern = /"|(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?/gi;
  let replaced = '';
  let end = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (match[0] === '"') pattern.lastIndex = findEndOfString(text, match.index) + 1;
    else if (!isExactText(match[0])) {
      replaced += `${text.slice(end, match.index)}1e999`;
      end = pattern.lastIndex;
    }
  }
  return replaced + text.slice(end);
}

/** A value inside JSON that cannot be stored unchanged. */
interface JsonProblem {
  path: (string | number)[];
  message: string;
}

/** Error of a JSON value with the values inside it that are invalid. Their names begin after that of the value: `.blocks[3].title`. */
export class JsonValueError extends TypeError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    super(errors[0]!.message);
    this.errors = errors;
  }
}

/** Maximum nesting of objects and arrays in JSON, that of a request included (LIM-10, PRP-33). */
export const MAX_JSON_DEPTH = 64;

interface JsonRules {
  /** Nesting level of the value; without it the depth is not checked. */
  level?: number;
  findNumberProblem?: (value: number) => string | null;
}

/**
 * Returns the texts, names and numbers inside a JSON value that cannot be stored unchanged, at most `MAX_FIELD_ERRORS`, and what is nested too
 * deep. An object with such a name is one problem. Paths are built for problems alone, with shortened names.
 */
export function findJsonProblems(
  root: unknown,
  {
    level = Number.NEGATIVE_INFINITY,
    findNumberProblem = (value) => (isExactNumber(value) ? null : INEXACT_NUMBER),
  }: JsonRules = {},
): JsonProblem[] {
  const problems: JsonProblem[] = [];
  const add = (message: string) => {
    if (problems.length < MAX_FIELD_ERRORS) problems.push({ path: [], message });
  };
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'string') {
      if (!isCleanText(value)) add(UNCLEAN);
    } else if (typeof value === 'number') {
      const problem = findNumberProblem(value);
      if (problem !== null) add(problem);
    } else if (typeof value === 'object' && value !== null && depth > MAX_JSON_DEPTH) {
      add(`must not nest deeper than ${MAX_JSON_DEPTH} levels`);
    } else if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) visitItem(index, value[index], depth + 1);
    } else if (isObject(value)) {
      let hasForbiddenName = false;
      for (const name of Object.keys(value)) {
        if (!isCleanText(name)) hasForbiddenName = true;
        else visitItem(name, value[name], depth + 1);
      }
      if (hasForbiddenName) add('has a field with a forbidden name');
    }
  };
  const visitItem = (key: string | number, item: unknown, depth: number) => {
    const before = problems.length;
    visit(item, depth);
    for (let at = before; at < problems.length; at++)
      problems[at]!.path.unshift(typeof key === 'string' ? shortenName(key) : key);
  };
  visit(root, level);
  return problems;
}
