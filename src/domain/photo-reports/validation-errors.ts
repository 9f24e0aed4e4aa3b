import { formatFieldPath } from '../../../schema/input.ts';
import { isObject } from '../../../schema/is-object.ts';
import { findJsonProblems, INEXACT_NUMBER, isExactNumber } from '../../../schema/json-problems.ts';
import { type FieldError, MAX_FIELD_ERRORS, shortenName } from '../../shared/errors.ts';
import { formatRange, LIMITS } from './limits.ts';
import { PreparedPage } from './prepared-page.ts';

export type Fields = Record<string, unknown>;

/** Thrown to stop the validation when the response cannot hold another error. */
const STOP = Symbol('enough');

export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** Collects the errors of a document, each with the path of its field, up to `MAX_FIELD_ERRORS`. */
export class ValidationErrors {
  readonly #list: FieldError[] = [];
  /** Digits of the free-form numbers so far. */
  #digits = 0;

  /** Returns the errors that `validate` adds, and stops it at the maximum. */
  static collect(validate: (errors: ValidationErrors) => void): FieldError[] {
    const errors = new ValidationErrors();
    try {
      validate(errors);
    } catch (thrown) {
      if (thrown !== STOP) throw thrown;
    }
    return errors.#list;
  }

  add(fieldName: string, message: string): void {
    this.#list.push({ fieldName, message });
    if (this.#list.length === MAX_FIELD_ERRORS) throw STOP;
  }

  /** Returns the object, or null; adds an error for each unknown field. */
  requireObject(value: unknown, path: string, allowedFields: ReadonlySet<string>): Fields | null {
    const object = this.requireFreeObject(value, path);
    if (!object) return null;
    for (const name in object) {
      if (allowedFields.has(name)) continue;
      this.add(
        `${path}.${shortenName(name).toWellFormed()}`,
        `is not a field of this object; it has ${[...allowedFields].join(', ')}`,
      );
    }
    return object;
  }

  /** Returns an object with any fields, or null. */
  requireFreeObject(value: unknown, path: string): Fields | null {
    if (value instanceof PreparedPage)
      this.add(path, 'a page within a page cannot be a variable of its own in a body of this size');
    else if (isObject(value)) return value;
    else this.add(path, isAbsent(value) ? 'is required' : 'must be an object');
    return null;
  }

  /**
   * Requires free-form JSON that PostgreSQL can store unchanged.
   *
   * @param level nesting level of the value; that of the request is 1.
   */
  requireStorable(value: unknown, path: string, level: number): void {
    const findNumberProblem = (number: number) => this.#findNumberProblem(number);
    for (const problem of findJsonProblems(value, { level, findNumberProblem }))
      this.add(formatFieldPath(path, problem.path), problem.message);
  }

  /** Limits digits in total, because PostgreSQL prints numbers without exponents: a few bytes could become hundreds on each read. */
  #findNumberProblem(value: number): string | null {
    if (!isExactNumber(value)) return INEXACT_NUMBER;
    if (value === 0) return null;
    const before = this.#digits;
    this.#digits += Math.abs(Math.floor(Math.log10(Math.abs(value))));
    const { max } = LIMITS.digits;
    const passesLimit = this.#digits > max && before <= max;
    return passesLimit ? `numbers must have ${formatRange(LIMITS.digits)} in all, written without exponents` : null;
  }
}
