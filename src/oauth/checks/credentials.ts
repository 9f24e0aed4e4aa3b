import { invalidClient, invalidRequest } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { readBasicCredentials } from './basic-credentials.ts';

/** Who the client says it is, and how it said so. */
export interface Credentials {
  clientId: string;
  /** Null when none was sent, as by a public client. */
  secret: string | null;
  /** Sent in the `Authorization` header. */
  viaHeader: boolean;
}

/**
 * The client's credentials from the body, from a `Basic` header, or from both when they say the same.
 * RFC 6749 section 2.3.1, OAU-2.
 */
export function requireCredentials(parameters: Parameters, authorization: string | undefined): Credentials {
  const clientId = parameters.get('client_id');
  const secret = parameters.get('client_secret');
  if (authorization === undefined) {
    if (clientId === undefined) throw invalidClient('The client must authenticate: client_id is missing.', false);
    return { clientId, secret: secret ?? null, viaHeader: false };
  }
  const basic = readBasicCredentials(authorization);
  if (differ(clientId, basic.clientId) || differ(secret, basic.secret)) {
    throw invalidRequest('The credentials in the body and in the Authorization header differ.');
  }
  return { ...basic, viaHeader: true };
}

const differ = (inBody: string | undefined, inHeader: string | null) => inBody !== undefined && inBody !== inHeader;
