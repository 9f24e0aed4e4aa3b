import { createHmac } from 'node:crypto';
import { type Caller, getShareKey } from './request-authorizer.ts';

const signingKey = createHmac('sha256', Buffer.from(process.env.TOKEN_KEY!, 'base64url'))
  .update('storage urls v1')
  .digest();

/**
 * Returns a URL from which the caller can read an image for 15 minutes.
 *
 * @param name File name under which browsers save the image; null for none.
 */
export function createSignedUrl(
  caller: Caller,
  objectKey: string,
  type: string,
  name: string | null,
  now: number,
): string {
  const expires = String(Math.floor(now / 1000) + 900);
  const issuer = getShareKey(caller);
  const region = caller.region;
  const signedText = JSON.stringify(['GET', region, objectKey, type, null, name, expires, issuer]);
  const signature = createHmac('sha256', signingKey).update(signedText).digest('base64url');
  const query = new URLSearchParams({ type, ...(name === null ? {} : { name }), issuer, expires, signature });
  // The measured service writes spaces as RFC 3986 has them.
  const text = String(query).replaceAll('+', '%20');
  return `${process.env.BASE_URL}/storage/${region}/${objectKey}?${text}`;
}
