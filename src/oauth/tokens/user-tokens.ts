import type { EntityManager } from '@mikro-orm/postgresql';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { ACCESS_TOKEN_SECONDS, type AccessClaims } from '../../auth/access-tokens.ts';
import { type ConnectedMembership, findBuilderMembership, requireConnectedMembership } from '../builder-memberships.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { expiredOrRevokedGrant, invalidGrant, invalidScope } from '../errors.ts';
import { issueRefreshToken, REFRESH_TOKEN_SECONDS } from './refresh-tokens.ts';
import type { StoredTokenFamily } from './token-families.ts';

/** Successful response of the token endpoint. RFC 6749 section 5.1, OAU-8. */
export interface TokenResponse {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  /** Deprecated alias of `expires_in`. */
  expires: number;
  /** The scopes granted, space-separated. */
  scope: string;
  /** Present when the client may use the refresh token grant with this grant's tokens. */
  refresh_token?: string;
}

/**
 * Signs an access token with these claims and returns the token response.
 *
 * @param familyId the token family that the token belongs to; null for a token of the client itself
 */
export function issueAccessToken(
  { accessTokens }: Pick<OAuthDependencies, 'accessTokens'>,
  { database }: RegisteredClient,
  claims: Pick<AccessClaims, 'sub' | 'client_id' | 'builder_id' | 'scope'>,
  familyId: string | null = null,
): TokenResponse {
  const { token } = accessTokens.sign(database.region, claims, familyId);
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    expires: ACCESS_TOKEN_SECONDS,
    scope: claims.scope,
  };
}

/** Returns the consented scopes that client and connection still allow. */
export const listAllowedScopes = (
  client: RegisteredClient,
  { scopes }: StoredTokenFamily,
  { allowedScopes }: ConnectedMembership,
): string[] => scopes.filter((scope) => client.scopes.includes(scope) && allowedScopes.includes(scope));

/** Returns the membership that the family was issued for; throws `invalid_grant` once membership or connection has ended. */
export const requireActiveMembership = async (
  client: RegisteredClient,
  family: StoredTokenFamily,
): Promise<ConnectedMembership> =>
  requireConnectedMembership(await findBuilderMembership(client, family), invalidGrant);

/**
 * Returns the scopes that a request without `scope` gets. The response lists them in `scope` (RFC 6749 section 5.1). Throws
 * `invalid_scope` when none is left.
 */
export function requireAllowedScopes(...parameters: Parameters<typeof listAllowedScopes>): string[] {
  const allowed = listAllowedScopes(...parameters);
  if (allowed.length === 0)
    throw invalidScope('Neither the client nor the connection allows any of the scopes any more.');
  return allowed;
}

/**
 * Issues an access token and, if the client may use the refresh token grant, a refresh token. Runs in the transaction that
 * consumes the code or refresh token. Throws `invalid_grant` when the family was revoked after that was read.
 */
export async function issueUserTokens(
  em: EntityManager,
  dependencies: OAuthDependencies,
  client: RegisteredClient,
  { familyId, userId, builderId }: StoredTokenFamily,
  scopes: readonly string[],
): Promise<TokenResponse> {
  const now = dependencies.clock.now();
  const canRefresh = client.grants.includes('refresh_token');
  const seconds = canRefresh ? REFRESH_TOKEN_SECONDS : ACCESS_TOKEN_SECONDS;
  const expiresAt = new Date(now + seconds * 1000).toISOString();
  if ((await em.nativeUpdate(TokenFamily, { id: familyId, revokedAt: null }, { expiresAt })) === 0)
    throw expiredOrRevokedGrant();
  const refreshToken = canRefresh ? await issueRefreshToken(em, familyId, now) : undefined;
  const claims = { sub: userId, client_id: client.id, builder_id: builderId, scope: scopes.join(' ') };
  return { ...issueAccessToken(dependencies, client, claims, familyId), refresh_token: refreshToken };
}
