import type pg from 'pg';
import { fileDefinitions } from '../../data-transfer/file-definitions.ts';
import { createFileMappings } from '../../data-transfer/file-mapping.ts';
import type { Database } from '../../database/database.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../../database/pool/session-settings.ts';
import { countWrongTotals } from '../../database/write/list-counters.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import { claimBucket, readBucketOwner } from '../../domain/uploads/bucket-owner.ts';
import type { Storage } from '../../storage/storage.ts';

/** Missing objects that the result names. */
const MAX_NAMED = 20;
/** Objects of the store that are looked up at a time. */
const BATCH_SIZE = 16;

/**
 * Checks that a restored region is complete: rows, totals, and the bytes that rows refer to. Changes nothing. SQL: it counts every table in
 * one snapshot, also those without an entity.
 */
export async function verifyBackup({ database }: ChangeContext, storage: Storage) {
  const client = await connectWithSettings(database.url, DIRECT_SETTINGS);
  try {
    // One snapshot for all counts, while the service may be writing.
    await client.query('begin isolation level repeatable read read only');
    await client.query('set local statement_timeout = 0');
    const rows = await countRows(client);
    const wrongTotals = await countWrongTotals(client);
    const objects = await findObjects(client, storage, database.metadata);
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

/** Returns the epoch, null for an empty log, and whether the database is not the one that numbered the last event, so that all cursors expire. */
async function readEventLog(client: pg.Client) {
  const { rows } = await client.query<{ epoch: string | null; renewsEpoch: boolean }>(
    `select epoch, not pg_is_in_recovery() and origin <> event_log_origin() as "renewsEpoch" from event_log`,
  );
  return rows[0] ?? { epoch: null, renewsEpoch: true };
}

/** Counts the objects of the transfer format. Uploads are not among them: their bytes need not have been sent. */
async function findObjects(client: pg.Client, storage: Storage, metadata: Database['metadata']) {
  const found = { referenced: 0, present: 0, bytes: 0, missing: [] as string[] };
  const selects = createFileMappings(metadata, fileDefinitions).flatMap(({ table, storageKeys, fileSize }) =>
    storageKeys.map(({ name }) => `select ${name} as key, ${fileSize} as size from ${table} where ${name} is not null`),
  );
  await client.query(`declare keys no scroll cursor for ${selects.join(' union all ')}`);
  for (;;) {
    const { rows } = await client.query<{ key: string; size: number | null }>(`fetch ${BATCH_SIZE} from keys`);
    if (rows.length === 0) return found;
    const objects = await Promise.all(rows.map(({ key }) => storage.byteStore.stat(key)));
    for (const [index, object] of objects.entries()) {
      found.referenced++;
      // Of another size is a file whose copy was interrupted.
      if (object && (rows[index]!.size ?? object.size) === object.size) {
        found.present++;
        found.bytes += object.size;
      } else if (found.missing.length < MAX_NAMED) found.missing.push(rows[index]!.key);
    }
  }
}
