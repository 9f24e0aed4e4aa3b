import { isCleanText, UNCLEAN } from '../../../schema/scalars.ts';
import { type FieldError, MAX_FIELD_ERRORS } from '../../shared/errors.ts';
import { fitsIn, LIMITS, type Limit, MAX_DEPTH, rangeText } from './limits.ts';

export type Fields = Record<string, unknown>;

/** Thrown when there is no room for another error, to end the walk. */
const ENOUGH = Symbol('enough');

/** The longest name of an unknown field that an answer repeats. */
const LONGEST_NAME = 100;

export const isObject = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** What a walk over a document finds wrong, each with its path, as many as one answer holds. */
export class Findings {
  readonly errors: FieldError[] = [];
  /** Digits of free-form numbers so far. */
  #digits = 0;

  /** Runs the walk, and ends it when the answer is full. */
  static of(walk: (findings: Findings) => void): FieldError[] {
    const findings = new Findings();
    try {
      walk(findings);
    } catch (thrown) {
      if (thrown !== ENOUGH) throw thrown;
    }
    return findings.errors;
  }

  add(fieldName: string, message: string): void {
    this.errors.push({ fieldName, message });
    if (this.errors.length === MAX_FIELD_ERRORS) throw ENOUGH;
  }

  /** The object, without fields beyond the known ones; null when it is none. */
  object(value: unknown, path: string, what: string, known: ReadonlySet<string>): Fields | null {
    const object = this.freeObject(value, path);
    if (!object) return null;
    for (const name in object) {
      if (known.has(name)) continue;
      const shown = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
      this.add(`${path}.${shown.toWellFormed()}`, `is not a field of ${what}; it has ${[...known].join(', ')}`);
    }
    return object;
  }

  freeObject(value: unknown, path: string): Fields | null {
    if (isObject(value)) return value;
    this.add(path, isAbsent(value) ? 'is required' : 'must be an object');
    return null;
  }

  list(value: unknown, path: string, limit: Limit): readonly unknown[] | null {
    if (!Array.isArray(value)) {
      this.add(path, isAbsent(value) ? 'is required' : 'must be an array');
      return null;
    }
    if (value.length < limit.min || value.length > limit.max) this.add(path, `must have ${rangeText(limit)}`);
    return value;
  }

  /** The text; null when it is none, or too long, or too short. */
  text(value: unknown, path: string, limit?: Limit): string | null {
    if (typeof value !== 'string') this.add(path, isAbsent(value) ? 'is required' : 'must be a string');
    else if (!isCleanText(value)) this.add(path, UNCLEAN);
    else if (limit && !fitsIn(value, limit)) this.add(path, `must have ${rangeText(limit)}`);
    else return value;
    return null;
  }

  integer(value: unknown, path: string, { min, max }: Limit): void {
    if (isAbsent(value)) this.add(path, 'is required');
    else if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
      this.add(path, `must be an integer from ${min} to ${max}`);
  }

  oneOf(value: unknown, path: string, values: readonly string[]): void {
    if (values.includes(value as string)) return;
    this.add(path, isAbsent(value) ? 'is required' : `must be one of ${values.join(', ')}`);
  }

  /**
   * Free-form JSON that can be stored as it is.
   *
   * @param level of the value in the request, which is the first.
   */
  storable(value: unknown, path: string, level: number): void {
    const digits = this.#digits;
    if (this.#isStorable(value, level)) return;
    // Paths take longer to make than values to check, so they are made for a document that is rejected.
    this.#digits = digits;
    this.#explain(value, path, level);
  }

  #isStorable(value: unknown, level: number): boolean {
    if (typeof value === 'string') return isCleanText(value);
    if (typeof value === 'number') return this.#numberProblem(value) === null;
    if (typeof value !== 'object' || value === null) return true;
    if (level > MAX_DEPTH) return false;
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) if (!this.#isStorable(value[at], level + 1)) return false;
      return true;
    }
    for (const name of Object.keys(value)) {
      if (name === '__proto__' || !isCleanText(name)) return false;
      if (!this.#isStorable((value as Fields)[name], level + 1)) return false;
    }
    return true;
  }

  #explain(value: unknown, path: string, level: number): void {
    if (typeof value === 'string') {
      if (!isCleanText(value)) this.add(path, UNCLEAN);
    } else if (typeof value === 'number') {
      const problem = this.#numberProblem(value);
      if (problem !== null) this.add(path, problem);
    } else if (typeof value === 'object' && value !== null && level > MAX_DEPTH) {
      this.add(path, `must not be deeper than ${MAX_DEPTH} levels in the request`);
    } else if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) this.#explain(value[at], `${path}[${at}]`, level + 1);
    } else if (isObject(value)) {
      for (const name of Object.keys(value)) {
        if (name !== '__proto__' && isCleanText(name)) this.#explain(value[name], `${path}.${name}`, level + 1);
        else this.add(path, 'has a field with a forbidden name');
      }
    }
  }

  /** PostgreSQL writes numbers without exponents, so that a few bytes could become hundreds whenever the report is read. */
  #numberProblem(value: number): string | null {
    if (!Number.isFinite(value)) return 'must be a number that fits into 64 bits';
    if (value === 0) return null;
    const before = this.#digits;
    this.#digits += Math.abs(Math.floor(Math.log10(Math.abs(value))));
    const { max } = LIMITS.digits;
    const passesLimit = this.#digits > max && before <= max;
    return passesLimit ? `numbers must have ${rangeText(LIMITS.digits)} in all, written without exponents` : null;
  }
}
