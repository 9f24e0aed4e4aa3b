import { invalidRequest } from '../errors.ts';

/** `code-verifier = 43*128unreserved`. RFC 7636 section 4.1. */
const SYNTAX = /^[A-Za-z0-9._~-]{43,128}$/;

/** The verifier has the shape of one. RFC 7636 section 4.1. */
export function requireCodeVerifier(verifier: string): string {
  if (SYNTAX.test(verifier)) return verifier;
  throw invalidRequest('The code_verifier must be 43 to 128 letters, digits and the characters - . _ and ~.');
}
