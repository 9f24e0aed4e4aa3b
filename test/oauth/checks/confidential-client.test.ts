import { expect, test } from 'vitest';
import { requireConfidentialClient } from '../../../src/oauth/checks/confidential-client.ts';
import { clientOf, errorOf } from './fixtures.ts';

test('RFC 6749 section 4.4, RFC 7662 section 2.1: a public client proves nothing', () => {
  const credentials = { clientId: 'cli_a', secret: null, viaHeader: false };
  expect(errorOf(() => requireConfidentialClient(clientOf({ type: 'CONFIDENTIAL' }), credentials))).toBeNull();
  expect(errorOf(() => requireConfidentialClient(clientOf(), credentials))).toBe('invalid_client');
});
