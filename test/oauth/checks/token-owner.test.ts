import { expect, test } from 'vitest';
import { requireTokenOwner } from '../../../src/oauth/tokens/token-families.ts';
import { aClient, errorOf } from './check-fixtures.ts';

test("rejects another client's code or refresh token like one that does not exist (RFC 6749 section 5.2)", () => {
  const token = { clientId: 'cli_a' };
  expect(requireTokenOwner(token, aClient())).toBe(token);
  expect(errorOf(() => requireTokenOwner(token, aClient({ id: 'cli_b' })))).toBe('invalid_grant');
  expect(errorOf(() => requireTokenOwner(undefined, aClient()))).toBe('invalid_grant');
  expect(errorOf(() => requireTokenOwner({ clientId: 'cli_A' }, aClient()))).toBe('invalid_grant');
});
