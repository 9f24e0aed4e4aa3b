import type { Grant } from '../../../entities/oauth-client.entity.ts';
import type { RegisteredClient } from '../clients.ts';
import { unauthorizedClient } from '../errors.ts';

/** The client is registered for the grant. RFC 6749 section 5.2, `unauthorized_client`. */
export function requireAllowedGrant(client: RegisteredClient, grant: Grant): void {
  if (!client.grants.includes(grant)) throw unauthorizedClient(`The client may not use the grant ${grant}.`);
}
