import type { EntityManager } from '@mikro-orm/postgresql';
import type { PreviousSecret } from '../../../entities/webhook-endpoint.entity.ts';
import type { Database, Databases } from '../../database/database.ts';
import { tryTransactionLock } from '../../database/write/advisory-lock.ts';
import type { Job } from '../../shared/jobs.ts';
import type { SecretBox } from './secret-box.ts';

/** Days that finished deliveries are kept (WHK-12). */
export const RETENTION_DAYS = 30;

const INTERVAL_MS = 10 * 60_000;

/** Rows that one transaction deletes. */
const BATCH = 5_000;

/** Endpoints whose secrets one transaction encrypts anew. */
const SECRETS_BATCH = 500;

/** One instance cleans up a region at a time; others skip their run. */
const LOCK = 'builder-integration-api webhook retention';

const EXPIRED = `delete from webhook_delivery where id in (select id from webhook_delivery
  where created_at < ? and status <> 'PENDING' order by created_at limit ${BATCH})`;

const DELETED = `delete from webhook_delivery where id in (select delivery.id from webhook_delivery delivery
  join webhook_endpoint endpoint on endpoint.id = delivery.endpoint_id where endpoint.deleted_at is not null limit ${BATCH})`;

const EMPTY = `delete from webhook_endpoint endpoint where deleted_at is not null
  and not exists (select from webhook_delivery where endpoint_id = endpoint.id)`;

/** Numbers of removed rows and of secrets that were encrypted anew; null while another instance does the work. */
interface RetentionCounts {
  deliveries: number;
  endpoints: number;
  secrets: number;
  /** Secrets that no configured key decrypts. */
  unknownKeys: number;
}

/** Removes expired deliveries and deleted endpoints, and encrypts secrets with the first key that an earlier one has encrypted. */
export async function cleanUpWebhooks(
  database: Database,
  secrets: SecretBox,
  now: number,
): Promise<RetentionCounts | null> {
  const before = new Date(now - RETENTION_DAYS * 86_400_000).toISOString();
  const counts: RetentionCounts = { deliveries: 0, endpoints: 0, secrets: 0, unknownKeys: 0 };
  for (let removed = BATCH; removed >= BATCH; ) {
    const found = await database.transaction(async (em) => {
      if (!(await tryTransactionLock(em, LOCK))) return null;
      return (await run(em, EXPIRED, [before])) + (await run(em, DELETED));
    });
    if (found === null) return null;
    removed = found;
    counts.deliveries += removed;
  }
  counts.endpoints = await database.transaction((em) => run(em, EMPTY));
  return { ...counts, ...(await encryptAnew(database, secrets, now)) };
}

interface StoredSecrets {
  id: string;
  secret: string;
  previous_secrets: PreviousSecret[];
}

const SECRETS = `select id, secret, previous_secrets from webhook_endpoint where id > ? order by id limit ${SECRETS_BATCH} for update skip locked`;

/** After the first key has changed, so that the other can be removed from the settings. */
async function encryptAnew(
  database: Database,
  secrets: SecretBox,
  now: number,
): Promise<Pick<RetentionCounts, 'secrets' | 'unknownKeys'>> {
  const counts = { secrets: 0, unknownKeys: 0 };
  for (let after = '', read = SECRETS_BATCH; read === SECRETS_BATCH; ) {
    const rows = await database.transaction(async (em) => {
      const found = (await em.execute(SECRETS, [after])) as unknown as StoredSecrets[];
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
  { now, counts }: { now: number; counts: Pick<RetentionCounts, 'secrets' | 'unknownKeys'> },
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
  if (isChanged) await em.execute(SET_SECRETS, [...renewed, id]);
}

const SET_SECRETS = 'update webhook_endpoint set secret = ?, previous_secrets = ?::jsonb where id = ?';

async function run(em: EntityManager, sql: string, values: unknown[] = []): Promise<number> {
  const { affectedRows } = await em.execute<{ affectedRows: number }>(sql, values, 'run');
  return affectedRows;
}

/** Returns the job that cleans up every region every ten minutes, by the database's clock. */
export const createWebhookRetentionJob = (databases: Databases, secrets: SecretBox): Job => ({
  name: 'webhook retention',
  everyMs: INTERVAL_MS,
  run: async (region) => cleanUpWebhooks(databases[region], secrets, await databases[region].now()),
});
