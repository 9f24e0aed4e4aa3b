import { expect, test } from 'vitest';
import { deriveCsrfToken, requireCsrfToken } from '../../../src/oauth/interaction/csrf-token.ts';
import { PageError } from '../../../src/oauth/interaction/page-error.ts';
import { newSecret } from '../../../src/shared/secrets.ts';

test('requires the CSRF token of the same browser (RFC 6749 section 10.12) (OAU-26)', () => {
  const [mine, other] = [newSecret(), newSecret()];
  expect(() => requireCsrfToken(deriveCsrfToken(mine), mine)).not.toThrow();
  for (const [sent, browser] of [
    [deriveCsrfToken(other), mine],
    [mine, mine],
    ['', mine],
    [undefined, mine],
    [deriveCsrfToken(mine), null],
    [`${deriveCsrfToken(mine)}a`, mine],
  ] as const) {
    expect(() => requireCsrfToken(sent, browser)).toThrow(PageError);
  }
});
