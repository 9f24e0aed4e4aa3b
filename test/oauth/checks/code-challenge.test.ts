import { expect, test } from 'vitest';
import { requireCodeChallenge } from '../../../src/oauth/checks/code-challenge.ts';
import { errorOf } from './fixtures.ts';

const S256 = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const check = (challenge?: string, method?: string) => {
  const sent = { code_challenge: challenge, code_challenge_method: method };
  return requireCodeChallenge(new Map(Object.entries(sent).filter((entry): entry is [string, string] => !!entry[1])));
};

test('RFC 7636 section 4.3: a challenge with its method is required (OAU-21)', () => {
  expect(check(S256, 'S256')).toEqual({ codeChallenge: S256, codeChallengeMethod: 'S256' });
  expect(check('v'.repeat(43), 'PLAIN')).toEqual({ codeChallenge: 'v'.repeat(43), codeChallengeMethod: 'PLAIN' });
  expect(check('v'.repeat(128), 'plain').codeChallengeMethod).toBe('PLAIN');
  for (const [challenge, method] of [
    [undefined, 'S256'],
    [S256, undefined],
    [S256, 's256'],
    [S256, 'none'],
    [S256, 'constructor'],
    [`${S256}=`, 'S256'],
    [S256.slice(1), 'S256'],
    ['v'.repeat(42), 'PLAIN'],
    ['v'.repeat(129), 'PLAIN'],
    [`${'v'.repeat(42)}+`, 'PLAIN'],
  ]) {
    expect(
      errorOf(() => check(challenge, method)),
      `${challenge} ${method}`,
    ).toBe('invalid_request');
  }
});
