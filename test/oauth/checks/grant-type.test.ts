import { expect, test } from 'vitest';
import { requireKnownGrant } from '../../../src/oauth/checks/grant-type.ts';
import { errorOf } from './fixtures.ts';

test('RFC 6749 section 5.2: the grant type is one that we know', () => {
  for (const known of ['client_credentials', 'authorization_code', 'refresh_token']) {
    expect(requireKnownGrant(known)).toBe(known);
  }
  for (const unknown of ['password', 'implicit', 'Authorization_Code', 'constructor', '']) {
    expect(
      errorOf(() => requireKnownGrant(unknown)),
      unknown,
    ).toBe('unsupported_grant_type');
  }
});
