import type { Database } from '../../database/database.ts';
import { isSecretOf } from '../../shared/secrets.ts';
import { findClient, type RegisteredClient } from '../clients.ts';
import { invalidClient } from '../errors.ts';
import type { Credentials } from './credentials.check.ts';

/**
 * Returns the client that the credentials authenticate: by its secret for a confidential client, by its id alone for a
 * public one. An unknown client, a disabled client and a wrong secret cost the same work and give the same error. RFC 6749
 * section 3.2.1, OAU-1, OAU-3.
 */
export async function verifyClientCredentials(
  databases: Database[],
  { clientId, secret, viaHeader }: Credentials,
): Promise<RegisteredClient> {
  const client = await findClient(databases, clientId);
  const isSecretValid = isSecretOf(secret ?? '', client?.digests ?? []);
  const isAuthenticated = client?.type === 'PUBLIC' ? secret === null : secret !== null && isSecretValid;
  if (!client || !isAuthenticated)
    throw invalidClient('The client is unknown or its credentials are wrong.', viaHeader);
  return client;
}

/**
 * Throws `invalid_client` for a public client, which may neither use the client credentials grant (RFC 6749 section 4.4)
 * nor introspect tokens (RFC 7662 section 2.1). OAU-11, OAU-37.
 */
export function requireConfidentialClient(client: RegisteredClient, { viaHeader }: Credentials): void {
  if (client.type === 'CONFIDENTIAL') return;
  throw invalidClient('This is for confidential clients, which have a secret.', viaHeader);
}
