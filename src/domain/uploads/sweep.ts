import type pg from 'pg';
import type { Database, Databases } from '../../database/database.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../../database/pool/session-settings.ts';
import { tryWithAdvisoryLock } from '../../database/write/advisory-lock.ts';
import type { Job } from '../../shared/jobs.ts';
import type { Storage, Storages } from '../../storage/storage.ts';
import { RETENTION_RULES } from '../retention/retention-rules.ts';
import { requireOwnBucket } from './bucket-owner.ts';
import { releaseUnsentUploads } from './quota.ts';

const HOUR_MS = 3_600_000;
const INTERVAL_MS = HOUR_MS;
/** Lifetime of an unused upload (UPL-29). */
const UPLOAD_MS = RETENTION_RULES.uploads.days * 24 * HOUR_MS;
/** Objects are stored before the rows that refer to them; after this time the operation has failed. */
const GRACE_MS = RETENTION_RULES.objects.days * 24 * HOUR_MS;
const TEMPORARY_MS = RETENTION_RULES.temporaryFiles.days * 24 * HOUR_MS;
const BATCH_SIZE = 500;

/** Advisory lock: one instance sweeps at a time, and none during an import, whose rows it would not see. */
export const SWEEP_LOCK = 'builder-integration-api storage sweep';

const selectUnreferenced = (row: string): string =>
  `select k from json_array_elements_text($1::json) k where not exists (${row})`;

/** Selects the keys to which no row refers, by prefix in the storage; photos have copies of uploads. SQL: it compares a list of the store. */
const UNREFERENCED: Record<string, string> = {
  uploads: selectUnreferenced('select from upload where upload.key = k and upload.consumed_at is null'),
  photos: selectUnreferenced('select from photo where photo.key = k'),
  // renditions/{builder}/{photo}/{hash of the key}-{size}.webp
  renditions: selectUnreferenced(
    `select from photo where id = split_part(k, '/', 3) and builder_id = split_part(k, '/', 2)
      and split_part(split_part(k, '/', 4), '-', 1) = left(encode(sha256(convert_to(key, 'UTF8')), 'hex'), 16)`,
  ),
  snapshots: selectUnreferenced(
    "select from snapshot where has_files and starts_with(k, 'snapshots/' || builder_id || '/' || id || '/')",
  ),
  logos: selectUnreferenced('select from builder where logo_key = k'),
  pictures: selectUnreferenced('select from app_user where picture_key = k'),
  documents: selectUnreferenced(
    'select from swms_document where document_key = k union all select from insurance where document_key = k',
  ),
};

interface SweepResult {
  /** Deleted unused uploads. */
  uploads: number;
  /** Announced uploads without bytes that no longer count against a quota. */
  released: number;
  /** Deleted objects to which no row refers. */
  objects: number;
  /** Deleted temporary files. */
  files: number;
}

/**
 * Deletes uploads that were not used within 7 days, objects to which no row refers, and temporary files of interrupted operations
 * (UPL-29, UPL-30). Returns null if another instance is sweeping. Throws `ForeignBucketError` for the bucket of another deployment (UPL-34).
 *
 * @param now Milliseconds since the epoch.
 */
export async function sweep(database: Database, storage: Storage, now: number): Promise<SweepResult | null> {
  return tryWithAdvisoryLock(database.url, SWEEP_LOCK, async (signal) => {
    await requireOwnBucket(database, storage);
    // A second connection, because the transaction of the lock stays open: rows must be deleted durably before their objects.
    const client = await connectWithSettings(database.url, DIRECT_SETTINGS);
    try {
      const uploads = await deleteUnusedUploads(client, now - UPLOAD_MS);
      const released = await releaseUnsentUploads(database, storage, now);
      let objects = 0;
      for (const prefix of Object.keys(UNREFERENCED))
        objects += await deleteUnreferencedObjects({ client, storage, signal }, prefix, now);
      return { uploads, released, objects, files: await storage.spool.removeOlderThan(now - TEMPORARY_MS) };
    } finally {
      await client.end();
    }
  });
}

interface SweepWork {
  client: pg.Client;
  storage: Storage;
  /** Aborted when the lock is lost. */
  signal: AbortSignal;
}

/** Deletes the rows; `deleteUnreferencedObjects` deletes their objects. */
async function deleteUnusedUploads(client: pg.Client, before: number): Promise<number> {
  // Locks in the order of the keys, like a bulk upsert.
  const sql = `with unused as materialized (
      select key from upload where created_at < $1 and consumed_at is null order by key for update)
    delete from upload where key in (select key from unused)`;
  return (await client.query(sql, [new Date(before).toISOString()])).rowCount ?? 0;
}

async function deleteUnreferencedObjects(
  { client, storage, signal }: SweepWork,
  prefix: string,
  now: number,
): Promise<number> {
  let removed = 0;
  let candidates: string[] = [];
  const removeUnreferenced = async () => {
    const { rows } = await client.query<{ k: string }>(UNREFERENCED[prefix]!, [JSON.stringify(candidates)]);
    signal.throwIfAborted();
    await storage.byteStore.remove(rows.map(({ k }) => k));
    removed += rows.length;
    candidates = [];
  };
  for await (const { key, modifiedAt } of storage.byteStore.list(`${prefix}/`)) {
    if (modifiedAt < now - GRACE_MS) candidates.push(key);
    if (candidates.length === BATCH_SIZE) await removeUnreferenced();
  }
  if (candidates.length > 0) await removeUnreferenced();
  return removed;
}

/**
 * Creates the hourly job. It uses the clock of the database, because an instance with a wrong clock must not delete objects in use.
 */
export const createSweepJob = (databases: Databases, storages: Storages): Job => ({
  name: 'sweep',
  everyMs: INTERVAL_MS,
  run: async (region) => sweep(databases[region], storages[region], await databases[region].now()),
});
