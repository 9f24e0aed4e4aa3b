import { existsSync } from 'node:fs';
import pg from 'pg';
import { requireSameDashboards } from './answers.ts';
import { measureCommits } from './commit-share.ts';
import { confidenceOf } from './confidence.ts';
import { EXPIRING_INSURANCES } from './dashboards.ts';
import type { LoadRequest } from './load.ts';
import type { Options } from './options.ts';
import { probesOf, requireSameAnswers } from './probes.ts';
import { type Contestant, databaseProcessorTime, type LoadGenerator } from './processes.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { table } from './table.ts';
import { selectedWorks, type Work, worksOf } from './works.ts';

const WARM_UP_SECONDS = 2;
/** Before each measurement: connections that were closed while others were measured are opened again. */
const SETTLE_SECONDS = 0.4;

const POSTGRAPHILE = '../../../test/bench/postgraphile/server.mjs';

export interface Sample {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Microseconds of processor time per request: of the service's process, of PostgreSQL's, and of the load generator. */
  service: number;
  database: number;
  generator: number;
  /** Share of the time of PostgreSQL's sessions that waits for commits, from 0 to 1; 0 for reads. */
  commit: number;
}

/** One work at so many connections: each service's medians, and how ours compares. */
export interface Figures {
  work: string;
  connections: number;
  ours: Sample;
  others: (Sample & {
    name: string;
    /** Geometric mean of the rounds' ratios of requests per second, above 1 where ours is faster, and its 95 % confidence interval. */
    ratio: number;
    interval: [low: number, high: number];
  })[];
}

interface Bench {
  generator: LoadGenerator;
  /** Folder of the cluster that all read. */
  dataDir: string;
  /** Address of the database that the works write to. */
  url: string;
  options: Options;
}

/**
 * The service beside others that do the same work over the same data, in turn. The ratios are what counts: the load generator
 * and PostgreSQL take their share of the same processors, so that the absolute figures are those of the whole.
 */
export async function compare(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const { data, tokens, dataDir } = stage;
  const works = selectedWorks(data, tokens, options);
  const ours = await stage.startOurs();
  const plain = await stage.start('plain', './twins/plain.js');
  const tuned = await stage.start('tuned', './twins/tuned.js');
  const probes = probesOf(data, tokens, worksOf(data, tokens));
  for (const twin of [plain, tuned]) await requireSameAnswers([ours.origin, twin.origin], probes);
  say(`All answer ${probes.length} requests alike.`);
  const postgraphile = works.some((work) => work.postgraphile) ? await startPostgraphile(stage, ours) : null;

  const bench = { generator: stage.generator(), dataDir, url: stage.urls.au1, options };
  const figures: Figures[] = [];
  for (const connections of options.connections) {
    for (const work of works) {
      const others = work.postgraphile ? [postgraphile].filter((other) => other !== null) : [plain, tuned];
      figures.push(await measureWork(bench, [ours, ...others], work, connections));
    }
  }
  await publish(options, figures, table(figures, options));
  for (const twin of [plain, tuned]) await requireSameAnswers([ours.origin, twin.origin], probes);
}

/** Null when it is not installed, which it is by hand. */
async function startPostgraphile(stage: Stage, ours: Contestant): Promise<Contestant | null> {
  if (!existsSync(new URL('node_modules', new URL(POSTGRAPHILE, import.meta.url)))) {
    say('PostGraphile is left out; to have it: npm ci --prefix test/bench/postgraphile');
    return null;
  }
  const client = new pg.Client({ connectionString: stage.urls.au1 });
  await client.connect();
  await client.query(EXPIRING_INSURANCES);
  await client.end();
  const postgraphile = await stage.start('PostGraphile', POSTGRAPHILE);
  await requireSameDashboards(ours.origin, postgraphile.origin, worksOf(stage.data, stage.tokens));
  say('PostGraphile shows the same dashboards.');
  return postgraphile;
}

async function measureWork(bench: Bench, all: Contestant[], work: Work, connections: number): Promise<Figures> {
  const { rounds, seconds } = bench.options;
  const isOurs = (contestant: Contestant) => contestant === all[0];
  const requestsOf = (contestant: Contestant): LoadRequest[] =>
    isOurs(contestant) ? work.requests : (work.postgraphile ?? work.requests);
  for (const contestant of all) {
    await load(bench, contestant, work.name, requestsOf(contestant), connections, WARM_UP_SECONDS);
  }
  const samples = new Map<Contestant, Sample[]>(all.map((contestant) => [contestant, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const contestant of all) {
      const sample = await measure(bench, contestant, work, requestsOf(contestant), connections, seconds);
      samples.get(contestant)!.push(sample);
    }
    const rates = all.map((each) => `${each.name} ${samples.get(each)!.at(-1)!.requestsPerSecond.toFixed(0)}/s`);
    say(`${work.name}, ${connections} connections, round ${round}: ${rates.join(', ')}`);
  }
  const [ours, ...others] = all.map((contestant) => samples.get(contestant)!);
  return {
    work: work.name,
    connections,
    ours: medianSample(ours!),
    others: others.map((theirs, index) => {
      const ratios = theirs.map((sample, round) => ours![round]!.requestsPerSecond / sample.requestsPerSecond);
      return { name: all[index + 1]!.name, ...medianSample(theirs), ...confidenceOf(ratios) };
    }),
  };
}

async function measure(
  bench: Bench,
  contestant: Contestant,
  work: Work,
  requests: LoadRequest[],
  connections: number,
  seconds: number,
): Promise<Sample> {
  const run = (duration: number) => load(bench, contestant, work.name, requests, connections, duration);
  await run(SETTLE_SECONDS);
  const before = [await contestant.processorTime(), await databaseProcessorTime(bench.dataDir)] as const;
  const { result, share } = work.commits
    ? await measureCommits(bench.url, () => run(seconds))
    : { result: await run(seconds), share: 0 };
  const after = [await contestant.processorTime(), await databaseProcessorTime(bench.dataDir)] as const;
  let database = 0;
  // A connection that has gone takes what it used with it.
  for (const [pid, time] of after[1]) database += time - (before[1].get(pid) ?? 0);
  const { requestsPerSecond, p50, p99, generator } = result;
  const perRequest = (milliseconds: number) => (milliseconds * 1000) / result.requests;
  const service = perRequest(after[0] - before[0]);
  return { requestsPerSecond, p50, p99, service, database: perRequest(database), generator, commit: share };
}

async function load(
  { generator }: Bench,
  { origin, name }: Contestant,
  work: string,
  requests: LoadRequest[],
  connections: number,
  seconds: number,
) {
  const result = await generator.run({ origin, requests, connections, seconds });
  if (result.failures > 0) throw new Error(`${name}: ${result.failures} requests of ${work} failed.`);
  return result;
}

const ascending = (a: number, b: number) => a - b;

function median(values: number[]): number {
  const sorted = [...values].sort(ascending);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function medianSample(samples: Sample[]): Sample {
  const names = Object.keys(samples[0]!) as (keyof Sample)[];
  const medians = names.map((name) => [name, median(samples.map((sample) => sample[name]))]);
  return Object.fromEntries(medians) as Sample;
}
