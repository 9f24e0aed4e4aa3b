import { expect, test } from 'vitest';
import { requireAudience } from '../../../src/oauth/checks/audience.check.ts';
import { errorOf } from './check-fixtures.ts';

test('accepts no audience and the base URL, and rejects any other audience (OAU-10)', () => {
  const check = (audience?: string) => errorOf(() => requireAudience(audience, 'https://api.example'));
  expect([check('https://api.example'), check(undefined)]).toEqual([null, null]);
  for (const invalid of ['https://api.example/', 'https://API.example', 'https://other.example']) {
    expect(check(invalid), invalid).toBe('invalid_request');
  }
});
