import { expect, test } from 'vitest';
import {
  findDisallowedScopes,
  requireClientScopes,
  requireConnectionScopes,
  requireConsentedScopes,
} from '../../../src/oauth/checks/scope.check.ts';
import { aClient, aMembership, errorOf } from './check-fixtures.ts';

test('requireClientScopes returns known scopes of the client, each once (RFC 6749 section 3.3)', () => {
  expect(requireClientScopes('read:projects read:builders read:projects', aClient())).toEqual([
    'read:projects',
    'read:builders',
  ]);
  for (const invalid of ['', ' ', 'read:builders  read:projects', 'read:nothing', 'read:builders write:photos', '"']) {
    expect(
      errorOf(() => requireClientScopes(invalid, aClient())),
      invalid,
    ).toBe('invalid_scope');
  }
});

// OAU-23
test("requireConnectionScopes rejects scopes that the builder's connection does not allow (RFC 6749 section 3.3)", () => {
  const membership = aMembership({ allowedScopes: ['read:builders', 'read:projects'] });
  expect(errorOf(() => requireConnectionScopes(['read:projects'], membership))).toBeNull();
  expect(errorOf(() => requireConnectionScopes(['read:projects', 'write:photos'], membership))).toBe('invalid_scope');
  expect(findDisallowedScopes(['read:projects', 'write:photos'], membership)).toEqual(['write:photos']);
});

test('requireConsentedScopes accepts fewer scopes than the user consented to, never more (RFC 6749 section 6)', () => {
  const consented = ['read:builders', 'read:projects'];
  expect(errorOf(() => requireConsentedScopes(consented, consented))).toBeNull();
  expect(errorOf(() => requireConsentedScopes(['read:projects'], consented))).toBeNull();
  expect(errorOf(() => requireConsentedScopes(['read:projects', 'write:photos'], consented))).toBe('invalid_scope');
});
