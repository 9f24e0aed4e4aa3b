import { expect, test } from 'vitest';
import { requireParameter } from '../../../src/oauth/checks/required-parameter.ts';
import { errorOf } from './fixtures.ts';

test('RFC 6749 section 5.2: a required parameter is sent', () => {
  expect(requireParameter(new Map([['code', 'a']]), 'code')).toBe('a');
  expect(errorOf(() => requireParameter(new Map(), 'code'))).toBe('invalid_request');
});
