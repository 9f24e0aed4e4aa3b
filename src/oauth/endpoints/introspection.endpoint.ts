import { findBuilderMembership, isConnected } from '../builder-memberships.ts';
import { requireConfidentialClient } from '../checks/client.check.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { requireParameter } from '../parameters.ts';
import { findRefreshToken } from '../tokens/refresh-tokens.ts';
import { listAllowedScopes } from '../tokens/user-tokens.ts';
import type { EndpointHandler } from './endpoint.ts';

/**
 * Handles `POST /oauth/introspect`. RFC 7662. A confidential client sees its own tokens only; a token of another client and one that
 * the service would reject now are inactive. OAU-37.
 */
export const introspectToken: EndpointHandler = async ({ parameters, client, credentials }, dependencies) => {
  requireConfidentialClient(client, credentials);
  const token = requireParameter(parameters, 'token');
  return (
    (await introspectRefreshToken(dependencies, client, token)) ??
    (await introspectAccessToken(dependencies, client, token)) ?? { active: false }
  );
};

/** RFC 7662 section 2.2; `builder_id` is the claim of the access token. */
async function introspectAccessToken(
  { accessTokens, tokenVerifier }: OAuthDependencies,
  client: RegisteredClient,
  token: string,
): Promise<object | null> {
  const claims = await accessTokens.verify(client.database.region, token, accessTokens.audiences);
  if (claims?.client_id !== client.id || !(await tokenVerifier.isLive(claims, client.database.region))) return null;
  const { sub, client_id, builder_id, scope, jti, aud, iat, exp } = claims;
  const [iss] = accessTokens.audiences;
  return { active: true, scope, client_id, sub, builder_id, token_type: 'Bearer', jti, aud, iss, iat, exp };
}

async function introspectRefreshToken(
  { clock, baseUrl }: OAuthDependencies,
  client: RegisteredClient,
  token: string,
): Promise<object | null> {
  const stored = await findRefreshToken(client.database, token);
  if (stored?.clientId !== client.id || !client.grants.includes('refresh_token')) return null;
  const { userId, builderId, scopes, issuedAt, tokenExpiresAt } = stored;
  if (stored.revoked || stored.rotationAge !== null || clock.now() >= tokenExpiresAt) return null;
  const membership = await findBuilderMembership(client, stored);
  if (!membership || !isConnected(membership) || listAllowedScopes(client, stored, membership).length === 0)
    return null;
  const [iat, exp] = [issuedAt, tokenExpiresAt].map((instant) => Math.floor(instant / 1000));
  const subject = { client_id: client.id, sub: userId, builder_id: builderId };
  return { active: true, scope: scopes.join(' '), ...subject, iss: baseUrl, iat, exp };
}
