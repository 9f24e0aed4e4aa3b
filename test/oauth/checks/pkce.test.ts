import { describe, expect, test } from 'vitest';
import { requireCodeBinding, requireCodeChallenge, requireCodeVerifier } from '../../../src/oauth/checks/pkce.check.ts';
import { errorOf } from './check-fixtures.ts';

/** The example of RFC 7636 appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('requireCodeChallenge (RFC 7636 section 4.3) (OAU-21)', () => {
  const check = (challenge?: string, method?: string) => {
    const sent = { code_challenge: challenge, code_challenge_method: method };
    return requireCodeChallenge(new Map(Object.entries(sent).filter((entry): entry is [string, string] => !!entry[1])));
  };

  test('returns a challenge with its method', () => {
    expect(check(CHALLENGE, 'S256')).toEqual({ codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' });
    expect(check('v'.repeat(43), 'PLAIN')).toEqual({ codeChallenge: 'v'.repeat(43), codeChallengeMethod: 'PLAIN' });
    expect(check('v'.repeat(128), 'plain').codeChallengeMethod).toBe('PLAIN');
  });

  test.each([
    [undefined, 'S256'],
    [CHALLENGE, undefined],
    [CHALLENGE, 's256'],
    [CHALLENGE, 'none'],
    [CHALLENGE, 'constructor'],
    [`${CHALLENGE}=`, 'S256'],
    [CHALLENGE.slice(1), 'S256'],
    ['v'.repeat(42), 'PLAIN'],
    ['v'.repeat(129), 'PLAIN'],
    [`${'v'.repeat(42)}+`, 'PLAIN'],
  ])('rejects the challenge %s with the method %s', (challenge, method) => {
    expect(errorOf(() => check(challenge, method))).toBe('invalid_request');
  });
});

test('requireCodeVerifier accepts 43 to 128 unreserved characters (RFC 7636 section 4.1)', () => {
  for (const valid of ['a'.repeat(43), '-._~'.repeat(32)]) expect(requireCodeVerifier(valid)).toBe(valid);
  for (const invalid of [
    'a'.repeat(42),
    'a'.repeat(129),
    `${'a'.repeat(42)}+`,
    `${'a'.repeat(43)}\n`,
    `${'a'.repeat(42)}ü`,
  ]) {
    expect(
      errorOf(() => requireCodeVerifier(invalid)),
      invalid,
    ).toBe('invalid_request');
  }
});

describe('requireCodeBinding', () => {
  const redirectUri = 'https://app.example/callback';
  const s256Code = { redirectUri, codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' } as const;
  const plainCode = { redirectUri, codeChallenge: VERIFIER, codeChallengeMethod: 'PLAIN' } as const;

  // OAU-31
  test.each([s256Code, plainCode])('requires the verifier of the challenge (RFC 7636 section 4.6): %o', (code) => {
    const check = (verifier: string) => errorOf(() => requireCodeBinding(code, { redirectUri, verifier }));
    expect(check(VERIFIER)).toBeNull();
    for (const wrong of [CHALLENGE, VERIFIER.toLowerCase(), VERIFIER.slice(1), `${VERIFIER}a`]) {
      expect(check(wrong), wrong).toBe('invalid_grant');
    }
  });

  test('requires the redirect URI of the authorization request (RFC 6749 section 4.1.3) (OAU-31)', () => {
    for (const wrong of [`${redirectUri}/`, redirectUri.toUpperCase(), 'https://app.example/other']) {
      const sent = { redirectUri: wrong, verifier: VERIFIER };
      expect(
        errorOf(() => requireCodeBinding(s256Code, sent)),
        wrong,
      ).toBe('invalid_grant');
    }
  });
});
