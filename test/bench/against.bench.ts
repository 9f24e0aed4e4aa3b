import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadBenchData } from './bench-data.ts';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { toMarkdownTable } from './markdown-table.ts';
import type { LoadGenerator, ServiceProcess } from './processes.ts';
import { publishFigures } from './publish-figures.ts';
import { computeRatioConfidence, median } from './statistics.ts';
import { selectWorkloads, type Workload } from './workloads.ts';

/** V8 compiles for about ten seconds, on threads whose CPU time is counted. */
const WARM_UP_SECONDS = 10;
/** Duration of the load before each measurement, which opens connections again that were closed while the other build was measured. */
const SETTLE_SECONDS = 0.3;

/** CPU time per request of one operation in both builds. The keys are those of `--json`. */
interface BuildComparison {
  operation: string;
  connections: number;
  /** Medians, in microseconds per request. */
  before: number;
  after: number;
  /** Geometric mean of the rounds' ratios, above 1 where this build takes more, and its 95 % confidence interval. */
  ratio: number;
  interval: [low: number, high: number];
}

/**
 * Compares the service's own CPU time per request with that of another build, in interleaved rounds. Each build has its own
 * databases with the same data in one PostgreSQL cluster, because their migrations may differ.
 */
export async function compareBuilds(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  const program = join(resolve(options.against!), 'dist/src/server.js');
  if (!existsSync(program)) throw new Error(`${program} is missing: build that checkout first.`);
  await environment.prepare(options.timesheets);
  const after = await environment.startService();
  const before = await startOtherBuild(environment, pathToFileURL(program).href, options.timesheets);
  const workloads = selectWorkloads(environment.data, environment.tokens, options);
  const generator = environment.createLoadGenerator();
  const comparisons: BuildComparison[] = [];
  for (const connections of options.connections) {
    for (const workload of workloads) {
      comparisons.push(await compareWorkload({ generator, before, after, workload, connections, options }));
    }
  }
  await publishFigures(options, comparisons, `\n${toTable(comparisons, options)}`);
}

/** Starts the other build over databases that it migrates. */
async function startOtherBuild(
  environment: BenchEnvironment,
  program: string,
  timesheets: number,
): Promise<ServiceProcess> {
  const urls = {
    au1: await environment.createDatabase('before_au1'),
    us1: await environment.createDatabase('before_us1'),
  };
  const settings = { DATABASE_URL_AU1: urls.au1, DATABASE_URL_US1: urls.us1, MIGRATE: 'auto' };
  const migratingService = await environment.start('before', program, [], settings);
  await migratingService.stop();
  logProgress('Loading the same data for the other build.');
  await loadBenchData(urls.au1, { builders: 4, timesheets });
  // A restart plans the prepared statements with the statistics of the loaded tables.
  return environment.start('before', program, [], settings);
}

interface WorkloadOptions {
  generator: LoadGenerator;
  before: ServiceProcess;
  after: ServiceProcess;
  workload: Workload;
  connections: number;
  options: BenchOptions;
}

async function compareWorkload({
  generator,
  before,
  after,
  workload,
  connections,
  options,
}: WorkloadOptions): Promise<BuildComparison> {
  const run = async (build: ServiceProcess, seconds: number) => {
    const { origin, name } = build;
    const result = await generator.run({ origin, requests: workload.requests, connections, seconds });
    if (result.failures > 0) throw new Error(`${name}: ${result.failures} requests of ${workload.name} failed.`);
    return result.requests;
  };
  const measure = async (build: ServiceProcess): Promise<number> => {
    await run(build, SETTLE_SECONDS);
    const cpuBefore = await build.readProcessorTime();
    const requests = await run(build, options.seconds);
    return (((await build.readProcessorTime()) - cpuBefore) * 1000) / requests;
  };
  for (const build of [before, after]) await run(build, WARM_UP_SECONDS);
  const rounds: { before: number; after: number }[] = [];
  for (let round = 0; round < options.rounds; round++) {
    // The order alternates so that changes of the machine's speed affect both builds alike.
    const first = round % 2 ? await measure(after) : await measure(before);
    const second = round % 2 ? await measure(before) : await measure(after);
    rounds.push(round % 2 ? { before: second, after: first } : { before: first, after: second });
  }
  const ratios = rounds.map((round) => round.after / round.before);
  const comparison = {
    ...{ operation: workload.name, connections },
    before: median(rounds.map((round) => round.before)),
    after: median(rounds.map((round) => round.after)),
    ...computeRatioConfidence(ratios),
  };
  const { ratio, interval } = comparison;
  logProgress(
    `${workload.name}, ${connections} connections: ${ratio.toFixed(3)} (${interval.map((end) => end.toFixed(3)).join(' to ')})`,
  );
  return comparison;
}

function toTable(comparisons: BuildComparison[], { rounds, seconds }: BenchOptions): string {
  const header = ['operation', 'connections', 'before, µs', 'after, µs', 'ratio', '95 % interval'];
  const rows = comparisons.map(({ operation, connections, before, after, ratio, interval: [low, high] }) => [
    ...[operation, String(connections), before.toFixed(0), after.toFixed(0), ratio.toFixed(3)],
    `${low.toFixed(3)}–${high.toFixed(3)}`,
  ]);
  return `${toMarkdownTable(header, rows)}

CPU time per request of the service's processes alone, user and system, over ${rounds} interleaved rounds of ${seconds} s; a ratio
above 1 means that this build takes more.
`;
}
