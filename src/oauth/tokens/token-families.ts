import type { AuditOrigin } from '../../../entities/audit-entry.entity.ts';
import type { TokenFamily } from '../../../entities/token-family.entity.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { selectObjects } from '../../database/read/select-objects.ts';
import { revokeConsent } from '../../domain/access/consents.ts';
import { hashSecret } from '../../shared/secrets.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { expiredOrRevokedGrant } from '../errors.ts';

/** The token family of one consent, as stored codes and refresh tokens include it. */
export interface StoredTokenFamily
  extends Pick<TokenFamily, 'clientId' | 'userId' | 'builderId' | 'scopes' | 'resource'> {
  familyId: string;
  revoked: boolean;
}

/** A stored code or refresh token. Instants are milliseconds since the epoch. */
export interface StoredToken extends StoredTokenFamily {
  digest: string;
  issuedAt: number;
  tokenExpiresAt: number;
}

/**
 * Returns a function that reads a code or refresh token, consumed and expired ones included; undefined when it does not exist.
 *
 * @param properties SQL of its own properties, as arguments of `json_build_object`
 */
export function createTokenLookup<T extends object>(name: string, table: string, properties: string) {
  const statement: Statement = {
    name,
    text: `select json_build_object('familyId', family.id, 'clientId', family.client_id, 'userId', family.user_id,
      'builderId', family.builder_id, 'scopes', family.scopes, 'resource', family.resource, 'revoked', family.revoked_at is not null,
      'digest', token.digest, 'issuedAt', extract(epoch from token.created_at) * 1000,
      'tokenExpiresAt', extract(epoch from token.expires_at) * 1000, ${properties})
    from ${table} token join oauth_token_family family on family.id = token.family_id
    where token.digest = $1`,
  };
  return async (database: Database, token: string): Promise<(StoredToken & T) | undefined> =>
    (await selectObjects<StoredToken & T>(database, statement, [hashSecret(token)]))[0];
}

/**
 * Returns the stored code or refresh token. Throws the same `invalid_grant` for one that does not exist and for one that
 * was issued to another client. RFC 6749 sections 4.1.3 and 6.
 */
export function requireTokenOwner<T extends { clientId: string }>(stored: T | undefined, client: RegisteredClient): T {
  if (stored?.clientId !== client.id) throw expiredOrRevokedGrant();
  return stored;
}

/**
 * Revokes every token of the family: immediately on this instance, within a second on the others. ACC-5. The client caused it, by a
 * revocation or by the second use of a code or token.
 */
export async function revokeTokenFamily(
  { tokenVerifier, clock }: OAuthDependencies,
  database: Database,
  family: StoredTokenFamily,
  { reason, origin }: { reason: string; origin: AuditOrigin },
): Promise<void> {
  const source = { actor: { type: 'CLIENT' as const, id: family.clientId }, origin };
  await revokeConsent({ database, clock, source }, family, reason, family.familyId);
  tokenVerifier.evict(family.familyId);
}
