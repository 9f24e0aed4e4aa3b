import { INTERNAL_SCOPES, SCOPES } from '../../../schema/scopes.ts';
import type { RegisteredClient } from '../clients.ts';
import { invalidScope } from '../errors.ts';

const KNOWN: ReadonlySet<string> = new Set([...SCOPES, ...INTERNAL_SCOPES]);

/** `scope-token *( SP scope-token )`. RFC 6749 section 3.3. */
const SYNTAX = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** Scopes that an error names at most. */
const NAMED = 5;

/**
 * The scopes that are asked for, each once, all of them known and allowed to the client: none is dropped in silence.
 * RFC 6749 section 3.3, OAU-12.
 */
export function requireScopes(scope: string, client: RegisteredClient): string[] {
  if (!SYNTAX.test(scope)) throw invalidScope('The scope must be scopes with one space between each two.');
  const asked = [...new Set(scope.split(' '))];
  const unknown = asked.filter((one) => !KNOWN.has(one));
  if (unknown.length > 0) throw invalidScope(`Not a scope: ${unknown.slice(0, NAMED).join(' ')}.`);
  const refused = asked.filter((one) => !client.scopes.includes(one));
  if (refused.length > 0) throw invalidScope(`The client is not allowed: ${refused.slice(0, NAMED).join(' ')}.`);
  return asked;
}
