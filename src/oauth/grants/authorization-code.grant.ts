import { requireCodeBinding, requireCodeVerifier } from '../checks/pkce.check.ts';
import { expiredOrRevokedGrant, invalidGrant } from '../errors.ts';
import { requireParameter } from '../parameters.ts';
import { consumeAuthorizationCode, findAuthorizationCode } from '../tokens/authorization-codes.ts';
import { requireTokenOwner, revokeTokenFamily } from '../tokens/token-families.ts';
import { issueUserTokens, requireActiveMembership, requireAllowedScopes } from '../tokens/user-tokens.ts';
import type { GrantHandler } from './grant.ts';

/**
 * Exchanges an authorization code for the user's tokens. RFC 6749 section 4.1.3, RFC 7636 section 4.5. An invalid request
 * does not consume the code; a second use revokes the token family. OAU-30, OAU-31.
 */
export const exchangeAuthorizationCode: GrantHandler = async (
  { parameters, client, chargeClient, origin },
  dependencies,
) => {
  const sentCode = requireParameter(parameters, 'code');
  const redirectUri = requireParameter(parameters, 'redirect_uri');
  const verifier = requireCodeVerifier(requireParameter(parameters, 'code_verifier'));
  const { database } = client;
  const now = dependencies.clock.now();

  const code = requireTokenOwner(await findAuthorizationCode(database, sentCode), client);
  const revokeAndCreateError = async () => {
    await revokeTokenFamily(dependencies, database, code, { reason: 'a code was used twice', origin });
    return invalidGrant('The code was used before; the tokens that it gave are revoked.');
  };
  if (code.used) throw await revokeAndCreateError();
  requireCodeBinding(code, { redirectUri, verifier });
  // The redirect URI may have been removed from the client since the code was sent to it.
  if (!client.redirectUris.includes(code.redirectUri)) throw expiredOrRevokedGrant();
  if (code.revoked || now >= code.codeExpiresAt) throw expiredOrRevokedGrant();
  const membership = await requireActiveMembership(client, code);
  const scopes = requireAllowedScopes(client, code, membership);
  // Charged before the code is consumed, so that the client can send it again after a 429.
  await chargeClient();

  const response = await database.transaction(async (em) =>
    (await consumeAuthorizationCode(em, code, now)) ? issueUserTokens(em, dependencies, client, code, scopes) : null,
  );
  if (!response) throw await revokeAndCreateError();
  return response;
};
