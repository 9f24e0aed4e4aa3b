import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../../database/database.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { ApiError, uploadQuotaExceeded } from '../../shared/errors.ts';
import { SIGNED_URL_SECONDS, type Storage } from '../../storage/storage.ts';
import type { OperationContext } from '../operation-context.ts';

/** A PUT that began before its URL expired may still be on its way for as long. */
const GRACE_MS = SIGNED_URL_SECONDS * 1000;
/** Expired uploads that are looked up at a time. */
const BATCH = 500;
const AT_A_TIME = 8;
/** That a request over its quota waits for; the hourly sweep looks up the others. */
const MAX_BATCHES = 4;

const ownerOf = ({ caller }: OperationContext) => caller.integratorId ?? '';

/** Throws 429 where that many more bytes are over the quota. Without a lock: to refuse a body before it is received. */
export async function checkQuota(context: OperationContext, bytes: number): Promise<void> {
  await withRelease(context, async () => {
    const sql = 'select coalesce(sum(bytes), 0) as bytes from upload_usage where integrator_id = ?';
    const [row] = (await context.database.fork().execute(sql, [ownerOf(context)])) as { bytes: string }[];
    requireRoom(context, Number(row!.bytes) + bytes);
  });
}

/**
 * Runs the work, which throws where it is over the quota, and once more after announced uploads that never came have stopped
 * counting.
 */
export async function withRelease(context: OperationContext, work: () => Promise<void>): Promise<void> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'UPLOAD_QUOTA')) throw error;
    const { database, storage, clock } = context;
    const owner = { integratorId: context.caller.integratorId };
    if ((await releaseUnsent(database, storage, clock.now(), owner)) === 0) throw error;
    await work();
  }
}

/**
 * Adds the bytes to the usage, or throws 429. Uploads of one integrator wait for each other until their transactions end, so that
 * their sum never passes the quota; uses of uploads do not wait, they only lower it (UPL-27).
 */
export async function takeQuota(em: EntityManager, context: OperationContext, bytes: number): Promise<void> {
  const owner = ownerOf(context);
  await acquireRecordLock(em, `upload usage ${owner}`);
  // The trigger of the table adds the uploads themselves.
  const [row] = (await em.execute(
    `with gathered as (delete from upload_usage where integrator_id = ? returning bytes),
       total as (select coalesce(sum(bytes), 0) as bytes from gathered),
       kept as (insert into upload_usage (integrator_id, bytes) select ?, bytes from total where bytes <> 0)
     select bytes from total`,
    [owner, owner],
  )) as { bytes: string }[];
  requireRoom(context, Number(row!.bytes) + bytes);
}

function requireRoom({ uploadQuota }: OperationContext, bytes: number): void {
  if (uploadQuota !== null && bytes > uploadQuota) throw uploadQuotaExceeded(uploadQuota);
}

/**
 * Ends the counting of uploads whose URL has expired without any bytes. Only the store knows: on S3 clients send their bytes there.
 *
 * @param owner restricts it to one integrator's uploads, or those of internal clients.
 * @returns how many uploads no longer count.
 */
export async function releaseUnsent(
  database: Database,
  storage: Storage,
  now: number,
  owner?: { integratorId: string | null },
): Promise<number> {
  let released = 0;
  const em = database.fork();
  for (let batches = 0; !owner || batches < MAX_BATCHES; batches++) {
    const rows = (await em.execute(
      `select key from upload where consumed_at is null and released_at is null and expires_at < ?
         ${owner ? 'and integrator_id is not distinct from ?' : ''} order by expires_at limit ${BATCH}`,
      [new Date(now - GRACE_MS).toISOString(), ...(owner ? [owner.integratorId] : [])],
    )) as { key: string }[];
    const sent = new Set<string>();
    const waiting = rows.map(({ key }) => key);
    const lookUp = async () => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
        if (await storage.bytes.stat(key)) sent.add(key);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, lookUp));
    const unsent = rows.filter(({ key }) => !sent.has(key)).map(({ key }) => key);
    const some = 'key in (select json_array_elements_text(?::json))';
    await em.execute(`update upload set expires_at = null where ${some}`, [JSON.stringify([...sent])]);
    await em.execute(`update upload set released_at = ? where ${some} and consumed_at is null`, [
      new Date(now).toISOString(),
      JSON.stringify(unsent),
    ]);
    released += unsent.length;
    if (rows.length < BATCH) break;
  }
  return released;
}
