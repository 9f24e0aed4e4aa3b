import type { Databases } from '../../database/database.ts';
import { SizeLimitError } from '../../storage/spool.ts';
import type { Storages } from '../../storage/storage.ts';
import { repeatInRegions, type TaskLog } from '../repeated-task.ts';
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
  const repeat = (name: string, run: (writer: SnapshotWriter) => Promise<number>) =>
    repeatInRegions(name, log, (region, signal) => {
      const writer = { ...options, database: databases[region], storage: storages[region], signal };
      writer.database.replicas?.startMeasuring();
      return () => run(writer);
    });
  const stops = [
    repeat('write snapshots', async (writer) => ((await writeNextSnapshot(writer)) ? 0 : POLL_MS)),
    repeat('end snapshots', (writer) => endAndRemove(writer).then(() => POLL_MS)),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
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
