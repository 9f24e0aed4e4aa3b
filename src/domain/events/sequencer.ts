import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { repeatTask, type TaskLog } from '../repeated-task.ts';
import { type LogDatabase, mayHaveMore, type Numbering, numberNextEvents, UNSEEN } from './event-log.ts';

/** Milliseconds between two attempts to number events. */
const INTERVAL_MS = 50;

/** The same in a region whose log has not changed for `QUIET_AFTER_MS`: looking takes half a millisecond of CPU time. */
const QUIET_INTERVAL_MS = 200;
const QUIET_AFTER_MS = 10_000;

/** The same without endpoints, where only readers of the feed need the numbers: they number the events themselves. */
const IDLE_INTERVAL_MS = 2_000;

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
    const findPause = createPauseFinder();
    const run = async () => {
      const mayRenewEpoch = lastState === null && performance.now() - startedAt > TAKEOVER_DELAY_MS;
      const numbering = await numberNextEvents(databases[region], mayRenewEpoch ? UNSEEN : lastState);
      if (numbering.numbered !== null) lastState = numbering.state;
      return findPause(numbering);
    };
    return repeatTask({ name: 'number events', region, run }, log, stopping.signal);
  });
  return async () => {
    stopping.abort();
    await Promise.all(running);
  };
}

/**
 * Returns a function that returns the milliseconds until the next numbering, from the result of the last one.
 *
 * @param now milliseconds of a clock that only advances.
 */
export function createPauseFinder(now = () => performance.now()) {
  let lastState: string | null = null;
  let changedAt = now();
  return ({ numbered, state, hasEndpoints }: Numbering): number => {
    // Another process may number the events. The state is that before this numbering.
    if (numbered !== 0 || state !== lastState) changedAt = now();
    lastState = state;
    if (mayHaveMore(numbered)) return 0;
    if (now() - changedAt < QUIET_AFTER_MS) return INTERVAL_MS;
    return hasEndpoints ? QUIET_INTERVAL_MS : IDLE_INTERVAL_MS;
  };
}
