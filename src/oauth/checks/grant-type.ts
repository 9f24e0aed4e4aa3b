import { GRANTS, type Grant } from '../../../entities/oauth-client.entity.ts';
import { unsupportedGrantType } from '../errors.ts';

/** The grant that is asked for is one that we know. RFC 6749 section 5.2, `unsupported_grant_type`. */
export function requireKnownGrant(grantType: string): Grant {
  const grant = GRANTS.find((known) => known === grantType);
  if (!grant) throw unsupportedGrantType(`The grant_type must be one of ${GRANTS.join(', ')}.`);
  return grant;
}
