import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { Upload } from '../../../entities/upload.entity.ts';
import type { Database } from '../../database/database.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { ApiError, uploadQuotaExceeded } from '../../shared/errors.ts';
import { SIGNED_URL_SECONDS, type Storage } from '../../storage/storage.ts';
import type { OperationContext } from '../operation-context.ts';
import { sumBytes } from '../snapshots/snapshot-claims.ts';

/** A PUT that began before its URL expired may take this long. */
const GRACE_MS = SIGNED_URL_SECONDS * 1000;
/** Expired uploads per query. */
const BATCH_SIZE = 500;
const CONCURRENCY = 8;
/** Maximum batches for a request over its quota; the hourly sweep has no maximum. */
const MAX_BATCHES = 4;

/** Condition of the uploads that count against a quota. */
const COUNTED = { consumedAt: null, releasedAt: null };

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
  if ((await readQuotaUse(em, integratorId)) + bytes > uploadQuota) throw uploadQuotaExceeded(uploadQuota);
}

/** Returns the bytes of unused uploads and of snapshots. */
export async function readQuotaUse(em: EntityManager, integratorId: string | null): Promise<number> {
  const snapshots = raw(sumBytes('integrator_id = ?'), [integratorId]);
  const sum = em.createQueryBuilder(Upload).select([raw('coalesce(sum(size), 0) as bytes'), snapshots.as('kept')]);
  const use = await sum.where({ ...COUNTED, integratorId }).execute<{ bytes: string; kept: string }>('get');
  return Number(use.bytes) + Number(use.kept);
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
  let count = 0;
  const em = database.fork();
  for (let batches = 0; !owner || batches < MAX_BATCHES; batches++) {
    const expired = { ...COUNTED, ...owner, expiresAt: { $lt: new Date(now - GRACE_MS).toISOString() } };
    const options = { orderBy: { expiresAt: 'asc' }, limit: BATCH_SIZE, disableIdentityMap: true } as const;
    const rows = await em.find(Upload, expired, options);
    const sent = new Set<string>();
    const waiting = rows.map(({ key }) => key);
    const lookUp = async () => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
        if (await storage.byteStore.stat(key)) sent.add(key);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, lookUp));
    const unsent = rows.filter(({ key }) => !sent.has(key)).map(({ key }) => key);
    const released = { releasedAt: new Date(now).toISOString() };
    // A request over its quota writes with a permit of its share, as any other does.
    await database.transaction(async (write) => {
      await write.nativeUpdate(Upload, { key: { $in: [...sent] } }, { expiresAt: null });
      await write.nativeUpdate(Upload, { key: { $in: unsent }, consumedAt: null }, released);
    });
    count += unsent.length;
    if (rows.length < BATCH_SIZE) break;
  }
  return count;
}
