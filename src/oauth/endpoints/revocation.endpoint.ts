import { RevokedToken } from '../../../entities/revoked-token.entity.ts';
import { toAuditOrigin } from '../audit-origin.ts';
import { authenticateClient, type ChargeClient } from '../authenticate-client.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { requireParameter } from '../parameters.ts';
import { findRefreshToken } from '../tokens/refresh-tokens.ts';
import { revokeTokenFamily } from '../tokens/token-families.ts';
import type { EndpointHandler } from './endpoint.ts';

/**
 * Creates the handler of `POST /oauth/revoke`. RFC 7009. Answers 200 to an authenticated client whatever the token. A
 * refresh token is revoked with its whole token family, an access token alone. `token_type_hint` is ignored, because the
 * two token types have different formats. OAU-36.
 */
export const createRevocationEndpoint =
  (dependencies: OAuthDependencies): EndpointHandler =>
  async (parameters, request, reply) => {
    const token = requireParameter(parameters, 'token');
    const { client, chargeClient } = await authenticateClient(dependencies, parameters, request, reply);
    const refreshToken = await findRefreshToken(client.database, token);
    if (!refreshToken) await revokeAccessToken(dependencies, client, token, chargeClient);
    else if (refreshToken.clientId === client.id && !refreshToken.revoked) {
      await chargeClient();
      const cause = { reason: 'revoked by the client', origin: toAuditOrigin(request) };
      await revokeTokenFamily(dependencies, client.database, refreshToken, cause);
    }
    return reply.code(200).send();
  };

/** A revoked or expired token charges nothing, so that its holder cannot use up the client's rate limit. */
async function revokeAccessToken(
  dependencies: OAuthDependencies,
  client: RegisteredClient,
  token: string,
  chargeClient: ChargeClient,
): Promise<void> {
  const claims = await dependencies.accessTokens.verify(client.database.region, token);
  if (!claims || claims.client_id !== client.id) return;
  if (await dependencies.tokenVerifier.isLive(claims, client.database.region)) await chargeClient();
  const row = { jti: claims.jti, expiresAt: new Date(claims.exp * 1000).toISOString() };
  await client.database.fork().upsert(RevokedToken, row, { onConflictAction: 'ignore' });
  dependencies.tokenVerifier.evict(claims.jti);
}
