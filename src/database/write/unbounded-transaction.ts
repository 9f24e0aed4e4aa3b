import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../database.ts';
import { createOrm } from '../orm.ts';
import { DIRECT_SETTINGS, toPoolConfig } from '../pool/session-settings.ts';
import { retryTransaction } from './retry.ts';

/**
 * Runs the work in one transaction on a new connection without the time limits of requests, and again when a concurrent transaction
 * prevented it. For operations that read or change many rows.
 */
export async function runUnboundedTransaction<T>(
  { url }: Pick<Database, 'url'>,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  const orm = createOrm(url, { driverOptions: toPoolConfig(DIRECT_SETTINGS), pool: { min: 0, max: 1 } });
  try {
    return await retryTransaction(() => orm.em.fork().transactional(work));
  } finally {
    await orm.close();
  }
}
