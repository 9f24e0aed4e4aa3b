import { setTimeout as sleep } from 'node:timers/promises';
import { REGIONS, type RegionId } from '../shared/regions.ts';

/** Pause after a failure, for instance while PostgreSQL restarts. */
const FAILURE_PAUSE_MS = 500;

/** The methods of a log that a task uses. */
export interface TaskLog {
  error(details: object, message: string): void;
  info(details: object, message: string): void;
}

/**
 * Runs the work until the signal, with a pause between two runs. Logs the first of consecutive failures, and the run that ends them. Its
 * timers do not keep the process alive.
 *
 * @param name in the log: `deliver events`.
 * @param run returns the milliseconds until the next run.
 */
async function repeatTask(
  { name, region, run }: { name: string; region: RegionId; run: () => Promise<number> },
  log: TaskLog,
  signal: AbortSignal,
): Promise<void> {
  let isFailing = false;
  while (!signal.aborted) {
    let pauseMs = FAILURE_PAUSE_MS;
    try {
      pauseMs = await run();
      if (isFailing) log.info({ region }, `${name} again`);
      isFailing = false;
    } catch (err) {
      if (!isFailing) log.error({ err, region }, `${name} failed`);
      isFailing = true;
    }
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/**
 * Repeats a task in each region. The returned function stops it, and waits for the current runs.
 *
 * @param createRun returns what runs in the region: see `repeatTask`. The signal is that of the stop.
 */
export function repeatInRegions(
  name: string,
  log: TaskLog,
  createRun: (region: RegionId, signal: AbortSignal) => () => Promise<number>,
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = REGIONS.map((region) => repeatTask({ name, region, run: createRun(region, signal) }, log, signal));
  return async () => {
    stopping.abort();
    await Promise.all(running);
  };
}
