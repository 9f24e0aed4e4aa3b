import { MAX_FIELD_ERRORS, shortenName } from '../src/shared/errors.ts';
import { isObject } from './is-object.ts';

/** Returns whether PostgreSQL can store the text. */
export function isCleanText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

/** Message for text that PostgreSQL cannot store. */
export const UNCLEAN = 'must not contain U+0000 or unpaired surrogates';

/** Message for a JSON number that may change when it is read: an integer beyond 2^53 - 1, or a value that a double cannot hold (ERR-27). */
export const INEXACT_NUMBER = `must be a number from -(2^53 - 1) to 2^53 - 1; send larger values as text`;

/** Whether a number that was read from JSON is the one that was sent. */
export const isExactNumber = (value: unknown): boolean => Math.abs(value as number) <= Number.MAX_SAFE_INTEGER;

/** A value inside JSON that cannot be stored unchanged. */
interface JsonProblem {
  path: (string | number)[];
  message: string;
}

/** Error of a `JsonObject` with the values inside it that are invalid. */
export class JsonValueError extends TypeError {
  readonly problems: readonly JsonProblem[];

  constructor(problems: readonly JsonProblem[]) {
    super(problems[0]!.message);
    this.problems = problems;
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
