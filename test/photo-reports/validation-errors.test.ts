import { describe, expect, it } from 'vitest';
import { MAX_JSON_DEPTH } from '../../schema/json-problems.ts';
import { LIMITS } from '../../src/domain/photo-reports/limits.ts';
import { ValidationErrors } from '../../src/domain/photo-reports/validation-errors.ts';

/** Returns the fields that have an error when the value is free-form JSON at that level of a request. */
const findInvalid = (value: unknown, level = 1) =>
  ValidationErrors.collect((errors) => errors.requireStorable(value, 'free', level)).map(({ fieldName }) => fieldName);

describe('numbers in free-form fields', () => {
  const digits = 308;
  const most = Math.floor(LIMITS.digits.max / digits);

  it('have 32 Mi digits in all at most, written without exponents (PRP-31)', () => {
    expect(LIMITS.digits.max).toBe(33_554_432);
    for (const number of [1e-308, -1e-308]) {
      expect(findInvalid(Array(most).fill(number))).toEqual([]);
      expect(findInvalid(Array(most + 1).fill(number))).toEqual([`free[${most}]`]);
    }
  });

  it('may be zero', () => {
    expect(findInvalid([0, -0, 1])).toEqual([]);
  });

  it('are at most 2^53 - 1 (ERR-27)', () => {
    expect(findInvalid({ a: Number.POSITIVE_INFINITY, b: 2 ** 53, c: 1e20, d: -(2 ** 53) })).toHaveLength(4);
    expect(findInvalid({ a: 2 ** 53 - 1, b: -(2 ** 53 - 1) })).toEqual([]);
  });
});

describe('free-form fields', () => {
  const nest = (depth: number, wrap: (inner: unknown) => unknown): unknown =>
    depth === 0 ? 'text' : wrap(nest(depth - 1, wrap));

  it.each<[string, (inner: unknown) => unknown]>([
    ['objects', (inner) => ({ beside: 1, inner })],
    ['arrays', (inner) => [1, inner]],
  ])('nest to level 64 of the request: %s (PRP-33)', (_, wrap) => {
    expect(findInvalid(nest(MAX_JSON_DEPTH, wrap))).toEqual([]);
    expect(findInvalid(nest(MAX_JSON_DEPTH + 1, wrap))).toHaveLength(1);
    expect(findInvalid(nest(1, wrap), MAX_JSON_DEPTH)).toEqual([]);
    expect(findInvalid(nest(1, wrap), MAX_JSON_DEPTH + 1)).toEqual(['free']);
  });

  it.each<[unknown, string[]]>([
    [{ bad: '\0' }, ['free.bad']],
    [{ good: 'a', list: ['a', null, true, '\0'] }, ['free.list[3]']],
    [{ outer: { bad: '\ud800' } }, ['free.outer.bad']],
    [{ outer: { 'a\0': 1 } }, ['free.outer']],
    [JSON.parse('{ "__proto__": { "a": 1, "b": "\\u0000" }, "a": 1 }'), ['free.__proto__.b']],
    [null, []],
  ])('hold text and names that PostgreSQL can store: %j (PRP-31)', (value, invalid) => {
    expect(findInvalid(value)).toEqual(invalid);
  });
});
