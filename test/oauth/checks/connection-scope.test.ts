import { expect, test } from 'vitest';
import { requireConnectionScopes, scopesRefused } from '../../../src/oauth/checks/connection-scope.ts';
import { choiceOf, errorOf } from './fixtures.ts';

test("RFC 6749 section 3.3: the builder's connection allows what is asked (OAU-23)", () => {
  const choice = choiceOf({ allowed: ['read:builders', 'read:projects'] });
  expect(errorOf(() => requireConnectionScopes(['read:projects'], choice))).toBeNull();
  expect(errorOf(() => requireConnectionScopes(['read:projects', 'write:photos'], choice))).toBe('invalid_scope');
  expect(scopesRefused(['read:projects', 'write:photos'], choice)).toEqual(['write:photos']);
});
