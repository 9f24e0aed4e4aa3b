import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { copyBuild } from './changed-build.ts';
import { confidenceOf } from './confidence.ts';
import { loadData } from './data.ts';
import type { Options } from './options.ts';
import type { Contestant, LoadGenerator } from './processes.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { markdown } from './table.ts';
import { withoutIsolation } from './without-isolation.ts';
import { selectedWorks, type Work } from './works.ts';

/** V8 compiles for the first ten seconds, on threads that count too. */
const WARM_UP_SECONDS = 10;
/** Before each measurement: connections that were closed while the other build was measured are opened again. */
const SETTLE_SECONDS = 0.3;

/** CPU time per request of one operation in both builds. */
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
 * Compares the service's own CPU time per request with that of another build, in interleaved rounds. Each build has databases of its
 * own with the same data in one PostgreSQL cluster, because their migrations may differ.
 */
export async function compareBuilds(stage: Stage, options: Options): Promise<void> {
  const program = join(resolve(options.against!), 'dist/src/server.js');
  if (!existsSync(program)) throw new Error(`${program} is missing: build that checkout first.`);
  await stage.prepare(options.timesheets);
  const after = await stage.startOurs();
  const before = await startOther(stage, pathToFileURL(program).href, options.timesheets);
  await compareWorks({ stage, before, after, names: ['before', 'after'], meaning: 'this build takes more', options });
}

/** Compares the service's CPU time per request without and with what keeps callers from delaying each other, in interleaved rounds. */
export async function compareIsolation(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const after = await stage.startOurs();
  const before = await stage.start('without isolation', await copyBuild(stage, withoutIsolation));
  await compareWorks({ stage, before, after, names: ['without', 'with'], meaning: 'it takes more with them', options });
}

interface Builds {
  stage: Stage;
  before: Contestant;
  after: Contestant;
  /** Of both builds, in the table. */
  names: [before: string, after: string];
  /** What a ratio above 1 means. */
  meaning: string;
  options: Options;
}

async function compareWorks({ stage, before, after, options, ...labels }: Builds): Promise<void> {
  const works = selectedWorks(stage.data, stage.tokens, options);
  const generator = stage.generator();
  const comparisons: BuildComparison[] = [];
  for (const connections of options.connections) {
    for (const work of works) {
      comparisons.push(await compareWork({ generator, before, after, work, connections, options }));
    }
  }
  await publish(options, comparisons, `\n${tableOf(comparisons, labels, options)}`);
}

/** Starts the other build over databases that it has migrated itself. */
async function startOther(stage: Stage, program: string, timesheets: number): Promise<Contestant> {
  const urls = { au1: await stage.createDatabase('before_au1'), us1: await stage.createDatabase('before_us1') };
  const settings = { DATABASE_URL_AU1: urls.au1, DATABASE_URL_US1: urls.us1, MIGRATE: 'auto' };
  const migrating = await stage.start('before', program, [], settings);
  await migrating.stop();
  say('Loading the same data for the other build.');
  await loadData(urls.au1, { builders: 4, timesheets });
  // Statements are planned when they are first sent: over the loaded tables.
  return stage.start('before', program, [], settings);
}

interface WorkOptions {
  generator: LoadGenerator;
  before: Contestant;
  after: Contestant;
  work: Work;
  connections: number;
  options: Options;
}

async function compareWork({
  generator,
  before,
  after,
  work,
  connections,
  options,
}: WorkOptions): Promise<BuildComparison> {
  const run = async (build: Contestant, seconds: number) => {
    const { origin, name } = build;
    const result = await generator.run({ origin, requests: work.requests, connections, seconds });
    if (result.failures > 0) throw new Error(`${name}: ${result.failures} requests of ${work.name} failed.`);
    return result.requests;
  };
  const measure = async (build: Contestant): Promise<number> => {
    await run(build, SETTLE_SECONDS);
    const begun = await build.processorTime();
    const requests = await run(build, options.seconds);
    return (((await build.processorTime()) - begun) * 1000) / requests;
  };
  for (const build of [before, after]) await run(build, WARM_UP_SECONDS);
  const rounds: { before: number; after: number }[] = [];
  for (let round = 0; round < options.rounds; round++) {
    // The order alternates, so that a machine that becomes slower or faster favours neither.
    const first = round % 2 ? await measure(after) : await measure(before);
    const second = round % 2 ? await measure(before) : await measure(after);
    rounds.push(round % 2 ? { before: second, after: first } : { before: first, after: second });
  }
  const ratios = rounds.map((round) => round.after / round.before);
  const comparison = {
    ...{ operation: work.name, connections },
    before: median(rounds.map((round) => round.before)),
    after: median(rounds.map((round) => round.after)),
    ...confidenceOf(ratios),
  };
  const { ratio, interval } = comparison;
  say(
    `${work.name}, ${connections} connections: ${ratio.toFixed(3)} (${interval.map((end) => end.toFixed(3)).join(' to ')})`,
  );
  return comparison;
}

/** Returns the middle value, or the mean of both. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}

function tableOf(
  comparisons: BuildComparison[],
  { names, meaning }: Pick<Builds, 'names' | 'meaning'>,
  { rounds, seconds }: Options,
): string {
  const header = ['operation', 'connections', ...names.map((name) => `${name}, µs`), 'ratio', '95 % interval'];
  const rows = comparisons.map(({ operation, connections, before, after, ratio, interval: [low, high] }) => [
    ...[operation, String(connections), before.toFixed(0), after.toFixed(0), ratio.toFixed(3)],
    `${low.toFixed(3)}–${high.toFixed(3)}`,
  ]);
  return `${markdown(header, rows)}

CPU time per request of the service's processes alone, user and system, over ${rounds} interleaved rounds of ${seconds} s; a ratio
above 1 means that ${meaning}.
`;
}
