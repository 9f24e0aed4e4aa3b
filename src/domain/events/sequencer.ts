import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { repeatTask, type TaskLog } from '../../shared/repeated-task.ts';
import { isFullBatch, type LogDatabase, numberEvents } from './event-log.ts';

/** Pause after which committed events are looked for again. */
const INTERVAL_MS = 50;

/**
 * Numbers committed events in each region until it is stopped. Every instance runs it; the lock of the log's row, which lasts for one
 * statement, decides which of them numbers a batch, so that none has to take over from another.
 */
export function startSequencer(databases: Record<RegionId, LogDatabase>, log: TaskLog): () => Promise<void> {
  const stopping = new AbortController();
  const number = async (region: RegionId) => (isFullBatch(await numberEvents(databases[region])) ? 0 : INTERVAL_MS);
  const running = REGIONS.map((region) =>
    repeatTask({ name: 'number events', region, run: () => number(region) }, log, stopping.signal),
  );
  return async () => {
    stopping.abort();
    await Promise.all(running);
  };
}
