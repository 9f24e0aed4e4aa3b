import type pg from 'pg';
import type { Database, Databases } from '../../database/database.ts';
import { COMMON_SETTINGS, connectWithSettings } from '../../database/pool/session-settings.ts';
import { tryWithAdvisoryLock } from '../../database/write/advisory-lock.ts';
import type { Job } from '../../shared/jobs.ts';
import type { Storage, Storages } from '../../storage/storage.ts';
import { releaseUnsent } from './quota.ts';

const HOUR_MS = 3_600_000;
const EVERY_MS = HOUR_MS;
/** How long an upload may wait for its photo (UPL-29). */
const UPLOAD_MS = 7 * 24 * HOUR_MS;
/** Bytes come before the row that names them; an operation that far behind has failed. */
const GRACE_MS = 24 * HOUR_MS;
const BATCH = 500;

/** One instance at a time. */
const LOCK = 'builder-integration-api storage sweep';

/** Which of these keys no row names, by the folder that the keys stand in. */
const UNNAMED: Record<string, string> = {
  uploads: unnamedBy('select from upload where upload.key = k and upload.consumed_at is null'),
  photos: unnamedBy('select from photo where photo.key = k'),
  logos: unnamedBy('select from builder where logo_key = k'),
  pictures: unnamedBy('select from app_user where picture_key = k'),
  documents: unnamedBy(
    'select from swms_document where document_key = k union all select from insurance where document_key = k',
  ),
};

function unnamedBy(row: string): string {
  return `select k from json_array_elements_text($1::json) k where not exists (${row})`;
}

export interface Swept {
  /** Uploads that were never used. */
  uploads: number;
  /** Announced uploads that were never sent, and no longer count against a quota. */
  released: number;
  /** Objects that no row names. */
  objects: number;
  /** Files that an operation has left behind. */
  files: number;
}

/**
 * Removes what nobody will ask for: uploads that were not used within 7 days, bytes that no row names, and leftovers of
 * operations that were cut off. A row's bytes are never removed (UPL-29, UPL-30). Null while another
 * instance does so.
 *
 * @param now Milliseconds since the epoch.
 */
export async function sweep(database: Database, storage: Storage, now: number): Promise<Swept | null> {
  return tryWithAdvisoryLock(database.url, LOCK, async (signal) => {
    // Beside the lock's connection, whose transaction stays open: what is deleted here has to last before the bytes go.
    const client = await connectWithSettings(database.url, COMMON_SETTINGS);
    try {
      const uploads = await dropUploads(client, now - UPLOAD_MS);
      const released = await releaseUnsent(database, storage, now);
      let objects = 0;
      for (const folder of Object.keys(UNNAMED)) objects += await dropObjects({ client, storage, signal }, folder, now);
      return { uploads, released, objects, files: await storage.spool.removeOlderThan(now - GRACE_MS) };
    } finally {
      await client.end();
    }
  });
}

interface SweepWork {
  client: pg.Client;
  storage: Storage;
  /** Aborts when the lock is lost. */
  signal: AbortSignal;
}

/** Their bytes are then named by no row. */
async function dropUploads(client: pg.Client, before: number): Promise<number> {
  // Locked by key first, in the order in which a bulk upsert locks its uploads.
  const sql = `with unused as materialized (
      select key from upload where created_at < $1 and consumed_at is null order by key for update)
    delete from upload where key in (select key from unused)`;
  return (await client.query(sql, [new Date(before).toISOString()])).rowCount ?? 0;
}

async function dropObjects({ client, storage, signal }: SweepWork, folder: string, now: number): Promise<number> {
  let removed = 0;
  let old: string[] = [];
  const removeUnnamed = async () => {
    const { rows } = await client.query<{ k: string }>(UNNAMED[folder]!, [JSON.stringify(old)]);
    signal.throwIfAborted();
    await storage.bytes.remove(rows.map(({ k }) => k));
    removed += rows.length;
    old = [];
  };
  for await (const { key, modifiedAt } of storage.bytes.list(`${folder}/`)) {
    if (modifiedAt < now - GRACE_MS) old.push(key);
    if (old.length === BATCH) await removeUnnamed();
  }
  if (old.length > 0) await removeUnnamed();
  return removed;
}

/**
 * Sweeps every hour. What is old is so by the database's clock: an instance whose own has jumped must not remove what others
 * are at work with.
 */
export const sweeping = (databases: Databases, storages: Storages): Job => ({
  name: 'sweep',
  everyMs: EVERY_MS,
  run: async (region) => sweep(databases[region], storages[region], await databases[region].now()),
});
