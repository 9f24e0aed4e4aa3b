import { expect, test } from 'vitest';
import { requireAllowedGrant } from '../../../src/oauth/checks/allowed-grant.ts';
import { clientOf, errorOf } from './fixtures.ts';

test('RFC 6749 section 5.2: a client uses the grants that it is registered for', () => {
  expect(errorOf(() => requireAllowedGrant(clientOf(), 'authorization_code'))).toBeNull();
  expect(errorOf(() => requireAllowedGrant(clientOf(), 'refresh_token'))).toBe('unauthorized_client');
});
