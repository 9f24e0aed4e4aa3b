import { expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { authenticateClient } from '../../../src/oauth/checks/client-authentication.ts';
import { OAuthError } from '../../../src/oauth/errors.ts';
import { digestOf } from '../../../src/shared/secrets.ts';

/** A database that knows one client. */
const holding = (type: 'PUBLIC' | 'CONFIDENTIAL', digests: string[]) =>
  ({ runner: { run: async () => [['Name', null, null, type, '[]', '[]', '[]', JSON.stringify(digests)]] } }) as never;
const nobody = { runner: { run: async () => [] } } as never;

const outcome = (database: Database, secret: string | null) =>
  authenticateClient([database], { clientId: 'cli_a', secret, viaHeader: false }).then(
    ({ id }) => id,
    (error) => (error instanceof OAuthError ? error.code : error),
  );

test('RFC 6749 section 3.2.1: a confidential client proves its secret, a public one sends none (OAU-1)', async () => {
  const confidential = holding('CONFIDENTIAL', [digestOf('secret')]);
  expect(await outcome(confidential, 'secret')).toBe('cli_a');
  expect(await outcome(confidential, 'wrong')).toBe('invalid_client');
  expect(await outcome(confidential, null)).toBe('invalid_client');
  expect(await outcome(holding('PUBLIC', []), null)).toBe('cli_a');
  expect(await outcome(holding('PUBLIC', []), 'secret')).toBe('invalid_client');
  expect(await outcome(nobody, 'secret')).toBe('invalid_client');
});
