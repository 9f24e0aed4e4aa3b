import { isId } from '../../../schema/ids.ts';
import { isCleanText } from '../../../schema/text.ts';
import { requireAllowedGrant } from '../checks/client.check.ts';
import { type CodeBinding, requireCodeChallenge } from '../checks/pkce.check.ts';
import { requireClientScopes } from '../checks/scope.check.ts';
import { findClient, type RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { invalidRequest, invalidScope, unauthorizedClient, unsupportedResponseType } from '../errors.ts';
import {
  parseFormPairs,
  parseResource,
  type RequestParameters,
  rejectRepeatedParameters,
  requireAudience,
  requireParameter,
} from '../parameters.ts';

/** The decoded query of an authorization request. */
export interface AuthorizationQuery {
  /** As sent, without the question mark. */
  text: string;
  /** Non-empty parameters that occur exactly once. */
  parameters: RequestParameters;
  /** All parameter names, duplicates included. */
  names: string[];
}

/** The verified client and redirect URI, to which errors in the rest of the request can be sent. */
export interface RedirectTarget {
  client: RegisteredClient;
  redirectUri: string;
  /** Null when the request has none. */
  state: string | null;
}

/** A valid authorization request. */
export interface AuthorizationRequest extends CodeBinding {
  client: RegisteredClient;
  state: string;
  scopes: string[];
  /** Audience of the tokens; null for the API. */
  resource: string | null;
  /** Preselects the builder. */
  builderId: string | null;
}

/** Parses the query of a URL. Throws errors that are shown on a page, because no redirect URI is verified yet. */
export function parseAuthorizationQuery(url: string): AuthorizationQuery {
  const at = url.indexOf('?');
  const text = at < 0 ? '' : url.slice(at + 1);
  const pairs = parseFormPairs(text);
  if (!pairs.flat().every(isCleanText)) throw invalidRequest('The query holds U+0000.');
  const names = pairs.map(([name]) => name);
  const isSingle = (name: string) => names.indexOf(name) === names.lastIndexOf(name);
  const single = pairs.filter(([name, value]) => value !== '' && isSingle(name));
  return { text, parameters: new Map(single), names };
}

/**
 * Returns the client, searched for in every region, and its redirect URI, which must equal a registered one, port included. Errors are shown
 * on a page: a redirect to an unverified URI would make the service an open redirector. RFC 6749 sections 3.1.2 and 4.1.2.1, RFC 9700
 * section 4.1.3, HDR-9, OAU-18.
 */
export async function resolveRedirectTarget(
  { databases }: OAuthDependencies,
  { parameters, names }: AuthorizationQuery,
): Promise<RedirectTarget> {
  rejectRepeatedParameters(names.filter((name) => /^(client_id|redirect_uri)(\[|$)/.test(name)));
  const clientId = requireParameter(parameters, 'client_id');
  const client = await findClient(Object.values(databases), clientId);
  if (!client) throw invalidRequest('The client_id is not one that is registered.');
  const redirectUri = requireParameter(parameters, 'redirect_uri');
  if (!client.redirectUris.includes(redirectUri) || redirectUri.includes('#'))
    throw invalidRequest('The redirect_uri is not one that is registered for the client.');
  return { client, redirectUri, state: parameters.get('state') ?? null };
}

/**
 * Validates the rest of the request. Throws errors that are sent to the client by redirect. `state` is required, so that
 * every client can bind the response to the browser. RFC 6749 section 4.1.1, RFC 7636 section 4.3, OAU-17.
 */
export function parseAuthorizationRequest(
  { parameters, names }: AuthorizationQuery,
  { client, redirectUri }: RedirectTarget,
  baseUrl: string,
): AuthorizationRequest {
  rejectRepeatedParameters(names);
  const state = requireParameter(parameters, 'state');
  if (requireParameter(parameters, 'response_type') !== 'code')
    throw unsupportedResponseType('The response_type must be code.');
  requireAllowedGrant(client, 'authorization_code');
  if (client.integratorId === null) throw unauthorizedClient('An internal client signs no people in.');
  requireAudience(parameters, baseUrl);
  const challenge = requireCodeChallenge(parameters);
  const resource = parseResource(parameters, baseUrl);
  const scope = parameters.get('scope') ?? (resource === null ? undefined : client.scopes.join(' '));
  if (scope === undefined) throw invalidScope('The parameter scope is missing.');
  const builderId = parameters.get('builder_id') ?? null;
  if (builderId !== null && !isId('builder', builderId)) throw invalidRequest('The builder_id is not a builder id.');
  const scopes = requireClientScopes(scope, client);
  return { client, redirectUri, state, scopes, resource, builderId, ...challenge };
}
