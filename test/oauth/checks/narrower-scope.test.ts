import { expect, test } from 'vitest';
import { requireNarrowerScopes } from '../../../src/oauth/checks/narrower-scope.ts';
import { errorOf } from './fixtures.ts';

test('RFC 6749 section 6: a refresh may ask for less, never for more', () => {
  const consented = ['read:builders', 'read:projects'];
  expect(errorOf(() => requireNarrowerScopes(consented, consented))).toBeNull();
  expect(errorOf(() => requireNarrowerScopes(['read:projects'], consented))).toBeNull();
  expect(errorOf(() => requireNarrowerScopes(['read:projects', 'write:photos'], consented))).toBe('invalid_scope');
});
