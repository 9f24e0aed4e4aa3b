import { requireAudience } from '../checks/audience.ts';
import { requireCodeBinding } from '../checks/code-binding.ts';
import { requireCodeVerifier } from '../checks/code-verifier.ts';
import { requireParameter } from '../checks/required-parameter.ts';
import { requireOwner } from '../checks/token-owner.ts';
import { invalidGrant, staleGrant } from '../errors.ts';
import { consumeCode, findCode } from '../tokens/authorization-codes.ts';
import { revokeFamily } from '../tokens/token-families.ts';
import { issuePersonTokens, requireStanding, scopesLeft } from '../tokens/user-tokens.ts';
import type { GrantHandler } from './grant.ts';

/**
 * Tokens for a user, in exchange for a code. RFC 6749 section 4.1.3, RFC 7636 section 4.5, OAU-30, OAU-31. A
 * wrong request leaves the code as it is; a second use of it revokes all that came of the first.
 */
export const authorizationCode: GrantHandler = async ({ parameters, client, chargeClient }, parts) => {
  requireAudience(parameters.get('audience'), parts.baseUrl);
  const presented = requireParameter(parameters, 'code');
  const redirectUri = requireParameter(parameters, 'redirect_uri');
  const verifier = requireCodeVerifier(requireParameter(parameters, 'code_verifier'));
  const { database } = client;
  const now = parts.clock.now();

  const code = requireOwner(await findCode(database, presented), client);
  const refuseReuse = async () => {
    await revokeFamily(parts, database, code.familyId);
    return invalidGrant('The code was used before; the tokens that it gave are revoked.');
  };
  if (code.used) throw await refuseReuse();
  requireCodeBinding(code, { redirectUri, verifier });
  if (code.revoked || now >= code.codeExpiresAt) throw staleGrant();
  const choice = await requireStanding(client, code);
  const scopes = scopesLeft(client, code, choice);
  // Before the code is used up: an answer of 429 leaves it as it is.
  await chargeClient();

  const response = await database.transaction(async (em) =>
    (await consumeCode(em, code, now)) ? issuePersonTokens(em, parts, client, code, scopes) : null,
  );
  if (!response) throw await refuseReuse();
  return response;
};
