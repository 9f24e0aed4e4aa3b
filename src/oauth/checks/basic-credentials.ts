import { isCleanText } from '../../../schema/scalars.ts';
import { invalidClient } from '../errors.ts';
import { formDecode } from '../parameters.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Identifier and secret of a `Basic` header, each form-encoded within it. RFC 6749 section 2.3.1, RFC 7617 section 2. */
export function readBasicCredentials(authorization: string): { clientId: string; secret: string | null } {
  const base64 = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  const [clientId, secret] = (base64 && decode(base64)) || [];
  if (!clientId || secret === undefined) {
    throw invalidClient('The Authorization header must be Basic, with client_id:client_secret in base64.', true);
  }
  return { clientId, secret: secret || null };
}

function decode(base64: string): string[] | null {
  try {
    const text = UTF8.decode(Buffer.from(base64, 'base64'));
    const colon = text.indexOf(':');
    const halves = colon < 0 ? [] : [text.slice(0, colon), text.slice(colon + 1)].map(formDecode);
    return halves.every(isCleanText) ? halves : null;
  } catch {
    return null;
  }
}
