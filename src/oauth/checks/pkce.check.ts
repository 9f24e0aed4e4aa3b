import { createHash, timingSafeEqual } from 'node:crypto';
import { ChallengeMethod } from '../../../entities/authorization-code.entity.ts';
import { invalidGrant, invalidRequest } from '../errors.ts';
import { type RequestParameters, requireParameter } from '../parameters.ts';

/** The values of the authorization request that a code is bound to, besides the client. */
export interface CodeBinding {
  redirectUri: string;
  codeChallenge: string;
  codeChallengeMethod: ChallengeMethod;
}

/** `code-verifier = 43*128unreserved`. RFC 7636 section 4.1. A plain challenge is the verifier itself. */
export const VERIFIER_SYNTAX = /^[A-Za-z0-9._~-]{43,128}$/;

const CHALLENGE_SYNTAX: Record<ChallengeMethod, RegExp> = {
  S256: /^[A-Za-z0-9_-]{43}$/,
  PLAIN: VERIFIER_SYNTAX,
};

/**
 * Returns the code challenge and its method, `S256` or `PLAIN` (also spelled `plain`). PKCE is required of every client and
 * the method has no default, because a client that omits it by mistake would fail only at the token endpoint. RFC 7636
 * sections 4.3 and 4.4.1, OAU-21.
 */
export function requireCodeChallenge(
  parameters: RequestParameters,
): Pick<CodeBinding, 'codeChallenge' | 'codeChallengeMethod'> {
  const codeChallenge = requireParameter(parameters, 'code_challenge');
  const sentMethod = requireParameter(parameters, 'code_challenge_method');
  const name = sentMethod === 'plain' ? ChallengeMethod.PLAIN : sentMethod;
  const codeChallengeMethod = Object.values(ChallengeMethod).find((method) => method === name);
  if (!codeChallengeMethod) throw invalidRequest('The code_challenge_method must be S256 or PLAIN.');
  if (!CHALLENGE_SYNTAX[codeChallengeMethod].test(codeChallenge)) {
    throw invalidRequest(`The code_challenge is not one of the method ${codeChallengeMethod}.`);
  }
  return { codeChallenge, codeChallengeMethod };
}

/** Returns the verifier; throws `invalid_request` for one with invalid syntax. RFC 7636 section 4.1. */
export function requireCodeVerifier(verifier: string): string {
  if (VERIFIER_SYNTAX.test(verifier)) return verifier;
  throw invalidRequest('The code_verifier must be 43 to 128 letters, digits and the characters - . _ and ~.');
}

/**
 * Throws `invalid_grant` unless the redirect URI equals the one of the authorization request (RFC 6749 section 4.1.3) and
 * the challenge was derived from the verifier (RFC 7636 section 4.6).
 */
export function requireCodeBinding(code: CodeBinding, sent: { redirectUri: string; verifier: string }): void {
  if (sent.redirectUri !== code.redirectUri) {
    throw invalidGrant('The redirect_uri differs from the one of the authorization request.');
  }
  const challenge = toChallenge(sent.verifier, code.codeChallengeMethod);
  if (!isEqualConstantTime(challenge, code.codeChallenge)) {
    throw invalidGrant('The code_verifier does not match the code_challenge.');
  }
}

const toChallenge = (verifier: string, method: ChallengeMethod) =>
  method === 'PLAIN' ? verifier : createHash('sha256').update(verifier).digest('base64url');

/** Takes the same time for any two texts of one length. */
const isEqualConstantTime = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
