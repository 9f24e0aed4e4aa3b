import { expect, test } from 'vitest';
import { requireState } from '../../../src/oauth/checks/state.ts';
import { errorOf } from './fixtures.ts';

test('RFC 6749 section 4.1.1: a state is required and left as it is (OAU-17)', () => {
  expect(requireState(' a state ')).toBe(' a state ');
  expect(errorOf(() => requireState(null))).toBe('invalid_request');
});
