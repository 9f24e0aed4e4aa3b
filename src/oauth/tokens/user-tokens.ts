import type { EntityManager } from '@mikro-orm/postgresql';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { ACCESS_TOKEN_SECONDS } from '../../auth/access-tokens.ts';
import { type ConnectedChoice, requireChoice } from '../checks/builder-choice.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { invalidGrant, invalidScope, staleGrant } from '../errors.ts';
import { findChoices } from '../interaction/builder-choices.ts';
import { issueRefreshToken, REFRESH_TOKEN_SECONDS } from './refresh-tokens.ts';
import type { Family } from './token-families.ts';
import { issueToken, type TokenResponse } from './token-response.ts';

/** The family's builder, while its user is a member and it is connected; `invalid_grant` once that has ended. */
export async function requireStanding(client: RegisteredClient, family: Family): Promise<ConnectedChoice> {
  const { userId, builderId } = family;
  const [choice] = await findChoices(client.database, { userId, integratorId: client.integratorId, builderId });
  return requireChoice(choice, invalidGrant);
}

/**
 * Of the scopes that the user consented to, those that client and connection still allow: what a request gets that names
 * none. The answer's `scope` says which they are. RFC 6749 section 5.1.
 */
export function scopesLeft(client: RegisteredClient, family: Family, choice: ConnectedChoice): string[] {
  const left = family.scopes.filter((scope) => client.scopes.includes(scope) && choice.allowed.includes(scope));
  if (left.length === 0) throw invalidScope('Neither the client nor the connection allows any of the scopes any more.');
  return left;
}

/**
 * Access token, and refresh token where the client may refresh, within the transaction that uses up the code or refresh
 * token that they are issued for. Refused when the family was revoked since that was looked up.
 */
export async function issuePersonTokens(
  em: EntityManager,
  { accessTokens, clock }: OAuthDependencies,
  client: RegisteredClient,
  family: Family,
  scopes: readonly string[],
): Promise<TokenResponse> {
  const { familyId, userId, builderId } = family;
  const now = clock.now();
  const refreshes = client.grants.includes('refresh_token');
  const seconds = refreshes ? REFRESH_TOKEN_SECONDS : ACCESS_TOKEN_SECONDS;
  const expiresAt = new Date(now + seconds * 1000).toISOString();
  const standing = await em.nativeUpdate(TokenFamily, { id: familyId, revokedAt: null }, { expiresAt });
  if (standing === 0) throw staleGrant();
  const refreshToken = refreshes ? await issueRefreshToken(em, familyId, now) : null;
  const claims = { sub: userId, client_id: client.id, builder_id: builderId, scope: scopes.join(' ') };
  const response = await issueToken(accessTokens, claims, familyId);
  return refreshToken === null ? response : { ...response, refresh_token: refreshToken };
}
