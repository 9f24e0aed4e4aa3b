import { GRANTS, type Grant } from '../../../entities/oauth-client.entity.ts';
import { isCleanText } from '../../../schema/text.ts';
import type { Database } from '../../database/database.ts';
import { isSecretOf } from '../../shared/secrets.ts';
import { findClient, type RegisteredClient } from '../clients.ts';
import { invalidClient, invalidRequest, unauthorizedClient, unsupportedGrantType } from '../errors.ts';
import { decodeFormComponent, type RequestParameters } from '../parameters.ts';

/** Client credentials as sent, not yet verified. */
export interface Credentials {
  clientId: string;
  /** Null when none was sent, as by a public client. */
  secret: string | null;
  /** Sent in the `Authorization` header. */
  viaHeader: boolean;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the client credentials of the body or of a `Basic` header. Both may be sent if they are equal. RFC 6749 section
 * 2.3.1. Throws `invalid_client` without credentials, `invalid_request` when body and header differ. A `Bearer` header beside credentials in
 * the body is ignored. OAU-2.
 */
export function requireCredentials(parameters: RequestParameters, authorization: string | undefined): Credentials {
  const clientId = parameters.get('client_id');
  const secret = parameters.get('client_secret');
  if (authorization === undefined || (clientId !== undefined && /^Bearer( |$)/i.test(authorization))) {
    if (clientId === undefined) throw invalidClient('The client must authenticate: client_id is missing.', false);
    return { clientId, secret: secret ?? null, viaHeader: false };
  }
  const basic = parseBasicCredentials(authorization);
  if (differs(clientId, basic.clientId) || differs(secret, basic.secret)) {
    throw invalidRequest('The credentials in the body and in the Authorization header differ.');
  }
  return { ...basic, viaHeader: true };
}

const differs = (inBody: string | undefined, inHeader: string | null) => inBody !== undefined && inBody !== inHeader;

/** Parses a `Basic` header, whose id and secret are each form-encoded. RFC 6749 section 2.3.1, RFC 7617 section 2. */
export function parseBasicCredentials(authorization: string): { clientId: string; secret: string | null } {
  const base64 = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  const [clientId, secret] = (base64 && decodeUserPass(base64)) || [];
  if (!clientId || secret === undefined) {
    throw invalidClient('The Authorization header must be Basic, with client_id:client_secret in base64.', true);
  }
  return { clientId, secret: secret || null };
}

/** Id and secret; empty without a colon, null for text that is not valid. */
function decodeUserPass(base64: string): string[] | null {
  try {
    const text = UTF8.decode(Buffer.from(base64, 'base64'));
    const colon = text.indexOf(':');
    const halves = colon < 0 ? [] : [text.slice(0, colon), text.slice(colon + 1)].map(decodeFormComponent);
    return halves.every(isCleanText) ? halves : null;
  } catch {
    return null;
  }
}

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

/** Returns the grant that `grant_type` names; throws `unsupported_grant_type`. RFC 6749 section 5.2. */
export function requireSupportedGrant(grantType: string): Grant {
  const grant = GRANTS.find((supported) => supported === grantType);
  if (!grant) throw unsupportedGrantType(`The grant_type must be one of ${GRANTS.join(', ')}.`);
  return grant;
}

/** Throws `unauthorized_client` unless the client is registered for the grant. RFC 6749 section 5.2. */
export function requireAllowedGrant(client: RegisteredClient, grant: Grant): void {
  if (!client.grants.includes(grant)) throw unauthorizedClient(`The client may not use the grant ${grant}.`);
}
