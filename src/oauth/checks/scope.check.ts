import { INTERNAL_SCOPES, SCOPES } from '../../../schema/scopes.ts';
import type { ConnectedMembership } from '../builder-memberships.ts';
import type { RegisteredClient } from '../clients.ts';
import { invalidScope } from '../errors.ts';

const SUPPORTED_SCOPES: ReadonlySet<string> = new Set([...SCOPES, ...INTERNAL_SCOPES]);

/** `scope-token *( SP scope-token )`. RFC 6749 section 3.3. */
const SYNTAX = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** Maximum number of scopes that an error lists. */
const MAX_LISTED = 5;

/**
 * Returns the requested scopes without duplicates. Throws `invalid_scope` for an unknown scope or one that the client is
 * not registered for; none is dropped silently. RFC 6749 section 3.3, OAU-12.
 */
export function requireClientScopes(scope: string, client: RegisteredClient): string[] {
  if (!SYNTAX.test(scope)) throw invalidScope('The scope must be scopes with one space between each two.');
  const requested = [...new Set(scope.split(' '))];
  const unknown = requested.filter((one) => !SUPPORTED_SCOPES.has(one));
  if (unknown.length > 0) throw invalidScope(`Not a scope: ${unknown.slice(0, MAX_LISTED).join(' ')}.`);
  const disallowed = requested.filter((one) => !client.scopes.includes(one));
  if (disallowed.length > 0) {
    throw invalidScope(`The client is not allowed: ${disallowed.slice(0, MAX_LISTED).join(' ')}.`);
  }
  return requested;
}

/**
 * Throws `invalid_scope` unless the builder's connection allows every requested scope. RFC 6749 section 3.3, OAU-23.
 */
export function requireConnectionScopes(requested: readonly string[], membership: ConnectedMembership): void {
  const disallowed = findDisallowedScopes(requested, membership);
  if (disallowed.length > 0) {
    throw invalidScope(`The builder's connection does not allow: ${disallowed.join(' ')}.`);
  }
}

/** Requested scopes that the builder's connection does not allow. */
export const findDisallowedScopes = (requested: readonly string[], { allowedScopes }: ConnectedMembership): string[] =>
  requested.filter((scope) => !allowedScopes.includes(scope));

/** Throws `invalid_scope` when a refresh requests a scope that the user did not consent to. RFC 6749 section 6. */
export function requireConsentedScopes(requested: readonly string[], consented: readonly string[]): void {
  const excess = requested.filter((scope) => !consented.includes(scope));
  if (excess.length > 0) throw invalidScope(`The user did not consent to: ${excess.join(' ')}.`);
}
