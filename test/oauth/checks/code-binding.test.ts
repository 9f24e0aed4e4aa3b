import { expect, test } from 'vitest';
import { requireCodeBinding } from '../../../src/oauth/checks/code-binding.ts';
import { errorOf } from './fixtures.ts';

// The example of appendix B.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const redirectUri = 'https://app.example/callback';
const hashed = { redirectUri, codeChallenge, codeChallengeMethod: 'S256' } as const;
const plain = { redirectUri, codeChallenge: verifier, codeChallengeMethod: 'PLAIN' } as const;

test('RFC 7636 section 4.6: the challenge is made of the verifier (OAU-31)', () => {
  expect(errorOf(() => requireCodeBinding(hashed, { redirectUri, verifier }))).toBeNull();
  expect(errorOf(() => requireCodeBinding(plain, { redirectUri, verifier }))).toBeNull();
  for (const wrong of [codeChallenge, verifier.toLowerCase(), verifier.slice(1), `${verifier}a`]) {
    expect(errorOf(() => requireCodeBinding(hashed, { redirectUri, verifier: wrong }))).toBe('invalid_grant');
    expect(errorOf(() => requireCodeBinding(plain, { redirectUri, verifier: wrong }))).toBe('invalid_grant');
  }
});

test('RFC 6749 section 4.1.3: the redirect URI is the one of the authorization request (OAU-31)', () => {
  for (const wrong of [`${redirectUri}/`, redirectUri.toUpperCase(), 'https://app.example/other']) {
    expect(errorOf(() => requireCodeBinding(hashed, { redirectUri: wrong, verifier }))).toBe('invalid_grant');
  }
});
