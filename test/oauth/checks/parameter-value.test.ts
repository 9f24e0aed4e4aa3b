import { expect, test } from 'vitest';
import { requireParameterValue } from '../../../src/oauth/checks/parameter-value.ts';
import { errorOf } from './fixtures.ts';

test('RFC 6749 section 3.2: a known parameter is text, another one is ignored', () => {
  expect([requireParameterValue('code', 'a'), requireParameterValue('resource', 'a')]).toEqual(['a', null]);
  for (const wrong of [1, true, null, {}, ['a'], 'a\0', 'a\ud800']) {
    expect(errorOf(() => requireParameterValue('code', wrong))).toBe('invalid_request');
  }
});
