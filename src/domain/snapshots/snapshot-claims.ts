import { Snapshot, type SnapshotFile, type SnapshotProgress } from '../../../entities/snapshot.entity.ts';
import type { Backlog } from '../../database/backlog.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { IS_ALLOWED } from './end-snapshots.ts';

/** Milliseconds for which a claimed snapshot is left to its process. After a kill it waits so long. */
const LEASE_MS = 30_000;

/** Lifetime of the files of a snapshot (SNP-5). */
const FILES_MS = 24 * 3_600_000;

const LEASE = `leased_until = clock_timestamp() + interval '${LEASE_MS} ms'`;

/** The snapshot has ended, or another process writes it. */
export class ClaimLost extends Error {
  override name = 'ClaimLost';
}

/** What a process has written of a snapshot. */
export interface SnapshotState {
  eventCursor: string;
  erasures: string;
  progress: SnapshotProgress;
  files: SnapshotFile[];
}

/** Integrators take turns: the lease of a snapshot says when its integrator last had one. */
const CLAIM: Statement = {
  name: 'snapshots.claim',
  text: `update snapshot set status = 'RUNNING', attempts = attempts + 1, has_files = true, files = '[]', bytes = 0, ${LEASE}
    where id = (select id from snapshot waiting
      where status = 'PENDING' or (status = 'RUNNING' and leased_until < clock_timestamp())
      order by (select max(leased_until) from snapshot other where other.integrator_id = waiting.integrator_id) nulls first, created_at
      limit 1 for update skip locked)
    returning id`,
};

/** Claims the next snapshot that waits, or whose process was killed; null where there is none. */
export async function claimSnapshot(database: Database): Promise<Snapshot | null> {
  const [row] = await database.backgroundRunner.run(CLAIM, []);
  return row ? database.fork().findOne(Snapshot, { id: row[0]! }) : null;
}

/** Snapshots that wait or are written. SQL: a figure. */
export const pendingSnapshots: Backlog = {
  name: 'snapshots',
  statement: {
    name: 'backlog.snapshots',
    text: `select count(*), extract(epoch from now() - min(created_at)) from snapshot where status in ('PENDING', 'RUNNING')`,
  },
};

export const storedSnapshots: Statement = {
  name: 'snapshots.stored',
  text: `select coalesce(sum(bytes), 0) from snapshot where has_files`,
};

const SAVE: Statement = {
  name: 'snapshots.save',
  text: `update snapshot set ${LEASE}, event_cursor = $3, erasures = $4, progress = $5::jsonb, files = $6::jsonb, bytes = $7::bigint
    where id = $1 and attempts = $2::int and status = 'RUNNING' and ${IS_ALLOWED} returning id`,
};

/** Stores the progress and keeps the claim. Throws `ClaimLost` where it is lost, or where the client may not read the records any more (SNP-3). */
export async function saveProgress(
  { backgroundRunner }: Database,
  { id, attempts }: Snapshot,
  { eventCursor, erasures, progress, files }: SnapshotState,
): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const values = [id, attempts, eventCursor, erasures, JSON.stringify(progress), JSON.stringify(files), bytes];
  const [row] = await backgroundRunner.run(SAVE, values.map(String));
  if (!row) throw new ClaimLost(`Snapshot ${id} has ended.`);
}

/** Makes the files available for a day. */
export async function completeSnapshot(
  database: Database,
  snapshot: Snapshot,
  state: SnapshotState,
  now: number,
): Promise<void> {
  await saveProgress(database, snapshot, state);
  const { id, attempts } = snapshot;
  const times = { finishedAt: new Date(now).toISOString(), expiresAt: new Date(now + FILES_MS).toISOString() };
  const isComplete = await database
    .fork()
    .nativeUpdate(Snapshot, { id, attempts, status: 'RUNNING' }, { status: 'READY', ...times });
  if (!isComplete) throw new ClaimLost(`Snapshot ${id} has ended.`);
}

/** Leaves a snapshot to any process, without an attempt. */
export async function releaseSnapshot(database: Database, { id, attempts }: Snapshot): Promise<void> {
  const released = { status: 'PENDING', attempts: attempts - 1 } as const;
  await database.fork().nativeUpdate(Snapshot, { id, attempts, status: 'RUNNING' }, released);
}

/** Fails a snapshot that no further attempt could complete. */
export async function failSnapshot(database: Database, { id, attempts }: Snapshot, now: number): Promise<void> {
  const failed = { status: 'FAILED', finishedAt: new Date(now).toISOString(), files: [], bytes: '0' } as const;
  await database.fork().nativeUpdate(Snapshot, { id, attempts, status: 'RUNNING' }, failed as never);
}
