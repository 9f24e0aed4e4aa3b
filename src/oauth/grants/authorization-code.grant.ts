import { requireCodeBinding, requireCodeVerifier } from '../checks/pkce.check.ts';
import type { EndpointHandler } from '../endpoints/endpoint.ts';
import { expiredOrRevokedGrant, invalidGrant } from '../errors.ts';
import { requireParameter } from '../parameters.ts';
import { consumeAuthorizationCode, findAuthorizationCode } from '../tokens/authorization-codes.ts';
import { requireTokenOwner, revokeTokenFamily } from '../tokens/token-families.ts';
import { exchangeForUserTokens } from '../tokens/user-tokens.ts';

/**
 * Exchanges an authorization code for the user's tokens. RFC 6749 section 4.1.3, RFC 7636 section 4.5. An invalid request
 * does not consume the code; a second use revokes the token family. OAU-30, OAU-31.
 */
export const exchangeAuthorizationCode: EndpointHandler = async (request, dependencies) => {
  const { parameters, client, origin } = request;
  const sentCode = requireParameter(parameters, 'code');
  const redirectUri = requireParameter(parameters, 'redirect_uri');
  const verifier = requireCodeVerifier(requireParameter(parameters, 'code_verifier'));
  const usedAt = new Date(dependencies.clock.now()).toISOString();

  const code = requireTokenOwner(await findAuthorizationCode(client.database, sentCode), client);
  if (!code.used) {
    requireCodeBinding(code, { redirectUri, verifier });
    // The redirect URI may have been removed from the client since the code was sent to it.
    if (!client.redirectUris.includes(code.redirectUri)) throw expiredOrRevokedGrant();
    const response = await exchangeForUserTokens(request, dependencies, code, null, (em) =>
      consumeAuthorizationCode(em, code, usedAt),
    );
    if (response) return response;
  }
  await revokeTokenFamily(dependencies, client.database, code, { reason: 'a code was used twice', origin });
  throw invalidGrant('The code was used before; the tokens that it gave are revoked.');
};
