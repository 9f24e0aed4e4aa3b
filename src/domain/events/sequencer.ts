import type { RegionId } from '../../shared/regions.ts';
import { repeatInRegions, type TaskLog } from '../repeated-task.ts';
import { type LogDatabase, mayHaveMore, numberNextEvents, UNSEEN } from './event-log.ts';

/** Milliseconds between two attempts to number events: looking takes half a millisecond of CPU time. */
const INTERVAL_MS = 100;

/** The same without endpoints: readers of the feed number the events themselves. */
const IDLE_INTERVAL_MS = 2_000;

/** Milliseconds for which a process that starts after a promotion leaves the log to one that has the state before the promotion. */
const TAKEOVER_DELAY_MS = 10_000;

/**
 * Numbers committed events in each region until it is stopped. Every instance runs it; the lock of the log's row, which lasts for one
 * statement, decides which of them numbers a batch, so that none has to take over from another.
 */
export function startSequencer(databases: Record<RegionId, LogDatabase>, log: TaskLog): () => Promise<void> {
  const startedAt = performance.now();
  return repeatInRegions('number events', log, (region) => {
    let lastState: string | null = null;
    return async () => {
      const mayRenewEpoch = lastState === null && performance.now() - startedAt > TAKEOVER_DELAY_MS;
      const { numbered, state, hasEndpoints } = await numberNextEvents(
        databases[region],
        mayRenewEpoch ? UNSEEN : lastState,
      );
      if (numbered !== null) lastState = state;
      if (mayHaveMore(numbered)) return 0;
      return hasEndpoints ? INTERVAL_MS : IDLE_INTERVAL_MS;
    };
  });
}
