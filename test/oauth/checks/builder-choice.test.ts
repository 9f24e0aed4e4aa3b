import { expect, test } from 'vitest';
import { requireChoice } from '../../../src/oauth/checks/builder-choice.ts';
import { accessDenied, invalidGrant } from '../../../src/oauth/errors.ts';
import { choiceOf, errorOf } from './fixtures.ts';

test('RFC 6749 section 4.1.2.1: the user is a member of the builder, and it is connected (OAU-23)', () => {
  const choice = choiceOf();
  expect(requireChoice(choice, accessDenied)).toBe(choice);
  expect(errorOf(() => requireChoice(undefined, accessDenied))).toBe('access_denied');
  expect(errorOf(() => requireChoice({ ...choice, allowed: null }, accessDenied))).toBe('access_denied');
  expect(errorOf(() => requireChoice(undefined, invalidGrant))).toBe('invalid_grant');
});
