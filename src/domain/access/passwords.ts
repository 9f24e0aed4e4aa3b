import argon2 from '@node-rs/argon2';

/** Memory in KiB, passes and lanes that OWASP recommends for argon2id, the library's default algorithm. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hash that is verified for unknown users, so that they take as much time as known ones. */
const DUMMY_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Normalizes texts that look the same, regardless of how the keyboard composes them. */
const normalize = (password: string) => password.normalize('NFKC');

/** Returns the argon2id hash of a password with a new salt, in PHC format. OAU-41. */
export const hashPassword = (password: string): Promise<string> => argon2.hash(normalize(password), COST);

/** Returns whether the stored hash is that of the password; false for null (no hash or no such user). */
export async function verifyPassword(password: string, phc: string | null): Promise<boolean> {
  const equal = await argon2.verify(phc ?? DUMMY_HASH, normalize(password)).catch(() => false);
  return equal && phc !== null;
}
