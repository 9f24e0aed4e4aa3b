import type { EntityManager } from '@mikro-orm/postgresql';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { ACCESS_TOKEN_SECONDS, type AccessTokens } from '../../auth/access-tokens.ts';
import type { ClientRequest } from '../authenticate-client.ts';
import { type ConnectedMembership, findBuilderMembership, requireConnectedMembership } from '../builder-memberships.ts';
import { requireConnectionScopes, requireConsentedScopes } from '../checks/scope.check.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { expiredOrRevokedGrant, invalidGrant, invalidScope, invalidTarget } from '../errors.ts';
import { parseResource } from '../parameters.ts';
import { issueRefreshToken, REFRESH_TOKEN_SECONDS } from './refresh-tokens.ts';
import type { StoredToken, StoredTokenFamily } from './token-families.ts';

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
  claims: Parameters<AccessTokens['sign']>[1],
  familyId: string | null = null,
): TokenResponse {
  const { token } = accessTokens.sign(database.region, claims, familyId);
  const lifetime = { expires_in: ACCESS_TOKEN_SECONDS, expires: ACCESS_TOKEN_SECONDS };
  return { access_token: token, token_type: 'Bearer', ...lifetime, scope: claims.scope };
}

/** Returns the consented scopes that client and connection still allow. */
export const listAllowedScopes = (
  client: RegisteredClient,
  { scopes }: StoredTokenFamily,
  { allowedScopes }: ConnectedMembership,
): string[] => scopes.filter((scope) => client.scopes.includes(scope) && allowedScopes.includes(scope));

/**
 * Exchanges a code or refresh token for the user's tokens: those of the requested scopes, or of all that are still allowed, which the
 * response lists in `scope` (RFC 6749 section 5.1). Returns null when another request has consumed it first. Throws `invalid_grant` for one
 * that is expired or revoked, or whose membership or connection has ended, `invalid_target` for another `resource`, and `invalid_scope` when no scope is left.
 *
 * @param consume marks it as used in the transaction that issues the tokens
 */
export async function exchangeForUserTokens(
  { client, parameters, chargeClient }: ClientRequest,
  dependencies: OAuthDependencies,
  stored: StoredToken,
  requested: readonly string[] | null,
  consume: (em: EntityManager) => Promise<boolean>,
): Promise<TokenResponse | null> {
  if (stored.revoked || dependencies.clock.now() >= stored.tokenExpiresAt) throw expiredOrRevokedGrant();
  if (parameters.has('resource') && parseResource(parameters, dependencies.baseUrl) !== stored.resource)
    throw invalidTarget('The resource is not that of the authorization.');
  if (requested) requireConsentedScopes(requested, stored.scopes);
  const membership = requireConnectedMembership(await findBuilderMembership(client, stored), invalidGrant);
  if (requested) requireConnectionScopes(requested, membership);
  const scopes = requested ?? listAllowedScopes(client, stored, membership);
  if (scopes.length === 0)
    throw invalidScope('Neither the client nor the connection allows any of the scopes any more.');
  // Charged before it is consumed, so that the client can send it again after a 429.
  await chargeClient();
  return client.database.transaction(async (em) =>
    (await consume(em)) ? issueUserTokens(em, dependencies, client, stored, scopes) : null,
  );
}

/**
 * Issues an access token and, if the client may use the refresh token grant, a refresh token. Throws `invalid_grant` when the family was
 * revoked after the code or token was read.
 */
async function issueUserTokens(
  em: EntityManager,
  dependencies: OAuthDependencies,
  client: RegisteredClient,
  { familyId, userId, builderId, resource }: StoredTokenFamily,
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
  const response = issueAccessToken(dependencies, client, { ...claims, aud: resource ?? undefined }, familyId);
  return { ...response, refresh_token: refreshToken };
}
