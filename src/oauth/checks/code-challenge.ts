import { ChallengeMethod } from '../../../entities/authorization-code.entity.ts';
import { invalidRequest } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { CodeBinding } from './code-binding.ts';
import { requireParameter } from './required-parameter.ts';

const SYNTAX: Record<ChallengeMethod, RegExp> = {
  S256: /^[A-Za-z0-9_-]{43}$/,
  PLAIN: /^[A-Za-z0-9._~-]{43,128}$/,
};

/**
 * PKCE is required of every client. The method is `S256` or `PLAIN`, also written `plain`, and has no default: a forgotten
 * one would only be noticed at the exchange. RFC 7636 sections 4.3 and 4.4.1, OAU-21.
 */
export function requireCodeChallenge(
  parameters: Parameters,
): Pick<CodeBinding, 'codeChallenge' | 'codeChallengeMethod'> {
  const codeChallenge = requireParameter(parameters, 'code_challenge');
  const written = requireParameter(parameters, 'code_challenge_method');
  const name = written === 'plain' ? ChallengeMethod.PLAIN : written;
  const codeChallengeMethod = Object.values(ChallengeMethod).find((known) => known === name);
  if (!codeChallengeMethod) throw invalidRequest('The code_challenge_method must be S256 or PLAIN.');
  if (!SYNTAX[codeChallengeMethod].test(codeChallenge)) {
    throw invalidRequest(`The code_challenge is not one of the method ${codeChallengeMethod}.`);
  }
  return { codeChallenge, codeChallengeMethod };
}
