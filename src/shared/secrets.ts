import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Number of valid secrets of a client, for rotation. OAU-6. */
export const VALID_SECRETS = 2;

const SECRET_BYTES = 32;

/** Returns a new client secret, code or refresh token: 256 random bits in base64url. Only its digest is stored. */
export const newSecret = () => randomBytes(SECRET_BYTES).toString('base64url');

/** Returns the digest that is stored of a secret, code or refresh token: SHA-256 in lower-case hexadecimal. */
export const hashSecret = (secret: string) => createHash('sha256').update(secret).digest('hex');

/** Replaces missing digests, so that every comparison takes the same time. No secret has this digest. */
const NO_DIGEST = '0'.repeat(64);

/** Returns whether the secret has one of the digests, in a time that does not depend on their number. */
export function isSecretOf(secret: string, digests: readonly string[]): boolean {
  const presented = Buffer.from(hashSecret(secret));
  let found = false;
  for (let slot = 0; slot < VALID_SECRETS; slot++) {
    const equal = timingSafeEqual(presented, Buffer.from(digests[slot] ?? NO_DIGEST));
    found = equal || found;
  }
  return found;
}
