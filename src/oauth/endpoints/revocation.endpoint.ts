import { RevokedToken } from '../../../entities/revoked-token.entity.ts';
import type { ClientRequest } from '../authenticate-client.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { requireParameter } from '../parameters.ts';
import { findRefreshToken } from '../tokens/refresh-tokens.ts';
import { revokeTokenFamily } from '../tokens/token-families.ts';
import type { EndpointHandler } from './endpoint.ts';

/**
 * Handles `POST /oauth/revoke`. RFC 7009. Answers 200 to an authenticated client whatever the token. A refresh token is revoked
 * with its whole token family, an access token alone. `token_type_hint` is ignored, because the two token types have different formats.
 * OAU-36.
 */
export const revokeToken: EndpointHandler = async (request, dependencies) => {
  const { parameters, client, chargeClient, origin } = request;
  const token = requireParameter(parameters, 'token');
  const refreshToken = await findRefreshToken(client.database, token);
  if (!refreshToken) await revokeAccessToken(request, dependencies, token);
  else if (refreshToken.clientId === client.id && !refreshToken.revoked) {
    await chargeClient();
    const cause = { reason: 'revoked by the client', origin };
    await revokeTokenFamily(dependencies, client.database, refreshToken, cause);
  }
  return undefined;
};

/** A revoked or expired token charges nothing, so that its holder cannot use up the client's rate limit. */
async function revokeAccessToken(
  { client, chargeClient }: ClientRequest,
  { accessTokens, tokenVerifier }: OAuthDependencies,
  token: string,
): Promise<void> {
  const { database } = client;
  const claims = await accessTokens.verify(database.region, token, accessTokens.audiences);
  if (!claims || claims.client_id !== client.id) return;
  if (await tokenVerifier.isLive(claims, database.region)) await chargeClient();
  const row = { jti: claims.jti, expiresAt: new Date(claims.exp * 1000).toISOString() };
  await database.fork().upsert(RevokedToken, row, { onConflictAction: 'ignore' });
  tokenVerifier.evict(claims.jti);
}
