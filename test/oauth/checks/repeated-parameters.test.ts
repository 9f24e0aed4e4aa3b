import { expect, test } from 'vitest';
import { refuseRepeatedParameters } from '../../../src/oauth/checks/repeated-parameters.ts';
import { errorOf } from './fixtures.ts';

test('RFC 6749 section 3.2: no parameter is sent twice', () => {
  expect(errorOf(() => refuseRepeatedParameters(['a', 'b', 'A']))).toBeNull();
  expect(errorOf(() => refuseRepeatedParameters(['a', 'b', 'a']))).toBe('invalid_request');
});
