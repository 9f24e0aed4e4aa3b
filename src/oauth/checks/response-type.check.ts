import { unsupportedResponseType } from '../errors.ts';

/** Throws `unsupported_response_type` for any response type but `code`. RFC 6749 sections 3.1.1 and 4.1.1. */
export function requireCodeResponseType(responseType: string): void {
  if (responseType !== 'code') throw unsupportedResponseType('The response_type must be code.');
}
