import { expect, test } from 'vitest';
import { requireCsrfToken } from '../../../src/oauth/checks/csrf.ts';
import { csrfTokenOf } from '../../../src/oauth/interaction/browser.ts';
import { PageError } from '../../../src/oauth/interaction/page-error.ts';
import { newSecret } from '../../../src/shared/secrets.ts';

test('RFC 6749 section 10.12: a form comes with the token of the browser that it was shown to (OAU-26)', () => {
  const [mine, other] = [newSecret(), newSecret()];
  expect(() => requireCsrfToken(csrfTokenOf(mine), mine)).not.toThrow();
  for (const [sent, browser] of [
    [csrfTokenOf(other), mine],
    [mine, mine],
    ['', mine],
    [undefined, mine],
    [csrfTokenOf(mine), null],
    [`${csrfTokenOf(mine)}a`, mine],
  ] as const) {
    expect(() => requireCsrfToken(sent, browser)).toThrow(PageError);
  }
});
