// Not by name: an import of a name that Node 22 lacks would stop the whole service from loading.
import crypto, { randomBytes, timingSafeEqual } from 'node:crypto';

/** Cost of a new hash: memory in KiB, passes and lanes that OWASP's password storage page gives for argon2id. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

interface Hash {
  cost: typeof COST;
  salt: Buffer;
  tag: Buffer;
}

/** Takes a user's place where there is none, so that an unknown name costs as much time as a known one. */
const NOBODY: Hash = { cost: COST, salt: Buffer.alloc(SALT_BYTES), tag: Buffer.alloc(TAG_BYTES) };

/** argon2id under a new salt, in PHC form: what is stored of a password. Part 11 of the decisions. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await derive(password, { cost: COST, salt, tag: Buffer.alloc(TAG_BYTES) });
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** Whether the stored hash is the password's; never where there is no hash or no such user (null). */
export async function verifyPassword(password: string, phc: string | null): Promise<boolean> {
  const hash = phc === null ? null : parsePhc(phc);
  const { tag } = hash ?? NOBODY;
  const equal = timingSafeEqual(await derive(password, hash ?? NOBODY), tag);
  return equal && hash !== null;
}

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z\d+/]{11,86})\$([A-Za-z\d+/]{22,86})$/;

function parsePhc(phc: string): Hash | null {
  const match = PHC.exec(phc);
  if (!match) return null;
  const [memory, passes, parallelism] = match.slice(1, 4).map(Number);
  const [salt, tag] = match.slice(4).map((text) => Buffer.from(text, 'base64'));
  return { cost: { memory: memory!, passes: passes!, parallelism: parallelism! }, salt: salt!, tag: tag! };
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/**
 * Off the main thread. Node 22 has no argon2: there this one function takes its place from the prebuilt
 * `@node-rs/argon2` (`hashRaw`, same parameters, same bytes).
 */
function derive(password: string, { cost, salt, tag }: Hash): Promise<Buffer> {
  // One spelling for what looks the same, however the keyboard composes it.
  const message = password.normalize('NFKC');
  const parameters = { ...cost, message, nonce: salt, tagLength: tag.length };
  return new Promise((resolve, reject) => {
    if (!crypto.argon2) throw new Error('Passwords need argon2, which node:crypto has from Node 24.7 on.');
    crypto.argon2('argon2id', parameters, (error, derived) => (error ? reject(error) : resolve(derived)));
  });
}
