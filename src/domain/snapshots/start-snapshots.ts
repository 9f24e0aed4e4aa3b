import type { Databases } from '../../database/database.ts';
import { REGIONS } from '../../shared/regions.ts';
import { SizeLimitError } from '../../storage/spool.ts';
import type { Storages } from '../../storage/storage.ts';
import { repeatTask, type TaskLog } from '../repeated-task.ts';
import { endSnapshots, removeEndedFiles, toFolder } from './end-snapshots.ts';
import { ClaimLost, claimSnapshot, saveProgress } from './snapshot-claims.ts';
import { type SnapshotWriter, writeSnapshot } from './write-snapshot.ts';

const POLL_MS = 1_000;

/** Writes snapshots of each region, one after the other, until it is stopped. */
export function startSnapshots(
  databases: Databases,
  storages: Storages,
  options: Pick<SnapshotWriter, 'readList' | 'uploadQuota' | 'now'>,
  log: TaskLog,
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = REGIONS.map((region) => {
    const writer = { ...options, database: databases[region], storage: storages[region], signal };
    writer.database.replicas?.startMeasuring();
    const repeat = (name: string, run: () => Promise<number>) => repeatTask({ name, region, run }, log, signal);
    const write = async () => ((await writeNextSnapshot(writer)) ? 0 : POLL_MS);
    const end = () => endAndRemove(writer).then(() => POLL_MS);
    return Promise.all([repeat('write snapshots', write), repeat('end snapshots', end)]);
  });
  return async () => {
    stopping.abort();
    await Promise.all(running);
  };
}

/** Ends the snapshots that may not be kept, and deletes their files. */
export async function endAndRemove({ database, storage, now }: Pick<SnapshotWriter, 'database' | 'storage' | 'now'>) {
  await endSnapshots(database, now());
  await removeEndedFiles(database, storage);
}

/** Writes the snapshot that waits next. Returns whether there was one. A failed one is tried again when its lease ends. */
export async function writeNextSnapshot(writer: SnapshotWriter): Promise<boolean> {
  const { database, storage, signal } = writer;
  const snapshot = await claimSnapshot(database);
  if (!snapshot) return false;
  try {
    await writeSnapshot(writer, snapshot);
  } catch (error) {
    // Who ended it has removed the files that were there then.
    if (error instanceof ClaimLost) await storage.removeFolder(toFolder(snapshot, snapshot.attempts));
    else if (signal.aborted)
      await saveProgress(database, snapshot, { status: 'PENDING', attempts: snapshot.attempts - 1 });
    else if (error instanceof SizeLimitError) {
      const finishedAt = new Date(writer.now()).toISOString();
      await saveProgress(database, snapshot, { status: 'FAILED', finishedAt, files: [] });
    } else throw error;
  }
  return true;
}
