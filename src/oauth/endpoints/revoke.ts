import { RevokedToken } from '../../../entities/revoked-token.entity.ts';
import { authenticate, type ChargeClient } from '../authenticate-client.ts';
import { requireParameter } from '../checks/required-parameter.ts';
import { isOwner } from '../checks/token-owner.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { findRefreshToken } from '../tokens/refresh-tokens.ts';
import { revokeFamily } from '../tokens/token-families.ts';
import type { EndpointHandler } from './endpoint.ts';

/**
 * `POST /oauth/revoke`. RFC 7009, OAU-36: 200 whatever the token, once the client has proven itself.
 * A refresh token takes all tokens of its consent with it, an access token itself alone. `token_type_hint` is not needed:
 * the two kinds cannot be mistaken for one another.
 */
export const revocationEndpoint =
  (parts: OAuthDependencies): EndpointHandler =>
  async (parameters, request, reply) => {
    const token = requireParameter(parameters, 'token');
    const { client, chargeClient } = await authenticate(parts, parameters, request, reply);
    const refreshToken = await findRefreshToken(client.database, token);
    if (!refreshToken) await revokeAccessToken(parts, client, token, chargeClient);
    else if (isOwner(refreshToken.clientId, client) && !refreshToken.revoked) {
      await chargeClient();
      await revokeFamily(parts, client.database, refreshToken.familyId);
    }
    return reply.code(200).send();
  };

/** A token that has ended takes nothing from the budget, so that whoever still has one cannot spend it. */
async function revokeAccessToken(
  parts: OAuthDependencies,
  client: RegisteredClient,
  token: string,
  chargeClient: ChargeClient,
): Promise<void> {
  const claims = await parts.accessTokens.verify(token);
  if (!claims || !isOwner(claims.client_id, client)) return;
  if (await parts.tokenVerifier.isLive(claims, client.database.region)) await chargeClient();
  const row = { jti: claims.jti, expiresAt: new Date(claims.exp * 1000).toISOString() };
  await client.database.fork().upsert(RevokedToken, row, { onConflictAction: 'ignore' });
  parts.tokenVerifier.evict(claims.jti);
}
