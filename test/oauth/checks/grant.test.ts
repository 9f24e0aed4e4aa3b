import { expect, test } from 'vitest';
import { requireAllowedGrant, requireSupportedGrant } from '../../../src/oauth/checks/grant.check.ts';
import { aClient, errorOf } from './check-fixtures.ts';

test('requireSupportedGrant rejects any other grant type (RFC 6749 section 5.2)', () => {
  for (const supported of ['client_credentials', 'authorization_code', 'refresh_token']) {
    expect(requireSupportedGrant(supported)).toBe(supported);
  }
  for (const unsupported of ['password', 'implicit', 'Authorization_Code', 'constructor', '']) {
    expect(
      errorOf(() => requireSupportedGrant(unsupported)),
      unsupported,
    ).toBe('unsupported_grant_type');
  }
});

test('requireAllowedGrant rejects a grant that the client is not registered for (RFC 6749 section 5.2)', () => {
  expect(errorOf(() => requireAllowedGrant(aClient(), 'authorization_code'))).toBeNull();
  expect(errorOf(() => requireAllowedGrant(aClient(), 'refresh_token'))).toBe('unauthorized_client');
});
