import { describe, expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import {
  requireConfidentialClient,
  verifyClientCredentials,
} from '../../../src/oauth/checks/client-authentication.check.ts';
import { OAuthError } from '../../../src/oauth/errors.ts';
import { hashSecret } from '../../../src/shared/secrets.ts';
import { aClient, errorOf } from './check-fixtures.ts';

/** A database with one client of this type, with these secret digests. */
const aDatabaseWith = (type: 'PUBLIC' | 'CONFIDENTIAL', digests: string[]) => {
  const row = ['1', 'Name', null, null, type, '[]', '[]', '[]', JSON.stringify(digests)];
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
