import type { FastifyBaseLogger } from 'fastify';
import { DurationCounts } from './duration-counts.ts';
import { mapRegions, REGIONS, type RegionId } from './regions.ts';

export interface Job {
  /** Name in the log. */
  name: string;
  everyMs: number;
  /** Runs the job in a region and returns its counts for the log; null when another instance is running it. */
  run: (region: RegionId) => Promise<object | null>;
}

/** Runs of the jobs of this process by name, for metrics. */
export const jobCounts: Record<RegionId, DurationCounts> = mapRegions(() => new DurationCounts(100));

/** When each job last ended without an error, on this or another instance; milliseconds since the epoch. */
export const lastSuccesses: { job: string; region: RegionId; at: number }[] = [];

/**
 * Runs a job in each region now and after each interval. Its timer does not keep the process alive. The returned function stops it and
 * waits for the current run.
 */
export function startJob({ name, everyMs, run }: Job, log: FastifyBaseLogger): () => Promise<void> {
  const runOnce = async () => {
    for (const region of REGIONS) {
      try {
        const counts = await jobCounts[region].measure(name, () => run(region));
        recordSuccess(name, region);
        if (counts && Object.values(counts).some((count) => count > 0)) log.info({ region, ...counts }, name);
      } catch (err) {
        log.error({ err, region }, `${name} failed`);
      }
    }
  };
  let running = runOnce();
  const timer = setInterval(() => {
    running = running.then(runOnce);
  }, everyMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Starts jobs after a delay. The returned function stops them. */
export function startJobs(jobs: readonly Job[], delayMs: number, log: FastifyBaseLogger): () => Promise<void> {
  let stops: (() => Promise<void>)[] = [];
  const timer = setTimeout(() => {
    stops = jobs.map((job) => startJob(job, log));
  }, delayMs).unref();
  return async () => {
    clearTimeout(timer);
    for (const stop of stops) await stop();
  };
}

function recordSuccess(job: string, region: RegionId): void {
  const last = lastSuccesses.find((each) => each.job === job && each.region === region);
  if (last) last.at = Date.now();
  else lastSuccesses.push({ job, region, at: Date.now() });
}
