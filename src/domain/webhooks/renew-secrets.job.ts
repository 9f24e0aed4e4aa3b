import type { EntityManager } from '@mikro-orm/postgresql';
import type { PreviousSecret } from '../../../entities/webhook-endpoint.entity.ts';
import type { Database, Databases } from '../../database/database.ts';
import type { Job } from '../../shared/jobs.ts';
import type { SecretBox } from './secret-box.ts';

const INTERVAL_MS = 10 * 60_000;

/** Endpoints whose secrets one transaction encrypts anew. */
const BATCH = 500;

interface StoredSecrets {
  id: string;
  secret: string;
  previous_secrets: PreviousSecret[];
}

interface RenewalCounts {
  /** Secrets that were encrypted anew. */
  secrets: number;
  /** Secrets that no configured key decrypts. */
  unknownKeys: number;
}

const SELECT = `select id, secret, previous_secrets from webhook_endpoint where id > ? order by id limit ${BATCH} for update skip locked`;

const UPDATE = 'update webhook_endpoint set secret = ?, previous_secrets = ?::jsonb where id = ?';

/** Encrypts with the first key what another one has encrypted, so that the other can be removed from the settings. */
export async function renewSecrets(database: Database, secrets: SecretBox, now: number): Promise<RenewalCounts> {
  const counts = { secrets: 0, unknownKeys: 0 };
  for (let after = '', read = BATCH; read === BATCH; ) {
    const rows = await database.transaction(async (em) => {
      const found = (await em.execute(SELECT, [after])) as unknown as StoredSecrets[];
      for (const row of found) await renewRow(em, secrets, row, { now, counts });
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
async function renewRow(
  em: EntityManager,
  secrets: SecretBox,
  { id, secret, previous_secrets: stored }: StoredSecrets,
  { now, counts }: { now: number; counts: RenewalCounts },
): Promise<void> {
  const encrypt = (text: string): string => {
    const key = secrets.keyOf(text);
    if (key === 'UNKNOWN') counts.unknownKeys++;
    if (key !== 'OTHER') return text;
    counts.secrets++;
    return secrets.encrypt(secrets.decrypt(text, id), id);
  };
  const valid = stored.filter(({ until }) => now < Date.parse(until));
  const renewed = [encrypt(secret), JSON.stringify(valid.map((each) => ({ ...each, secret: encrypt(each.secret) })))];
  const isChanged = renewed[0] !== secret || renewed[1] !== JSON.stringify(stored);
  if (isChanged) await em.execute(UPDATE, [...renewed, id]);
}

/** Returns the job that renews the secrets of every region every ten minutes, by the database's clock. */
export const createSecretRenewalJob = (databases: Databases, secrets: SecretBox): Job => ({
  name: 'renew webhook secrets',
  everyMs: INTERVAL_MS,
  run: async (region) => renewSecrets(databases[region], secrets, await databases[region].now()),
});
