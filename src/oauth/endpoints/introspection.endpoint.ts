import { authenticateClient } from '../authenticate-client.ts';
import { findBuilderMembership } from '../builder-memberships.ts';
import { isConnected } from '../checks/builder-membership.check.ts';
import { requireConfidentialClient } from '../checks/client-authentication.check.ts';
import { requireParameter } from '../checks/parameters.check.ts';
import { isTokenOwner } from '../checks/token-owner.check.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { findRefreshToken } from '../tokens/refresh-tokens.ts';
import { listAllowedScopes } from '../tokens/user-tokens.ts';
import type { EndpointHandler } from './endpoint.ts';

/** Introspection response. RFC 7662 section 2.2; `builder_id` is the claim of the access token. */
type Introspection =
  | { active: false }
  | {
      active: true;
      scope: string;
      client_id: string;
      sub: string;
      builder_id?: string;
      iss: string;
      /** Seconds since the epoch. */
      iat: number;
      exp: number;
      // Access tokens only.
      token_type?: 'Bearer';
      jti?: string;
      aud?: string;
    };

const INACTIVE: Introspection = { active: false };

/**
 * Creates the handler of `POST /oauth/introspect`. RFC 7662. A confidential client sees its own tokens only; a token of
 * another client and one that the service would reject now are inactive. OAU-37.
 */
export const createIntrospectionEndpoint =
  (dependencies: OAuthDependencies): EndpointHandler =>
  async (parameters, request, reply): Promise<Introspection> => {
    const token = requireParameter(parameters, 'token');
    const { client, credentials } = await authenticateClient(dependencies, parameters, request, reply);
    requireConfidentialClient(client, credentials);
    return (
      (await introspectRefreshToken(dependencies, client, token)) ??
      (await introspectAccessToken(dependencies, client, token)) ??
      INACTIVE
    );
  };

async function introspectAccessToken(
  dependencies: OAuthDependencies,
  client: RegisteredClient,
  token: string,
): Promise<Introspection | null> {
  const { accessTokens, tokenVerifier, baseUrl } = dependencies;
  const claims = await accessTokens.verify(client.database.region, token);
  if (!claims || !isTokenOwner(claims.client_id, client)) return null;
  if (!(await tokenVerifier.isLive(claims, client.database.region))) return null;
  const { sub, client_id, builder_id, scope, jti, iat, exp } = claims;
  const shared = { active: true as const, scope, client_id, sub, ...(builder_id && { builder_id }) };
  return { ...shared, token_type: 'Bearer', jti, aud: baseUrl, iss: baseUrl, iat, exp };
}

async function introspectRefreshToken(
  { clock, baseUrl }: OAuthDependencies,
  client: RegisteredClient,
  token: string,
): Promise<Introspection | null> {
  const stored = await findRefreshToken(client.database, token);
  if (!stored || !isTokenOwner(stored.clientId, client) || !client.grants.includes('refresh_token')) return null;
  const { userId, builderId, scopes, issuedAt, tokenExpiresAt } = stored;
  if (stored.revoked || stored.rotationAge !== null || clock.now() >= tokenExpiresAt) return null;
  const membership = await findBuilderMembership(client, stored);
  if (!membership || !isConnected(membership)) return null;
  if (listAllowedScopes(client, stored, membership).length === 0) return null;
  const shared = { active: true as const, scope: scopes.join(' '), client_id: client.id, sub: userId };
  const [iat, exp] = [issuedAt, tokenExpiresAt].map((instant) => Math.floor(instant / 1000)) as [number, number];
  return { ...shared, builder_id: builderId, iss: baseUrl, iat, exp };
}
