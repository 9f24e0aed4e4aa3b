import argon2 from '@node-rs/argon2';

/** Memory in KiB, passes and lanes that OWASP's password storage page gives for argon2id, the library's default kind. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Takes a user's place where there is none, so that an unknown name costs as much time as a known one. */
const NOBODY = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** One spelling for what looks the same, however the keyboard composes it. */
const spelled = (password: string) => password.normalize('NFKC');

/** argon2id under a new salt, in PHC form: what is stored of a password. OAU-41. */
export function hashPassword(password: string): Promise<string> {
  return argon2.hash(spelled(password), COST);
}

/** Whether the stored hash is the password's; never where there is no hash or no such user (null). */
export async function verifyPassword(password: string, phc: string | null): Promise<boolean> {
  const equal = await argon2.verify(phc ?? NOBODY, spelled(password)).catch(() => false);
  return equal && phc !== null;
}
