import type { AuditOrigin } from '../../../entities/audit-entry.entity.ts';
import type { Database } from '../../database/database.ts';
import type { TextRow } from '../../database/pool/pg-pipeline.ts';
import { revokeFamily } from '../../domain/access/consents.ts';
import type { OAuthDependencies } from '../dependencies.ts';

/** The token family of one consent, as stored codes and refresh tokens include it. */
export interface StoredTokenFamily {
  familyId: string;
  clientId: string;
  userId: string;
  builderId: string;
  scopes: string[];
  revoked: boolean;
}

/** Columns of `oauth_token_family family` from which `toTokenFamily` reads, as the first ones of a row. */
export const FAMILY_COLUMNS = `family.id, family.client_id, family.user_id, family.builder_id, to_json(family.scopes),
      family.revoked_at is not null`;

/** Returns the token family of a row that begins with `FAMILY_COLUMNS`, and the columns behind them. */
export function toTokenFamily([id, clientId, userId, builderId, scopes, revoked, ...others]: TextRow) {
  const family: StoredTokenFamily = {
    ...{ familyId: id!, clientId: clientId!, userId: userId!, builderId: builderId! },
    ...{ scopes: JSON.parse(scopes!), revoked: revoked === 't' },
  };
  return { family, others };
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
  const { familyId, clientId, userId, builderId } = family;
  const source = { actor: { type: 'CLIENT' as const, id: clientId }, origin };
  await revokeFamily({ database, clock, source }, { familyId, clientId, userId, builderId }, reason);
  tokenVerifier.evict(familyId);
}
