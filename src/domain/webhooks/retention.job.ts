import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database, Databases } from '../../database/database.ts';
import { tryTransactionLock } from '../../database/write/advisory-lock.ts';
import type { Job } from '../../shared/jobs.ts';
import { type SecretBox, UnknownKeyError } from './secret-box.ts';

/** Days that finished deliveries are kept (WHK-12). */
export const RETENTION_DAYS = 30;

const INTERVAL_MS = 10 * 60_000;

/** Rows that one transaction deletes. */
const BATCH = 5_000;

/** One instance cleans up a region at a time; others skip their run. */
const LOCK = 'builder-integration-api webhook retention';

const EXPIRED = `delete from webhook_delivery where id in (select id from webhook_delivery
  where created_at < ? and status <> 'PENDING' order by created_at limit ${BATCH})`;

const DELETED = `delete from webhook_delivery where id in (select delivery.id from webhook_delivery delivery
  join webhook_endpoint endpoint on endpoint.id = delivery.endpoint_id where endpoint.deleted_at is not null limit ${BATCH})`;

const EMPTY = `delete from webhook_endpoint endpoint where deleted_at is not null
  and not exists (select from webhook_delivery where endpoint_id = endpoint.id)`;

/** Numbers of removed rows and of secrets that were encrypted anew; null while another instance does the work. */
export interface RetentionCounts {
  deliveries: number;
  endpoints: number;
  secrets: number;
}

/** Removes expired deliveries and deleted endpoints, and encrypts secrets with the first key that an earlier one has encrypted. */
export async function cleanUpWebhooks(
  database: Database,
  secrets: SecretBox,
  now: number,
): Promise<RetentionCounts | null> {
  const before = new Date(now - RETENTION_DAYS * 86_400_000).toISOString();
  const counts: RetentionCounts = { deliveries: 0, endpoints: 0, secrets: 0 };
  for (let removed = BATCH; removed >= BATCH; ) {
    const found = await database.transaction(async (em) => {
      if (!(await tryTransactionLock(em, LOCK))) return null;
      return (await run(em, EXPIRED, [before])) + (await run(em, DELETED));
    });
    if (found === null) return null;
    removed = found;
    counts.deliveries += removed;
  }
  await database.transaction(async (em) => {
    counts.endpoints = await run(em, EMPTY);
    counts.secrets = await encryptAnew(em, secrets);
  });
  return counts;
}

interface StoredSecrets {
  id: string;
  secret: string;
  previous_secret: string | null;
}

/** After the first key has changed, so that the other can be removed from the settings. */
async function encryptAnew(em: EntityManager, secrets: SecretBox): Promise<number> {
  const select = `select id, secret, previous_secret from webhook_endpoint
    where not starts_with(secret, ?) or not starts_with(previous_secret, ?) limit 1000 for update skip locked`;
  const rows = (await em.execute(select, [secrets.currentPrefix, secrets.currentPrefix])) as unknown as StoredSecrets[];
  let count = 0;
  for (const { id, secret, previous_secret: previous } of rows) {
    try {
      const renew = (text: string) => secrets.encrypt(secrets.decrypt(text, id), id);
      const values = [renew(secret), previous === null ? null : renew(previous), id];
      await em.execute('update webhook_endpoint set secret = ?, previous_secret = ? where id = ?', values);
      count++;
    } catch (error) {
      // The key was removed too early. The endpoint needs a new secret.
      if (!(error instanceof UnknownKeyError)) throw error;
    }
  }
  return count;
}

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
