import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Secrets of a client that are valid at a time: the newest, so that it can rotate. OAU-6. */
export const VALID_SECRETS = 2;

const SECRET_BYTES = 32;

/** A new client secret, code or refresh token: 256 random bits in base64url. Shown once, stored as its digest. */
export const newSecret = () => randomBytes(SECRET_BYTES).toString('base64url');

/** SHA-256 in lower-case hexadecimal: what is stored of a secret, a code or a refresh token. */
export const digestOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

/** Stands in where a client has fewer secrets than it may, so that every comparison takes as long. No secret has it. */
const NO_DIGEST = '0'.repeat(64);

/** Whether the secret is one of those with these digests. Constant time, whether there are two digests, one or none. */
export function isSecretOf(secret: string, digests: readonly string[]): boolean {
  const presented = Buffer.from(digestOf(secret));
  let found = false;
  for (let slot = 0; slot < VALID_SECRETS; slot++) {
    const equal = timingSafeEqual(presented, Buffer.from(digests[slot] ?? NO_DIGEST));
    found = equal || found;
  }
  return found;
}
