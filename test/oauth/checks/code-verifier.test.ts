import { expect, test } from 'vitest';
import { requireCodeVerifier } from '../../../src/oauth/checks/code-verifier.ts';
import { errorOf } from './fixtures.ts';

test('RFC 7636 section 4.1: a verifier is 43 to 128 unreserved characters', () => {
  for (const good of ['a'.repeat(43), '-._~'.repeat(32)]) expect(requireCodeVerifier(good)).toBe(good);
  for (const bad of [
    'a'.repeat(42),
    'a'.repeat(129),
    `${'a'.repeat(42)}+`,
    `${'a'.repeat(43)}\n`,
    `${'a'.repeat(42)}ü`,
  ]) {
    expect(
      errorOf(() => requireCodeVerifier(bad)),
      bad,
    ).toBe('invalid_request');
  }
});
