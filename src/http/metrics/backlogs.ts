import type { Databases } from '../../database/database.ts';
import { BACKLOGS } from '../../domain/backlogs.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { collectGauge, type Sample } from './collected.ts';

/** Milliseconds for which the values of a backlog are kept: both of its metrics, and several readers, share a query. */
const CACHE_MS = 5_000;

/** Depth of a backlog, and age of its oldest item in seconds. */
type Depth = [labels: { region: RegionId; backlog: string }, items: number, oldestSeconds: number];

/** Registers depth and age of work that waits in the databases. A database that does not answer has no values. */
export function observeBacklogs(databases: Databases): void {
  let cached: Promise<Depth[]> = Promise.resolve([]);
  let cachedAt = Number.NEGATIVE_INFINITY;
  const read = () => {
    if (performance.now() - cachedAt < CACHE_MS) return cached;
    cachedAt = performance.now();
    cached = readDepths(databases);
    return cached;
  };
  const common = { labelNames: ['region', 'backlog'], aggregator: 'max' } as const;
  collectGauge({
    ...common,
    name: 'backlog_items',
    help: 'Work that waits in the database.',
    collect: async () => (await read()).map(([labels, items]): Sample => [labels, items]),
  });
  collectGauge({
    ...common,
    name: 'backlog_oldest_seconds',
    help: 'Age of the oldest work that waits; 0 for none.',
    collect: async () => (await read()).map(([labels, , seconds]): Sample => [labels, seconds]),
  });
}

async function readDepths(databases: Databases): Promise<Depth[]> {
  const reads = REGIONS.flatMap((region) =>
    Object.entries(BACKLOGS).map(async ([backlog, text]) => {
      const rows = await databases[region].slowRunner.run({ name: `backlog.${backlog}`, text }, []).catch(() => []);
      return rows.map(
        ([items, seconds]): Depth => [{ region, backlog }, Number(items), Math.max(0, Number(seconds ?? 0))],
      );
    }),
  );
  return (await Promise.all(reads)).flat();
}
