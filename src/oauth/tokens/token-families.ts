import { TokenFamily } from '../../../entities/token-family.entity.ts';
import type { Database } from '../../database/database.ts';
import type { TextRow } from '../../database/pool/pg-pipeline.ts';
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

/** Revokes every token of the family: immediately on this instance, within a second on the others. ACC-5. */
export async function revokeTokenFamily(
  { tokenVerifier, clock }: OAuthDependencies,
  database: Database,
  id: string,
): Promise<void> {
  const revokedAt = new Date(clock.now()).toISOString();
  await database.fork().nativeUpdate(TokenFamily, { id, revokedAt: null }, { revokedAt });
  tokenVerifier.evict(id);
}
