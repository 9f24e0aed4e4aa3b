import type { FastifyBaseLogger } from 'fastify';
import { REGIONS, type RegionId } from './regions.ts';

export interface Job {
  /** As the log names it. */
  name: string;
  everyMs: number;
  /** What has been done in a region, counted; null when another instance is at it. */
  run: (region: RegionId) => Promise<object | null>;
}

/**
 * Does the job in each region now and after each interval. It keeps no process alive; the answered function ends it, once what
 * is under way is done.
 */
export function startJob({ name, everyMs, run }: Job, log: FastifyBaseLogger): () => Promise<void> {
  const round = async () => {
    for (const region of REGIONS) {
      try {
        const done = await run(region);
        if (done && Object.values(done).some((count) => count > 0)) log.info({ region, ...done }, name);
      } catch (err) {
        log.error({ err, region }, `${name} failed`);
      }
    }
  };
  let running = round();
  const timer = setInterval(() => {
    running = running.then(round);
  }, everyMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
