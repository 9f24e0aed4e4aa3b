import promClient from 'prom-client';
import type { SnapshotFile } from '../../../entities/snapshot.entity.ts';
import type { Databases } from '../../database/database.ts';
import { storedSnapshots } from '../../domain/snapshots/snapshot-claims.ts';
import { REGIONS } from '../../shared/regions.ts';
import { collectGauge, type Sample } from './collected.ts';

/** Registers the metrics of snapshots. Returns the function that observes a complete file. */
export function registerSnapshotMetrics(databases: Databases): (file: SnapshotFile, milliseconds: number) => void {
  const count = (name: string, help: string) =>
    new promClient.Counter({ name: `snapshot_${name}_total`, help, labelNames: ['resource'] });
  const records = count('records', 'Records that were written into files of snapshots.');
  const bytes = count('bytes', 'Bytes of the files of snapshots that were written.');
  const seconds = count('seconds', 'Seconds in which files of snapshots were written, with the pauses for others.');
  collectGauge({
    name: 'snapshot_stored_bytes',
    help: 'Bytes of the files of snapshots that are kept.',
    labelNames: ['region'],
    aggregator: 'max',
    collect: async () => {
      const read = async (region: (typeof REGIONS)[number]): Promise<Sample[]> => {
        const rows = await databases[region].slowRunner.run(storedSnapshots, []).catch(() => []);
        return rows.map(([sum]): Sample => [{ region }, Number(sum)]);
      };
      return (await Promise.all(REGIONS.map(read))).flat();
    },
  });
  return (file, milliseconds) => {
    const labels = { resource: file.resource };
    records.inc(labels, file.records);
    bytes.inc(labels, file.bytes);
    seconds.inc(labels, milliseconds / 1000);
  };
}
