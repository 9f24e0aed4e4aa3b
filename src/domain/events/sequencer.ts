import { setTimeout as sleep } from 'node:timers/promises';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { isFullBatch, type LogDatabase, numberEvents } from './event-log.ts';

/** Pause after which committed events are looked for again. */
const INTERVAL_MS = 50;

/** Pause after a failure, for instance while PostgreSQL restarts. */
const FAILURE_PAUSE_MS = 500;

/** The methods of a log that the sequencer uses. */
export interface SequencerLog {
  error(details: object, message: string): void;
  info(details: object, message: string): void;
}

/**
 * Numbers committed events in each region until it is stopped. Every instance runs it; the lock of the log's row, which lasts for one
 * statement, decides which of them numbers a batch, so that none has to take over from another.
 */
export function startSequencer(databases: Record<RegionId, LogDatabase>, log: SequencerLog): () => Promise<void> {
  const stopping = new AbortController();
  const pause = (milliseconds: number) =>
    sleep(milliseconds, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
  const run = async (region: RegionId) => {
    let isFailing = false;
    while (!stopping.signal.aborted) {
      try {
        const numbered = await numberEvents(databases[region]);
        if (isFailing) log.info({ region }, 'number events again');
        isFailing = false;
        if (!isFullBatch(numbered)) await pause(INTERVAL_MS);
      } catch (err) {
        if (!isFailing) log.error({ err, region }, 'number events failed');
        isFailing = true;
        await pause(FAILURE_PAUSE_MS);
      }
    }
  };
  const running = REGIONS.map(run);
  return async () => {
    stopping.abort();
    await Promise.all(running);
  };
}
