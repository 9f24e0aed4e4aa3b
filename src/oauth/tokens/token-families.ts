import { TokenFamily } from '../../../entities/token-family.entity.ts';
import type { Database } from '../../database/database.ts';
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
