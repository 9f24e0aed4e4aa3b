import { unsupportedResponseType } from '../errors.ts';

/** The authorization endpoint answers with a code and nothing else. RFC 6749 sections 3.1.1 and 4.1.1. */
export function requireCodeResponse(responseType: string): void {
  if (responseType !== 'code') throw unsupportedResponseType('The response_type must be code.');
}
