import { GRANTS, type Grant } from '../../../entities/oauth-client.entity.ts';
import type { RegisteredClient } from '../clients.ts';
import { unauthorizedClient, unsupportedGrantType } from '../errors.ts';

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
