import { MAX_FIELD_ERRORS, shortenName } from '../src/shared/errors.ts';
import { isObject } from '../src/shared/is-object.ts';

/** Returns whether PostgreSQL can store the text. */
export function isCleanText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

/** Message for text that PostgreSQL cannot store. */
export const UNCLEAN = 'must not contain U+0000 or unpaired surrogates';

/** Message for a JSON number that a double cannot hold, such as `1e400`. It would be stored as null. */
export const TOO_LARGE_NUMBER = 'must be a number that fits into 64 bits';

/** A value inside JSON that PostgreSQL cannot store unchanged. */
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

/**
 * Returns the texts and names inside a JSON value that PostgreSQL cannot store, at most `MAX_FIELD_ERRORS`. An object with such a name, or with
 * `__proto__`, is one problem. Paths are built for problems alone, with shortened names.
 *
 * @param checksNumbers whether numbers that a double cannot hold are problems.
 */
export function findJsonProblems(root: unknown, checksNumbers: boolean): JsonProblem[] {
  const problems: JsonProblem[] = [];
  const add = (message: string) => {
    if (problems.length < MAX_FIELD_ERRORS) problems.push({ path: [], message });
  };
  const visit = (value: unknown): void => {
    if (typeof value === 'string') {
      if (!isCleanText(value)) add(UNCLEAN);
    } else if (typeof value === 'number') {
      if (checksNumbers && !Number.isFinite(value)) add(TOO_LARGE_NUMBER);
    } else if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) visitItem(index, value[index]);
    } else if (isObject(value)) {
      let hasForbiddenName = false;
      for (const name of Object.keys(value)) {
        if (name === '__proto__' || !isCleanText(name)) hasForbiddenName = true;
        else visitItem(name, value[name]);
      }
      if (hasForbiddenName) add('has a field with a forbidden name');
    }
  };
  const visitItem = (key: string | number, item: unknown) => {
    const before = problems.length;
    visit(item);
    for (let at = before; at < problems.length; at++)
      problems[at]!.path.unshift(typeof key === 'string' ? shortenName(key) : key);
  };
  visit(root);
  return problems;
}
