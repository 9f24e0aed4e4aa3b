import { expect, test } from 'vitest';
import { isTokenOwner, requireTokenOwner } from '../../../src/oauth/checks/token-owner.check.ts';
import { aClient, errorOf } from './check-fixtures.ts';

test("rejects another client's code or refresh token like one that does not exist (RFC 6749 section 5.2)", () => {
  const token = { clientId: 'cli_a' };
  expect(requireTokenOwner(token, aClient())).toBe(token);
  expect(errorOf(() => requireTokenOwner(token, aClient({ id: 'cli_b' })))).toBe('invalid_grant');
  expect(errorOf(() => requireTokenOwner(null, aClient()))).toBe('invalid_grant');
  expect([isTokenOwner('cli_a', aClient()), isTokenOwner('cli_A', aClient())]).toEqual([true, false]);
});
