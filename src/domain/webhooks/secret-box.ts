import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface BoxKey {
  /** Says which key has encrypted a text, and nothing about the key. */
  id: string;
  key: Buffer;
}

/** A key among the configured ones: the first, another one, or none of them. */
export type SecretKey = 'FIRST' | 'OTHER' | 'UNKNOWN';

/** A stored secret that no configured key decrypts. */
export class UnknownKeyError extends Error {
  override name = 'UnknownKeyError';
}

/**
 * Encrypts secrets that have to be used again, unlike those of which a digest is stored, with AES-256-GCM. Its keys are derived from the
 * keys of access tokens: the first encrypts, all decrypt, so that the same rotation applies to both.
 */
export class SecretBox {
  readonly #keys: readonly [BoxKey, ...BoxKey[]];

  /** @param tokenKeys base64url */
  constructor(tokenKeys: readonly string[]) {
    const [first, ...others] = tokenKeys;
    if (first === undefined) throw new Error('A key is required.');
    this.#keys = [deriveKey(first), ...others.map(deriveKey)];
  }

  /** Ids of the keys, as stored secrets contain them. */
  get keyIds(): string[] {
    return this.#keys.map(({ id }) => id);
  }

  /**
   * Returns `v1.<key id>.<base64url of IV, tag and ciphertext>`.
   *
   * @param context what the secret belongs to; a text that is copied to another row does not decrypt there
   */
  encrypt(secret: string, context: string): string {
    const [{ id, key }] = this.#keys;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(context));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return `v1.${id}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')}`;
  }

  /** Throws `UnknownKeyError` when the key that encrypted the text is not configured any more. */
  decrypt(stored: string, context: string): string {
    const [, id, content = ''] = stored.split('.');
    const found = this.#keys.find((each) => each.id === id);
    if (!found) throw new UnknownKeyError(`The key ${id} of a stored secret is not among the configured keys.`);
    const bytes = Buffer.from(content, 'base64url');
    const decipher = createDecipheriv(ALGORITHM, found.key, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
  }

  /** Returns which of the configured keys has encrypted the text. */
  keyOf(stored: string): SecretKey {
    const index = this.#keys.findIndex(({ id }) => stored.split('.')[1] === id);
    return index === -1 ? 'UNKNOWN' : index === 0 ? 'FIRST' : 'OTHER';
  }
}

function deriveKey(tokenKey: string): BoxKey {
  const bytes = Buffer.from(tokenKey, 'base64url');
  const key = Buffer.from(hkdfSync('sha256', bytes, '', 'webhook secrets v1', 32));
  return { id: createHash('sha256').update('key id').update(key).digest('hex').slice(0, 8), key };
}
