import { expect, test } from 'vitest';
import {
  parseParameterValue,
  rejectRepeatedParameters,
  requireAudience,
  requireParameter,
} from '../../../src/oauth/parameters.ts';
import { errorOf } from './check-fixtures.ts';

test('rejectRepeatedParameters rejects a name that occurs twice (RFC 6749 section 3.2)', () => {
  expect(errorOf(() => rejectRepeatedParameters(['a', 'b', 'A']))).toBeNull();
  expect(errorOf(() => rejectRepeatedParameters(['a', 'b', 'a']))).toBe('invalid_request');
});

test('parseParameterValue requires text and ignores unsupported parameters (RFC 6749 section 3.2)', () => {
  expect([parseParameterValue('code', 'a'), parseParameterValue('acr_values', 'a')]).toEqual(['a', null]);
  for (const invalid of [1, true, null, {}, ['a'], 'a\0', 'a\ud800']) {
    expect(errorOf(() => parseParameterValue('code', invalid))).toBe('invalid_request');
  }
});

test('requireParameter returns the value unchanged and rejects a missing parameter (RFC 6749 section 5.2)', () => {
  expect(requireParameter(new Map([['state', ' a state ']]), 'state')).toBe(' a state ');
  expect(errorOf(() => requireParameter(new Map(), 'state'))).toBe('invalid_request');
});

test('accepts no audience and the base URL, and rejects any other audience (OAU-10)', () => {
  const check = (audience: string) =>
    errorOf(() => requireAudience(new Map([['audience', audience]]), 'https://api.example'));
  expect(errorOf(() => requireAudience(new Map(), 'https://api.example'))).toBeNull();
  expect(check('https://api.example')).toBeNull();
  for (const invalid of ['https://api.example/', 'https://API.example', 'https://other.example']) {
    expect(check(invalid), invalid).toBe('invalid_request');
  }
});
