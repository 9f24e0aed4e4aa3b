import { LockMode } from '@mikro-orm/core';
import { WebhookEndpoint } from '../../../entities/webhook-endpoint.entity.ts';
import type { Database, Databases } from '../../database/database.ts';
import type { Job } from '../../shared/jobs.ts';
import type { SecretBox } from './secret-box.ts';

const INTERVAL_MS = 10 * 60_000;

/** Endpoints whose secrets one transaction encrypts anew. */
const BATCH = 500;

interface SecretCounts {
  /** Secrets that were encrypted anew. */
  secrets: number;
  /** Secrets that no configured key decrypts. */
  unknownKeys: number;
}

/** Encrypts with the first key what another one has encrypted, so that the other can be removed from the settings. */
export async function reencryptSecrets(database: Database, secrets: SecretBox, now: number): Promise<SecretCounts> {
  const counts = { secrets: 0, unknownKeys: 0 };
  for (let after = '', read = BATCH; read === BATCH; ) {
    const rows = await database.transaction(async (em) => {
      // Skips locked rows: the next run takes them.
      const lockMode = LockMode.PESSIMISTIC_PARTIAL_WRITE;
      const where = { id: { $gt: after } };
      const found = await em.find(WebhookEndpoint, where, { orderBy: { id: 'asc' }, limit: BATCH, lockMode });
      for (const endpoint of found) reencryptEndpoint(secrets, endpoint, { now, counts });
      return found;
    });
    read = rows.length;
    after = rows.at(-1)?.id ?? after;
  }
  return counts;
}

/**
 * Drops the secrets that sign no longer, which need no key, and encrypts the others anew, each by itself: a key that was removed too early
 * may have encrypted one of them.
 */
function reencryptEndpoint(
  secrets: SecretBox,
  endpoint: WebhookEndpoint,
  { now, counts }: { now: number; counts: SecretCounts },
): void {
  const encrypt = (text: string): string => {
    const key = secrets.keyOf(text);
    if (key === 'UNKNOWN') counts.unknownKeys++;
    if (key !== 'OTHER') return text;
    counts.secrets++;
    return secrets.encrypt(secrets.decrypt(text, endpoint.id), endpoint.id);
  };
  endpoint.secret = encrypt(endpoint.secret);
  const valid = endpoint.previousSecrets.filter(({ until }) => now < Date.parse(until));
  endpoint.previousSecrets = valid.map((each) => ({ ...each, secret: encrypt(each.secret) }));
}

/** Returns the job that encrypts the secrets of every region anew every ten minutes, by the database's clock. */
export const createReencryptionJob = (databases: Databases, secrets: SecretBox): Job => ({
  name: 'renew webhook secrets',
  everyMs: INTERVAL_MS,
  run: async (region) => reencryptSecrets(databases[region], secrets, await databases[region].now()),
});
