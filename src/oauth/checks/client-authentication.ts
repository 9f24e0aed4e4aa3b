import type { Database } from '../../database/database.ts';
import { isSecretOf } from '../../shared/secrets.ts';
import { findClient, type RegisteredClient } from '../clients.ts';
import { invalidClient } from '../errors.ts';
import type { Credentials } from './credentials.ts';

/**
 * The client that the credentials prove: its secret for a confidential client, its id alone for a public one.
 * An unknown client, a disabled one and a wrong secret take the same work and get the same answer. RFC 6749 section 3.2.1.
 */
export async function authenticateClient(databases: Database[], credentials: Credentials): Promise<RegisteredClient> {
  const { clientId, secret, viaHeader } = credentials;
  const client = await findClient(databases, clientId);
  const secretHolds = isSecretOf(secret ?? '', client?.digests ?? []);
  const proven = client?.type === 'PUBLIC' ? secret === null : secret !== null && secretHolds;
  if (!client || !proven) throw invalidClient('The client is unknown or its credentials are wrong.', viaHeader);
  return client;
}
