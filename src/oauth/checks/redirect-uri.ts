import type { RegisteredClient } from '../clients.ts';
import { invalidRequest } from '../errors.ts';

/**
 * The redirect URI is one of the client's, character by character, port included. Without one there is nowhere that an
 * error may be sent to, so it is shown on a page. RFC 6749 sections 3.1.2 and 4.1.2.1, RFC 9700 section 4.1.3, OAU-18.
 */
export function requireRedirectUri(sent: string | undefined, client: RegisteredClient): string {
  if (sent === undefined) throw invalidRequest('The parameter redirect_uri is missing.');
  if (!client.redirectUris.includes(sent) || sent.includes('#')) {
    throw invalidRequest('The redirect_uri is not one that is registered for the client.');
  }
  return sent;
}
