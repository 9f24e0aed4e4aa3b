import { invalidScope } from '../errors.ts';

/** A refresh asks for nothing that the user did not consent to. RFC 6749 section 6. */
export function requireNarrowerScopes(asked: readonly string[], consented: readonly string[]): void {
  const wider = asked.filter((scope) => !consented.includes(scope));
  if (wider.length > 0) throw invalidScope(`The user did not consent to: ${wider.join(' ')}.`);
}
