import { existsSync } from 'node:fs';
import pg from 'pg';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { measureCommitWait } from './commit-wait.ts';
import { toComparisonTable } from './comparison-table.ts';
import { requireEqualDashboards } from './dashboard-comparison.ts';
import { EXPIRING_INSURANCES } from './dashboards.ts';
import type { LoadRequest } from './load-generator-program.ts';
import { type LoadGenerator, readDatabaseProcessorTime, type ServiceProcess } from './processes.ts';
import { publishFigures } from './publish-figures.ts';
import { createProbes, requireEqualResponses } from './response-comparison.ts';
import { computeRatioConfidence, median } from './statistics.ts';
import { createWorkloads, selectWorkloads, type Workload } from './workloads.ts';

const WARM_UP_SECONDS = 2;
/** Duration of the load before each measurement, which opens connections again that were closed while other services were measured. */
const SETTLE_SECONDS = 0.4;

const POSTGRAPHILE_MODULE = '../../../test/bench/postgraphile/server.mjs';

/** One measurement of a service, or the medians of several. The keys are those of `--json`. */
export interface Sample {
  requestsPerSecond: number;
  /** Latency in milliseconds. */
  p50: number;
  p99: number;
  /** CPU time in microseconds per request: of the service, of PostgreSQL, and of the load generator. */
  service: number;
  database: number;
  generator: number;
  /** Fraction of the active time of PostgreSQL sessions that waits for commits; 0 for reads. */
  commit: number;
}

/** The medians of all services for one workload and number of connections. The keys are those of `--json`. */
export interface WorkloadComparison {
  work: string;
  connections: number;
  /** Of the measured service. */
  ours: Sample;
  others: (Sample & {
    name: string;
    /** Geometric mean of the rounds' ratios of requests per second, above 1 where the measured service is faster, and its 95 % confidence interval. */
    ratio: number;
    interval: [low: number, high: number];
  })[];
}

interface MeasurementContext {
  generator: LoadGenerator;
  /** Data folder of the cluster that all services use. */
  dataDir: string;
  /** URL of the database that the workloads write to. */
  url: string;
  options: BenchOptions;
}

/**
 * Compares the service with others that implement the same operations over the same data, in interleaved rounds. Only the ratios are
 * meaningful: the load generator and PostgreSQL use the same processors.
 */
export async function compareServices(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(options.timesheets);
  const { data, tokens, dataDir } = environment;
  const workloads = selectWorkloads(data, tokens, options);
  const service = await environment.startService();
  const plain = await environment.start('plain', './comparison-services/plain-service.js');
  const tuned = await environment.start('tuned', './comparison-services/tuned-service.js');
  const probes = createProbes(data, tokens, createWorkloads(data, tokens));
  for (const other of [plain, tuned]) await requireEqualResponses([service.origin, other.origin], probes);
  logProgress(`All services return the same responses to ${probes.length} requests.`);
  const postgraphile = workloads.some((workload) => workload.postgraphile)
    ? await startPostgraphile(environment, service)
    : null;

  const context = { generator: environment.createLoadGenerator(), dataDir, url: environment.urls.au1, options };
  const comparisons: WorkloadComparison[] = [];
  for (const connections of options.connections) {
    for (const workload of workloads) {
      const others = workload.postgraphile ? [postgraphile].filter((other) => other !== null) : [plain, tuned];
      comparisons.push(await compareWorkload(context, [service, ...others], workload, connections));
    }
  }
  await publishFigures(options, comparisons, toComparisonTable(comparisons, options));
  for (const other of [plain, tuned]) await requireEqualResponses([service.origin, other.origin], probes);
}

/** Starts PostGraphile; returns null where it is not installed. `npm ci` of this project does not install it. */
async function startPostgraphile(
  environment: BenchEnvironment,
  service: ServiceProcess,
): Promise<ServiceProcess | null> {
  if (!existsSync(new URL('node_modules', new URL(POSTGRAPHILE_MODULE, import.meta.url)))) {
    logProgress('PostGraphile is not installed and is skipped. To install it: npm ci --prefix test/bench/postgraphile');
    return null;
  }
  const client = new pg.Client({ connectionString: environment.urls.au1 });
  await client.connect();
  await client.query(EXPIRING_INSURANCES);
  await client.end();
  const postgraphile = await environment.start('PostGraphile', POSTGRAPHILE_MODULE);
  await requireEqualDashboards(
    service.origin,
    postgraphile.origin,
    createWorkloads(environment.data, environment.tokens),
  );
  logProgress('PostGraphile returns the same dashboards.');
  return postgraphile;
}

/** @param services The measured service and those that it is compared with. */
async function compareWorkload(
  context: MeasurementContext,
  services: ServiceProcess[],
  workload: Workload,
  connections: number,
): Promise<WorkloadComparison> {
  const { rounds, seconds } = context.options;
  const getRequests = (service: ServiceProcess): LoadRequest[] =>
    service === services[0] ? workload.requests : (workload.postgraphile ?? workload.requests);
  for (const service of services) {
    await runLoad(context, service, workload.name, getRequests(service), connections, WARM_UP_SECONDS);
  }
  const samples = new Map<ServiceProcess, Sample[]>(services.map((service) => [service, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const service of services) {
      const sample = await measure(context, service, workload, getRequests(service), connections, seconds);
      samples.get(service)!.push(sample);
    }
    const rates = services.map((service) => {
      return `${service.name} ${samples.get(service)!.at(-1)!.requestsPerSecond.toFixed(0)}/s`;
    });
    logProgress(`${workload.name}, ${connections} connections, round ${round}: ${rates.join(', ')}`);
  }
  const [ours, ...others] = services.map((service) => samples.get(service)!);
  return {
    work: workload.name,
    connections,
    ours: medianSample(ours!),
    others: others.map((otherSamples, index) => {
      const ratios = otherSamples.map((sample, round) => ours![round]!.requestsPerSecond / sample.requestsPerSecond);
      return { name: services[index + 1]!.name, ...medianSample(otherSamples), ...computeRatioConfidence(ratios) };
    }),
  };
}

async function measure(
  context: MeasurementContext,
  service: ServiceProcess,
  workload: Workload,
  requests: LoadRequest[],
  connections: number,
  seconds: number,
): Promise<Sample> {
  const run = (duration: number) => runLoad(context, service, workload.name, requests, connections, duration);
  await run(SETTLE_SECONDS);
  const before = [await service.readProcessorTime(), await readDatabaseProcessorTime(context.dataDir)] as const;
  const { result, fraction } = workload.commits
    ? await measureCommitWait(context.url, () => run(seconds))
    : { result: await run(seconds), fraction: 0 };
  const after = [await service.readProcessorTime(), await readDatabaseProcessorTime(context.dataDir)] as const;
  let database = 0;
  // The CPU time of connections that ended during the measurement is missing.
  for (const [pid, time] of after[1]) database += time - (before[1].get(pid) ?? 0);
  const { requestsPerSecond, p50, p99, generator } = result;
  const toMicrosecondsPerRequest = (milliseconds: number) => (milliseconds * 1000) / result.requests;
  const cpuTimes = {
    service: toMicrosecondsPerRequest(after[0] - before[0]),
    database: toMicrosecondsPerRequest(database),
    generator,
  };
  return { requestsPerSecond, p50, p99, ...cpuTimes, commit: fraction };
}

async function runLoad(
  { generator }: MeasurementContext,
  { origin, name }: ServiceProcess,
  workload: string,
  requests: LoadRequest[],
  connections: number,
  seconds: number,
) {
  const result = await generator.run({ origin, requests, connections, seconds });
  if (result.failures > 0) throw new Error(`${name}: ${result.failures} requests of ${workload} failed.`);
  return result;
}

function medianSample(samples: Sample[]): Sample {
  const names = Object.keys(samples[0]!) as (keyof Sample)[];
  const medians = names.map((name) => [name, median(samples.map((sample) => sample[name]))]);
  return Object.fromEntries(medians) as Sample;
}
