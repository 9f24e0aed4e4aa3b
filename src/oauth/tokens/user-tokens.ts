import type { EntityManager } from '@mikro-orm/postgresql';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { ACCESS_TOKEN_SECONDS } from '../../auth/access-tokens.ts';
import { findBuilderMembership } from '../builder-memberships.ts';
import { type ConnectedMembership, requireConnectedMembership } from '../checks/builder-membership.check.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { expiredOrRevokedGrant, invalidGrant, invalidScope } from '../errors.ts';
import { issueRefreshToken, REFRESH_TOKEN_SECONDS } from './refresh-tokens.ts';
import type { StoredTokenFamily } from './token-families.ts';
import { issueAccessToken, type TokenResponse } from './token-response.ts';

/** Returns the membership that the family was issued for; throws `invalid_grant` once membership or connection has ended. */
export async function requireActiveMembership(
  client: RegisteredClient,
  family: StoredTokenFamily,
): Promise<ConnectedMembership> {
  return requireConnectedMembership(await findBuilderMembership(client, family), invalidGrant);
}

/** Returns the consented scopes that client and connection still allow. */
export const listAllowedScopes = (
  client: RegisteredClient,
  { scopes }: StoredTokenFamily,
  { allowedScopes }: ConnectedMembership,
): string[] => scopes.filter((scope) => client.scopes.includes(scope) && allowedScopes.includes(scope));

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
  { accessTokens, clock }: OAuthDependencies,
  client: RegisteredClient,
  family: StoredTokenFamily,
  scopes: readonly string[],
): Promise<TokenResponse> {
  const { familyId, userId, builderId } = family;
  const now = clock.now();
  const canRefresh = client.grants.includes('refresh_token');
  const seconds = canRefresh ? REFRESH_TOKEN_SECONDS : ACCESS_TOKEN_SECONDS;
  const expiresAt = new Date(now + seconds * 1000).toISOString();
  const updatedFamilies = await em.nativeUpdate(TokenFamily, { id: familyId, revokedAt: null }, { expiresAt });
  if (updatedFamilies === 0) throw expiredOrRevokedGrant();
  const refreshToken = canRefresh ? await issueRefreshToken(em, familyId, now) : null;
  const claims = { sub: userId, client_id: client.id, builder_id: builderId, scope: scopes.join(' ') };
  const response = issueAccessToken(accessTokens, client.database.region, claims, familyId);
  return refreshToken === null ? response : { ...response, refresh_token: refreshToken };
}
