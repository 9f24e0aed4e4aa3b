import { isCleanText } from '../../../schema/scalars.ts';
import { isId } from '../../shared/ids.ts';
import { requireAllowedGrant } from '../checks/allowed-grant.ts';
import { requireAudience } from '../checks/audience.ts';
import type { CodeBinding } from '../checks/code-binding.ts';
import { requireCodeChallenge } from '../checks/code-challenge.ts';
import { requireRedirectUri } from '../checks/redirect-uri.ts';
import { refuseRepeatedParameters } from '../checks/repeated-parameters.ts';
import { requireParameter } from '../checks/required-parameter.ts';
import { requireCodeResponse } from '../checks/response-type.ts';
import { requireScopes } from '../checks/scope.ts';
import { requireState } from '../checks/state.ts';
import { findClient, type RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { invalidRequest, invalidScope, unauthorizedClient } from '../errors.ts';
import { formPairs, type Parameters } from '../parameters.ts';

/** The query of an authorization request. */
export interface Query {
  /** As the browser sent it. */
  text: string;
  /** Those that were sent once and with a value. */
  parameters: Parameters;
  /** All names, so that one sent twice is found. */
  names: string[];
}

/** Where the answer goes: known and trusted before anything else of the request is looked at. */
export interface ReturnAddress {
  client: RegisteredClient;
  redirectUri: string;
  /** Null while there is none to give back. */
  state: string | null;
}

/** An authorization request in which everything holds. */
export interface AuthorizationRequest extends CodeBinding {
  client: RegisteredClient;
  state: string;
  scopes: string[];
  /** Pre-selects the builder. */
  builderId: string | null;
}

/** Reads a query; what is wrong with it as a whole cannot be told to an application, because it names none. */
export function readQuery(url: string): Query {
  const at = url.indexOf('?');
  const text = at < 0 ? '' : url.slice(at + 1);
  const pairs = formPairs(text);
  if (!pairs.flat().every(isCleanText)) throw invalidRequest('The query holds U+0000.');
  const names = pairs.map(([name]) => name);
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const single = pairs.filter(([name, value]) => value !== '' && counts.get(name) === 1);
  return { text, parameters: new Map(single), names };
}

/**
 * The client and its redirect URI. Throws what may only be shown on a page: an open redirector is whoever sends a browser
 * to an address that was not checked. RFC 6749 section 4.1.2.1. The region is the client's. HDR-9, OAU-18.
 */
export async function findReturnAddress(
  parts: OAuthDependencies,
  { parameters, names }: Query,
): Promise<ReturnAddress> {
  refuseRepeatedParameters(names.filter((name) => name === 'client_id' || name === 'redirect_uri'));
  const clientId = requireParameter(parameters, 'client_id');
  const client = await findClient(Object.values(parts.databases), clientId);
  if (!client) throw invalidRequest('The client_id is not one that is registered.');
  const redirectUri = requireRedirectUri(parameters.get('redirect_uri'), client);
  return { client, redirectUri, state: parameters.get('state') ?? null };
}

/** Everything else of the request. Throws what the application is told. RFC 6749 section 4.1.1, RFC 7636 section 4.3. */
export function readAuthorization(
  { parameters, names }: Query,
  { client, redirectUri, state }: ReturnAddress,
  baseUrl: string,
): AuthorizationRequest {
  refuseRepeatedParameters(names);
  const required = requireState(state);
  requireCodeResponse(requireParameter(parameters, 'response_type'));
  requireAllowedGrant(client, 'authorization_code');
  if (client.integratorId === null) throw unauthorizedClient('An internal client signs no people in.');
  requireAudience(parameters.get('audience'), baseUrl);
  const challenge = requireCodeChallenge(parameters);
  const scope = parameters.get('scope');
  if (scope === undefined) throw invalidScope('The parameter scope is missing.');
  const builderId = parameters.get('builder_id') ?? null;
  if (builderId !== null && !isId('builder', builderId)) throw invalidRequest('The builder_id is not a builder id.');
  return { client, redirectUri, state: required, scopes: requireScopes(scope, client), builderId, ...challenge };
}
