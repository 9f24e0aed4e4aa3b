import { describe, expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import {
  parseBasicCredentials,
  requireAllowedGrant,
  requireConfidentialClient,
  requireCredentials,
  requireSupportedGrant,
  verifyClientCredentials,
} from '../../../src/oauth/checks/client.check.ts';
import { OAuthError } from '../../../src/oauth/errors.ts';
import { hashSecret } from '../../../src/shared/secrets.ts';
import { aClient, errorOf } from './check-fixtures.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test('requireCredentials accepts body, header, or both if they are equal (RFC 6749 section 2.3) (OAU-1, OAU-2)', () => {
  const header = basic('cli_a:secret');
  const inBody = new Map([['client_id', 'cli_a']]);
  expect(requireCredentials(inBody, undefined)).toEqual({ clientId: 'cli_a', secret: null, viaHeader: false });
  expect(requireCredentials(inBody, header)).toEqual({ clientId: 'cli_a', secret: 'secret', viaHeader: true });
  expect(errorOf(() => requireCredentials(new Map(), undefined))).toBe('invalid_client');
  expect(errorOf(() => requireCredentials(new Map([['client_id', 'cli_b']]), header))).toBe('invalid_request');
  expect(errorOf(() => requireCredentials(new Map([['client_secret', 'b']]), header))).toBe('invalid_request');
});

test('parseBasicCredentials decodes the form-encoded client_id and secret (RFC 6749 section 2.3.1) (OAU-2)', () => {
  expect(parseBasicCredentials(basic('cli%5Fa:a%3A+b'))).toEqual({ clientId: 'cli_a', secret: 'a: b' });
  expect(parseBasicCredentials(basic('cli_a:'))).toEqual({ clientId: 'cli_a', secret: null });
  for (const invalid of [basic('cli_a'), basic(':secret'), basic('cli_a:%zz'), 'Bearer abc', 'Basic !', '']) {
    expect(
      errorOf(() => parseBasicCredentials(invalid)),
      invalid,
    ).toBe('invalid_client');
  }
});

/** A database with one client of this type, with these secret digests. */
const aDatabaseWith = (type: 'PUBLIC' | 'CONFIDENTIAL', digests: string[]) => {
  const row = ['1', JSON.stringify(aClient({ type, digests }))];
  return { runner: { executeBatched: async () => [[row]] } } as never;
};
const emptyDatabase = { runner: { executeBatched: async () => [[]] } } as never;

const outcome = (database: Database, secret: string | null) =>
  verifyClientCredentials([database], { clientId: 'cli_a', secret, viaHeader: false }).then(
    ({ id }) => id,
    (error) => (error instanceof OAuthError ? error.code : error),
  );

describe('verifyClientCredentials (RFC 6749 section 3.2.1) (OAU-1)', () => {
  test('authenticates a confidential client by its secret', async () => {
    const database = aDatabaseWith('CONFIDENTIAL', [hashSecret('secret')]);
    expect(await outcome(database, 'secret')).toBe('cli_a');
    expect(await outcome(database, 'wrong')).toBe('invalid_client');
    expect(await outcome(database, null)).toBe('invalid_client');
  });

  test('accepts a public client without a secret only', async () => {
    expect(await outcome(aDatabaseWith('PUBLIC', []), null)).toBe('cli_a');
    expect(await outcome(aDatabaseWith('PUBLIC', []), 'secret')).toBe('invalid_client');
  });

  test('rejects an unknown client', async () => {
    expect(await outcome(emptyDatabase, 'secret')).toBe('invalid_client');
  });
});

test('requireConfidentialClient rejects a public client (RFC 6749 section 4.4, RFC 7662 section 2.1)', () => {
  const credentials = { clientId: 'cli_a', secret: null, viaHeader: false };
  expect(errorOf(() => requireConfidentialClient(aClient({ type: 'CONFIDENTIAL' }), credentials))).toBeNull();
  expect(errorOf(() => requireConfidentialClient(aClient(), credentials))).toBe('invalid_client');
});

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
