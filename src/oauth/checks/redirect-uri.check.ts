import type { RegisteredClient } from '../clients.ts';
import { invalidRequest } from '../errors.ts';

/**
 * Returns the redirect URI, which must equal a registered one, port included. The error is shown on a page and never sent
 * by redirect, because there is no trusted URI to send it to. RFC 6749 sections 3.1.2 and 4.1.2.1, RFC 9700 section 4.1.3,
 * OAU-18.
 */
export function requireRegisteredRedirectUri(redirectUri: string, client: RegisteredClient): string {
  if (!client.redirectUris.includes(redirectUri) || redirectUri.includes('#')) {
    throw invalidRequest('The redirect_uri is not one that is registered for the client.');
  }
  return redirectUri;
}
