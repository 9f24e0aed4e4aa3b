import { type ClientType, GRANTS, type Grant } from '../../../entities/oauth-client.entity.ts';
import { INTERNAL_SCOPES } from '../../../schema/scopes.ts';
import { parseId, parseOrigin, parseRedirectUri, parseScopes, requireSingleLine } from './access-values.ts';
import { InvalidInputError } from './invalid-input-error.ts';

export interface NewClient {
  /** Absent for an internal client. */
  integratorId?: string;
  internal: boolean;
  name: string;
  type: ClientType;
  /** Empty for every grant that the type allows. */
  grants: string[];
  /** Each text holds one or more scopes, separated by spaces. */
  scopes: string[];
  redirectUris: string[];
  origins: string[];
  pilotAgreement?: string;
}

/** Returns the properties of a client after all rules were checked; throws `InvalidInputError`. OAU-1, OAU-4, ACC-9, ACC-16. */
export const validateClient = (request: NewClient) => ({
  ...validateOwner(request),
  ...validateFlow(request),
  ...validateScopes(request),
});

function validateOwner({ integratorId, internal, name, type }: NewClient) {
  if (internal && integratorId !== undefined)
    throw new InvalidInputError('internal', 'an internal client belongs to no integrator');
  if (internal && type === 'PUBLIC') throw new InvalidInputError('type', 'an internal client is confidential');
  if (!internal && integratorId === undefined)
    throw new InvalidInputError('integratorId', 'is required, except for an internal client');
  return {
    integratorId: integratorId === undefined ? null : parseId('integratorId', 'integrator', integratorId),
    internal,
    name: requireSingleLine('name', name),
    type,
  };
}

/** The grants of a client registered without any. A public client can only use the code flow. */
function getDefaultGrants({ internal, type }: Pick<NewClient, 'internal' | 'type'>): Grant[] {
  if (internal) return ['client_credentials'];
  return type === 'PUBLIC' ? ['authorization_code', 'refresh_token'] : [...GRANTS];
}

function validateFlow({ internal, type, grants: texts, redirectUris, origins }: NewClient) {
  const unknown = texts.find((text) => !(GRANTS as readonly string[]).includes(text));
  if (unknown !== undefined)
    throw new InvalidInputError('grants', `"${unknown}" is not a grant; use ${GRANTS.join(' ')}`);
  const grants =
    texts.length === 0 ? getDefaultGrants({ internal, type }) : GRANTS.filter((grant) => texts.includes(grant));
  const forPeople = grants.includes('authorization_code');
  // A confidential client registered for every grant uses the code flow once it has a redirect URI.
  const needsRedirect = forPeople && (type === 'PUBLIC' || (texts.length > 0 && grants.length < GRANTS.length));
  if (type === 'PUBLIC' && grants.includes('client_credentials')) {
    throw new InvalidInputError('grants', 'client_credentials is for confidential clients');
  }
  if (internal && grants.some((grant) => grant !== 'client_credentials')) {
    throw new InvalidInputError('grants', 'an internal client only uses client_credentials');
  }
  if (grants.includes('refresh_token') && !forPeople)
    throw new InvalidInputError('grants', 'refresh_token requires authorization_code');
  if (needsRedirect && redirectUris.length === 0)
    throw new InvalidInputError('redirectUris', 'authorization_code requires at least one');
  if (!forPeople && redirectUris.length > 0) throw new InvalidInputError('redirectUris', 'requires authorization_code');
  if (type !== 'PUBLIC' && origins.length > 0)
    throw new InvalidInputError('origins', 'only a public client runs in browsers');
  return {
    grants,
    redirectUris: [...new Set(redirectUris.map(parseRedirectUri))],
    origins: [...new Set(origins.map(parseOrigin))],
  };
}

function validateScopes({ internal, scopes: texts, pilotAgreement }: NewClient) {
  const allowed = parseScopes(texts);
  const reserved = allowed.find((scope) => (INTERNAL_SCOPES as readonly string[]).includes(scope));
  if (reserved && !internal) throw new InvalidInputError('scopes', `${reserved} is for internal clients`);
  const inPilot = allowed.includes('write:sign_on_events');
  if (inPilot && pilotAgreement === undefined)
    throw new InvalidInputError('pilotAgreement', 'is required for write:sign_on_events');
  if (!inPilot && pilotAgreement !== undefined)
    throw new InvalidInputError('pilotAgreement', 'is only for write:sign_on_events');
  return {
    scopes: allowed,
    pilotAgreement: pilotAgreement === undefined ? null : requireSingleLine('pilotAgreement', pilotAgreement),
  };
}
