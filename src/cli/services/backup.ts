import type pg from 'pg';
import { connectWithSettings, DIRECT_SETTINGS } from '../../database/pool/session-settings.ts';
import { countWrongTotals } from '../../database/write/list-counters.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import { type BucketOwner, claimBucket, readBucketOwner } from '../../domain/uploads/bucket-owner.ts';
import type { Storage } from '../../storage/storage.ts';

/** Objects of the store that are looked up at a time. */
const CONCURRENCY = 16;
/** Missing objects that the result names. */
const MAX_NAMED = 20;
const BATCH_SIZE = 1_000;

/** Columns with a storage key. Uploads are not among them: their bytes need not have been sent. */
const KEY_COLUMNS = [
  ['photo', 'key'],
  ['builder', 'logo_key'],
  ['app_user', 'picture_key'],
  ['swms_document', 'document_key'],
  ['insurance', 'document_key'],
] as const;

interface BackupReport {
  /** Whether nothing is missing or wrong. */
  intact: boolean;
  migration: string | null;
  /** Rows by table. */
  rows: Record<string, number>;
  /** Wrong totals by list; `totals rebuild` corrects them. */
  wrongTotals: Record<string, number>;
  objects: {
    /** Keys that rows refer to. */
    referenced: number;
    present: number;
    bytes: number;
    /** The first of the keys that are not in the store. */
    missing: string[];
  };
  /** Deployment that the store belongs to; null for none. */
  storeOwner: BucketOwner | null;
  eventLog: {
    /** Null for an empty log. */
    epoch: string | null;
    /** Whether the database is not the one that numbered the last event, so that numbering renews the epoch and all cursors expire. */
    renewsEpoch: boolean;
  };
}

/** Checks that a restored region is complete: rows, totals, and the bytes that rows refer to. Changes nothing. */
export async function verifyBackup({ database }: ChangeContext, storage: Storage): Promise<BackupReport> {
  const client = await connectWithSettings(database.url, DIRECT_SETTINGS);
  try {
    // One snapshot for all counts, while the service may be writing.
    await client.query('begin isolation level repeatable read read only');
    await client.query('set local statement_timeout = 0');
    const rows = await countRows(client);
    const wrongTotals = await countWrongTotals(client);
    const objects = await findObjects(client, storage);
    const { rows: migrations } = await client.query('select name from mikro_orm_migrations order by id desc limit 1');
    const isComplete = objects.present === objects.referenced;
    return {
      intact: isComplete && Object.values(wrongTotals).every((count) => count === 0),
      migration: migrations[0]?.name ?? null,
      rows,
      wrongTotals,
      objects,
      storeOwner: await readBucketOwner(storage),
      eventLog: await readEventLog(client),
    };
  } finally {
    await client.end();
  }
}

/** Makes the store this deployment's, so that its sweep removes unused objects. Returns the previous owner. */
export async function claimStore({ database }: ChangeContext, storage: Storage) {
  return { previousOwner: await claimBucket(database, storage), owner: (await readBucketOwner(storage))! };
}

async function countRows(client: pg.Client): Promise<Record<string, number>> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await client.query<{ count: number }>(`select count(*)::float8 as count from public."${name}"`);
    counts[name] = rows[0]!.count;
  }
  return counts;
}

async function readEventLog(client: pg.Client): Promise<BackupReport['eventLog']> {
  const { rows } = await client.query<{ epoch: string; renewsEpoch: boolean }>(
    `select epoch, not pg_is_in_recovery() and origin <> event_log_origin() as "renewsEpoch" from event_log`,
  );
  return rows[0] ?? { epoch: null, renewsEpoch: true };
}

async function findObjects(client: pg.Client, storage: Storage): Promise<BackupReport['objects']> {
  const found = { referenced: 0, present: 0, bytes: 0, missing: [] as string[] };
  for (const [table, column] of KEY_COLUMNS) {
    await client.query(
      `declare keys no scroll cursor for select ${column} as key from ${table} where ${column} is not null`,
    );
    for (;;) {
      const { rows } = await client.query<{ key: string }>(`fetch ${BATCH_SIZE} from keys`);
      if (rows.length === 0) break;
      for (let at = 0; at < rows.length; at += CONCURRENCY) {
        const keys = rows.slice(at, at + CONCURRENCY).map(({ key }) => key);
        const objects = await Promise.all(keys.map((key) => storage.byteStore.stat(key)));
        for (const [index, object] of objects.entries()) {
          found.referenced++;
          if (object) {
            found.present++;
            found.bytes += object.size;
          } else if (found.missing.length < MAX_NAMED) found.missing.push(keys[index]!);
        }
      }
    }
    await client.query('close keys');
  }
  return found;
}
