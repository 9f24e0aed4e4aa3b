import { expect, test } from 'vitest';
import { requireConnectedMembership } from '../../../src/oauth/builder-memberships.ts';
import { accessDenied, invalidGrant } from '../../../src/oauth/errors.ts';
import { aMembership, errorOf } from './check-fixtures.ts';

test('requires a membership in a connected builder, with the error of the endpoint (OAU-23)', () => {
  const membership = aMembership();
  const unconnected = { ...membership, allowedScopes: null };
  expect(requireConnectedMembership(membership, accessDenied)).toBe(membership);
  expect(errorOf(() => requireConnectedMembership(undefined, accessDenied))).toBe('access_denied');
  expect(errorOf(() => requireConnectedMembership(unconnected, accessDenied))).toBe('access_denied');
  expect(errorOf(() => requireConnectedMembership(undefined, invalidGrant))).toBe('invalid_grant');
});
