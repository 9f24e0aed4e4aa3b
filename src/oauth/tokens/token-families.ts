import { TokenFamily } from '../../../entities/token-family.entity.ts';
import type { Database } from '../../database/database.ts';
import type { OAuthDependencies } from '../dependencies.ts';

/** What one consent gave, as its codes and refresh tokens carry it. */
export interface Family {
  familyId: string;
  clientId: string;
  userId: string;
  builderId: string;
  scopes: string[];
  revoked: boolean;
}

/** Ends every token of the family: on this instance at once, on the others within a second. ACC-5. */
export async function revokeFamily(
  { tokenVerifier, clock }: OAuthDependencies,
  database: Database,
  id: string,
): Promise<void> {
  const revokedAt = new Date(clock.now()).toISOString();
  await database.fork().nativeUpdate(TokenFamily, { id, revokedAt: null }, { revokedAt });
  tokenVerifier.evict(id);
}
