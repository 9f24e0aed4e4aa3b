import type { EntityManager } from '@mikro-orm/postgresql';
import type { Backlog } from '../../database/backlog.ts';
import type { Database } from '../../database/database.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { ApiError, uploadQuotaExceeded } from '../../shared/errors.ts';
import { SIGNED_URL_SECONDS, type Storage } from '../../storage/storage.ts';
import type { OperationContext } from '../operation-context.ts';

/** A PUT that began before its URL expired may take this long. */
const GRACE_MS = SIGNED_URL_SECONDS * 1000;
/** Expired uploads per query. */
const BATCH_SIZE = 500;
const CONCURRENCY = 8;
/** Maximum batches for a request over its quota; the hourly sweep has no maximum. */
const MAX_BATCHES = 4;

/** Uploads that no photo uses: the sweep deletes those of more than 7 days. */
export const unusedUploads: Backlog = {
  name: 'unused_uploads',
  statement: {
    name: 'backlog.unused_uploads',
    text: `select count(*), extract(epoch from now() - min(created_at)) from upload where consumed_at is null`,
  },
};

/** SQL condition of the uploads that count against a quota. */
const COUNTED = 'consumed_at is null and released_at is null';
/** SQL condition of the uploads of an integrator, whose id is a parameter, or of internal clients. */
const toOwnerSql = (integratorId: string | null) => `integrator_id ${integratorId === null ? 'is null' : '= ?'}`;
const toOwnerValues = (integratorId: string | null) => (integratorId === null ? [] : [integratorId]);

/** Throws `UPLOAD_QUOTA` if the additional bytes exceed the quota. Takes no lock; used to reject a body before it is received. */
export async function requireQuota(context: OperationContext, bytes: number): Promise<void> {
  await retryAfterFreeingQuota(context, () => requireWithinQuota(context.database.fork(), context, bytes));
}

/**
 * Runs the work. If it throws because of the quota, releases expired uploads without bytes and runs it once more.
 */
export async function retryAfterFreeingQuota(context: OperationContext, work: () => Promise<void>): Promise<void> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'UPLOAD_QUOTA')) throw error;
    const { database, storage, clock } = context;
    const owner = { integratorId: context.caller.integratorId };
    if ((await releaseUnsentUploads(database, storage, clock.now(), owner)) === 0) throw error;
    await work();
  }
}

/**
 * Throws `UPLOAD_QUOTA` if the additional bytes exceed the quota. Holds a lock of the integrator until the transaction ends, so that
 * concurrent uploads cannot exceed it together; consuming an upload takes no lock, because it only lowers the usage (UPL-27).
 */
export async function reserveQuota(em: EntityManager, context: OperationContext, bytes: number): Promise<void> {
  await acquireRecordLock(em, `upload usage ${context.caller.integratorId ?? ''}`);
  await requireWithinQuota(em, context, bytes);
}

async function requireWithinQuota(
  em: EntityManager,
  { caller: { integratorId }, uploadQuota }: OperationContext,
  bytes: number,
): Promise<void> {
  if (uploadQuota === null) return;
  const [row] = (await em.execute(
    `select coalesce(sum(size), 0) as bytes from upload where ${COUNTED} and ${toOwnerSql(integratorId)}`,
    toOwnerValues(integratorId),
  )) as { bytes: string }[];
  if (Number(row!.bytes) + bytes > uploadQuota) throw uploadQuotaExceeded(uploadQuota);
}

/**
 * Stops counting uploads whose URL has expired without stored bytes. Checks the storage, because clients send bytes to S3 directly.
 *
 * @param owner integrator whose uploads are released, null for internal clients; default all.
 * @returns how many uploads no longer count.
 */
export async function releaseUnsentUploads(
  database: Database,
  storage: Storage,
  now: number,
  owner?: { integratorId: string | null },
): Promise<number> {
  let released = 0;
  const em = database.fork();
  for (let batches = 0; !owner || batches < MAX_BATCHES; batches++) {
    const rows = (await em.execute(
      `select key from upload where ${COUNTED} and expires_at < ? ${owner ? `and ${toOwnerSql(owner.integratorId)}` : ''}
         order by expires_at limit ${BATCH_SIZE}`,
      [new Date(now - GRACE_MS).toISOString(), ...(owner ? toOwnerValues(owner.integratorId) : [])],
    )) as { key: string }[];
    const sent = new Set<string>();
    const waiting = rows.map(({ key }) => key);
    const lookUp = async () => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
        if (await storage.byteStore.stat(key)) sent.add(key);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, lookUp));
    const unsent = rows.filter(({ key }) => !sent.has(key)).map(({ key }) => key);
    const some = 'key in (select json_array_elements_text(?::json))';
    await em.execute(`update upload set expires_at = null where ${some}`, [JSON.stringify([...sent])]);
    await em.execute(`update upload set released_at = ? where ${some} and consumed_at is null`, [
      new Date(now).toISOString(),
      JSON.stringify(unsent),
    ]);
    released += unsent.length;
    if (rows.length < BATCH_SIZE) break;
  }
  return released;
}
