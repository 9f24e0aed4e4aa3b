import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { repeatTask, type TaskLog } from '../../shared/repeated-task.ts';
import { isFullBatch, type LogDatabase, numberNextEvents } from './event-log.ts';

/** Milliseconds between two attempts to number events. */
const INTERVAL_MS = 50;

/** Milliseconds for which a process that starts after a promotion leaves the log to one that has the state before the promotion. */
const TAKEOVER_DELAY_MS = 10_000;

/**
 * Numbers committed events in each region until it is stopped. Every instance runs it; the lock of the log's row, which lasts for one
 * statement, decides which of them numbers a batch, so that none has to take over from another.
 */
export function startSequencer(databases: Record<RegionId, LogDatabase>, log: TaskLog): () => Promise<void> {
  const stopping = new AbortController();
  const startedAt = performance.now();
  const running = REGIONS.map((region) => {
    let lastState: string | null = null;
    const run = async () => {
      const mayRenewEpoch = lastState === null && performance.now() - startedAt > TAKEOVER_DELAY_MS;
      const { numbered, state } = await numberNextEvents(databases[region], mayRenewEpoch ? '' : lastState);
      if (numbered !== null) lastState = state;
      return isFullBatch(numbered) ? 0 : INTERVAL_MS;
    };
    return repeatTask({ name: 'number events', region, run }, log, stopping.signal);
  });
  return async () => {
    stopping.abort();
    await Promise.all(running);
  };
}
