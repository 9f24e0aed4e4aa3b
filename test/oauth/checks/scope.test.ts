import { expect, test } from 'vitest';
import { requireScopes } from '../../../src/oauth/checks/scope.ts';
import { clientOf, errorOf } from './fixtures.ts';

test('RFC 6749 section 3.3: scopes have one space between, are known, and allowed to the client', () => {
  expect(requireScopes('read:projects read:builders read:projects', clientOf())).toEqual([
    'read:projects',
    'read:builders',
  ]);
  for (const wrong of ['', ' ', 'read:builders  read:projects', 'read:nothing', 'read:builders write:photos', '"']) {
    expect(
      errorOf(() => requireScopes(wrong, clientOf())),
      wrong,
    ).toBe('invalid_scope');
  }
});
