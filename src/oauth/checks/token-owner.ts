import type { RegisteredClient } from '../clients.ts';
import { staleGrant } from '../errors.ts';

/**
 * The code or refresh token exists and was issued to this client; one of another client looks like one that does not
 * exist. RFC 6749 sections 4.1.3 and 6.
 */
export function requireOwner<T extends { clientId: string }>(presented: T | null, client: RegisteredClient): T {
  if (!presented || !isOwner(presented.clientId, client)) throw staleGrant();
  return presented;
}

/** Whether a token with this `client_id` is the client's own. RFC 7009 section 2.1, RFC 7662 section 2.2. */
export const isOwner = (clientId: string, client: RegisteredClient) => clientId === client.id;
