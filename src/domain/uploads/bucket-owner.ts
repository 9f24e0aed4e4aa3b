import { Readable } from 'node:stream';
import type { Database } from '../../database/database.ts';
import { OperatorError } from '../../shared/operator-error.ts';
import type { Storage } from '../../storage/storage.ts';

/** Object that names the deployment to which the bucket, or folder, belongs. The sweep never lists its key. */
const OWNER_KEY = 'deployment.json';
const MAX_BYTES = 10_000;

/** What a deployment is recognized by. */
export interface BucketOwner {
  baseUrl: string;
  /**
   * PostgreSQL's system identifier, timeline and database. A copy that was restored to a point in time has another timeline, and one that
   * was restored from a dump another identifier.
   */
  database: string;
}

/** A bucket of another deployment. The message is for the operator. */
export class ForeignBucketError extends OperatorError {
  override name = 'ForeignBucket';
}

/**
 * Throws `ForeignBucketError` unless the bucket belongs to this deployment. A bucket without an owner becomes this deployment's.
 * UPL-34.
 */
export async function requireOwnBucket(database: Database, storage: Storage): Promise<void> {
  const hasOwner = await rejectForeignBucket(database, storage);
  if (!hasOwner) await claimBucket(database, storage);
}

/** Throws `ForeignBucketError` for the bucket of another deployment. Returns whether it has an owner; one without is accepted. */
export async function rejectForeignBucket(database: Database, storage: Storage): Promise<boolean> {
  const owner = await readBucketOwner(storage);
  if (!owner) return false;
  const own = await describeDeployment(database, storage);
  if (owner.baseUrl !== own.baseUrl || owner.database !== own.database) {
    throw new ForeignBucketError(
      `The store of ${storage.region} belongs to ${owner.baseUrl} with the database ${owner.database}, and this is ${own.baseUrl} ` +
        `with the database ${own.database}: nothing was deleted. If no other deployment uses the store, for instance after a ` +
        'failover, run: builder-api storage claim',
    );
  }
  return true;
}

/** Makes the bucket this deployment's, and returns the previous owner; null for none. */
export async function claimBucket(database: Database, storage: Storage): Promise<BucketOwner | null> {
  const previous = await readBucketOwner(storage);
  const text = JSON.stringify(await describeDeployment(database, storage));
  await storage.store(OWNER_KEY, Readable.from([Buffer.from(text)]), 'application/json', MAX_BYTES);
  return previous;
}

/** Returns the deployment that the bucket belongs to; null for a bucket without an owner. */
export const readBucketOwner = (storage: Storage): Promise<BucketOwner | null> => storage.readJson(OWNER_KEY);

/** Returns what this deployment is recognized by. The database must accept writes. SQL: it asks the server. */
async function describeDeployment(database: Database, { signer }: Storage): Promise<BucketOwner> {
  const [row] = await database.slowRunner.run(
    {
      name: 'storage.deployment',
      text: `select (select system_identifier from pg_control_system()) || '/' ||
        left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || current_database()`,
    },
    [],
  );
  return { baseUrl: signer.baseUrl, database: row![0]! };
}
