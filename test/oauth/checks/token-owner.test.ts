import { expect, test } from 'vitest';
import { isOwner, requireOwner } from '../../../src/oauth/checks/token-owner.ts';
import { clientOf, errorOf } from './fixtures.ts';

test("RFC 6749 section 5.2: another client's code or refresh token is like none at all", () => {
  const token = { clientId: 'cli_a' };
  expect(requireOwner(token, clientOf())).toBe(token);
  expect(errorOf(() => requireOwner(token, clientOf({ id: 'cli_b' })))).toBe('invalid_grant');
  expect(errorOf(() => requireOwner(null, clientOf()))).toBe('invalid_grant');
  expect([isOwner('cli_a', clientOf()), isOwner('cli_A', clientOf())]).toEqual([true, false]);
});
