import { expect, test } from 'vitest';
import { requireAudience } from '../../../src/oauth/checks/audience.ts';
import { errorOf } from './fixtures.ts';

test('An audience that is sent is the base address (OAU-10)', () => {
  const check = (audience?: string) => errorOf(() => requireAudience(audience, 'https://api.example'));
  expect([check('https://api.example'), check(undefined)]).toEqual([null, null]);
  for (const wrong of ['https://api.example/', 'https://API.example', 'https://other.example']) {
    expect(check(wrong), wrong).toBe('invalid_request');
  }
});
