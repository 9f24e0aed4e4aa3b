import type { RegisteredClient } from '../clients.ts';
import { expiredOrRevokedGrant } from '../errors.ts';

/**
 * Returns the stored code or refresh token. Throws the same `invalid_grant` for one that does not exist and for one that
 * was issued to another client. RFC 6749 sections 4.1.3 and 6.
 */
export function requireTokenOwner<T extends { clientId: string }>(stored: T | null, client: RegisteredClient): T {
  if (!stored || !isTokenOwner(stored.clientId, client)) throw expiredOrRevokedGrant();
  return stored;
}

/** Whether a token with this `client_id` was issued to the client. RFC 7009 section 2.1, RFC 7662 section 2.2. */
export const isTokenOwner = (clientId: string, client: RegisteredClient) => clientId === client.id;
