import { type EntityData, raw } from '@mikro-orm/core';
import { Snapshot } from '../../../entities/snapshot.entity.ts';
import type { Database } from '../../database/database.ts';
import { type Statement, statement } from '../../database/pool/pg-pipeline.ts';
import { IS_ALLOWED } from './end-snapshots.ts';

/** Milliseconds for which a claimed snapshot is left to its process. After a kill it waits so long. */
const LEASE_MS = 30_000;

const LEASE = `clock_timestamp() + interval '${LEASE_MS} ms'`;

/** The snapshot has ended, or another process writes it. */
export class ClaimLost extends Error {
  override name = 'ClaimLost';
}

/** Integrators take turns: the lease of a snapshot says when its integrator last had one. */
const CLAIM = statement('snapshots.claim')`
  update snapshot set status = 'RUNNING', attempts = attempts + 1, has_files = true, files = '[]', leased_until = ${LEASE}
  where id = (select id from snapshot waiting
    where status = 'PENDING' or (status = 'RUNNING' and leased_until < clock_timestamp())
    order by (select max(leased_until) from snapshot other where other.integrator_id = waiting.integrator_id) nulls first, created_at
    limit 1 for update skip locked)
  returning id`;

/** Claims the next snapshot that waits, or whose process was killed; null where there is none. */
export async function claimSnapshot(database: Database): Promise<Snapshot | null> {
  const [row] = await database.backgroundRunner.run(CLAIM, []);
  return row ? database.fork().findOne(Snapshot, { id: row[0]! }) : null;
}

/** Bytes of the files of the matching snapshots, which count against the quotas of integrators. SQL: a figure. */
export const sumBytes = (where: string) =>
  `(select coalesce(sum((file->>'bytes')::bigint), 0) from snapshot, jsonb_array_elements(files) file where ${where})`;

export const storedSnapshots: Statement = { name: 'snapshots.stored', text: `select ${sumBytes('true')}` };

/**
 * Stores what is written, with changes of the state, and keeps the claim. Throws `ClaimLost` where it is lost, or where the client may not read
 * the records any more (SNP-3).
 */
export async function saveProgress(
  database: Database,
  { id, attempts, eventCursor, erasures, progress, files }: Snapshot,
  changes: EntityData<Snapshot> = {},
): Promise<void> {
  const where = { id, attempts, status: 'RUNNING', [raw(IS_ALLOWED)]: [] } as const;
  const stored = { leasedUntil: raw(LEASE), eventCursor, erasures, progress, files, ...changes };
  if ((await database.fork().nativeUpdate(Snapshot, where, stored)) === 0)
    throw new ClaimLost(`Snapshot ${id} has ended.`);
}
