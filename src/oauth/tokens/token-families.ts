import type { AuditOrigin } from '../../../entities/audit-entry.entity.ts';
import type { Database } from '../../database/database.ts';
import { revokeConsent } from '../../domain/access/consents.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { expiredOrRevokedGrant } from '../errors.ts';

/** The token family of one consent, as stored codes and refresh tokens include it. */
export interface StoredTokenFamily {
  familyId: string;
  clientId: string;
  userId: string;
  builderId: string;
  scopes: string[];
  revoked: boolean;
}

/** SQL of the properties of a `StoredTokenFamily`, as arguments of `json_build_object`. */
export const FAMILY_PROPERTIES = `'familyId', family.id, 'clientId', family.client_id, 'userId', family.user_id,
      'builderId', family.builder_id, 'scopes', family.scopes, 'revoked', family.revoked_at is not null`;

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
