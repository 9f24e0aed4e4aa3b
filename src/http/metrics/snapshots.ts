import type { Databases } from '../../database/database.ts';
import { storedSnapshots } from '../../domain/snapshots/snapshot-claims.ts';
import { fileCounts } from '../../domain/snapshots/write-snapshot.ts';
import { REGIONS } from '../../shared/regions.ts';
import { collectDurations, collectGauge, type Sample } from './collected.ts';

/** Registers the metrics of snapshots. */
export function registerSnapshotMetrics(databases: Databases): void {
  const what = 'files of snapshots that were written, with the pauses for others';
  collectDurations({ name: 'snapshot_file', what, labelNames: ['resource'] }, () => [[{}, fileCounts]]);
  collectGauge({
    name: 'snapshot_stored_bytes',
    help: 'Bytes of the files of snapshots that are kept.',
    labelNames: ['region'],
    aggregator: 'max',
    collect: async () => {
      const reads = REGIONS.map(async (region) => {
        const rows = await databases[region].slowRunner.run(storedSnapshots, []).catch(() => []);
        return rows.map(([sum]): Sample => [{ region }, Number(sum)]);
      });
      return (await Promise.all(reads)).flat();
    },
  });
}
