import type { RegisteredClient } from '../clients.ts';
import { invalidClient } from '../errors.ts';
import type { Credentials } from './credentials.ts';

/**
 * A public client proves nothing, so it gets no token in its own name and looks into none. RFC 6749 section 4.4, RFC 7662
 * section 2.1, OAU-11, OAU-37.
 */
export function requireConfidentialClient(client: RegisteredClient, credentials: Credentials): void {
  if (client.type === 'CONFIDENTIAL') return;
  throw invalidClient('This is for confidential clients, which have a secret.', credentials.viaHeader);
}
