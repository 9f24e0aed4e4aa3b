import { createHash, timingSafeEqual } from 'node:crypto';
import type { ChallengeMethod } from '../../../entities/authorization-code.entity.ts';
import { invalidGrant } from '../errors.ts';

/** What the authorization request bound the code to, beside its client. */
export interface CodeBinding {
  redirectUri: string;
  codeChallenge: string;
  codeChallengeMethod: ChallengeMethod;
}

/**
 * The redirect URI is the one that the code was sent to, and the challenge is made of this verifier. RFC 6749 section
 * 4.1.3, RFC 7636 section 4.6.
 */
export function requireCodeBinding(code: CodeBinding, presented: { redirectUri: string; verifier: string }): void {
  if (presented.redirectUri !== code.redirectUri) {
    throw invalidGrant('The redirect_uri differs from the one of the authorization request.');
  }
  const challenge = challengeOf(presented.verifier, code.codeChallengeMethod);
  if (!isEqual(challenge, code.codeChallenge))
    throw invalidGrant('The code_verifier does not match the code_challenge.');
}

const challengeOf = (verifier: string, method: ChallengeMethod) =>
  method === 'PLAIN' ? verifier : createHash('sha256').update(verifier).digest('base64url');

/** In constant time for two of the same length. */
const isEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
