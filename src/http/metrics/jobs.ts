import promClient from 'prom-client';
import { jobCounts, lastSuccesses } from '../../shared/jobs.ts';
import { REGIONS } from '../../shared/regions.ts';
import { VERSION } from '../../shared/version.ts';
import { collectDurations, collectGauge } from './collected.ts';

/**
 * Metrics of the process that runs the jobs: the supervisor, or the only process. They are apart from those of the workers, which are
 * added up.
 */
export const primaryRegistry = new promClient.Registry();

collectDurations(
  { name: 'job_run', what: 'runs of jobs', labelNames: ['region', 'job'], registry: primaryRegistry },
  () => REGIONS.map((region) => [{ region }, jobCounts[region]] as const),
);
collectGauge({
  name: 'job_last_success_timestamp_seconds',
  help: 'Time of the last run that ended without an error, on this or another instance, in seconds since the epoch.',
  labelNames: ['region', 'job'],
  registry: primaryRegistry,
  collect: () => lastSuccesses.map(({ region, job, at }) => [{ region, job }, at / 1000] as const),
});
collectGauge({
  name: 'builder_api_info',
  help: 'Always 1; the labels name the release.',
  labelNames: ['version', 'node'],
  registry: primaryRegistry,
  collect: () => [[{ version: VERSION, node: process.versions.node }, 1]],
});
