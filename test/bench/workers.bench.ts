import { availableParallelism } from 'node:os';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { toMarkdownTable } from './markdown-table.ts';
import type { ServiceProcess } from './processes.ts';
import { publishFigures } from './publish-figures.ts';
import { upperMedian } from './statistics.ts';
import { selectWorkloads } from './workloads.ts';

const WARM_UP_SECONDS = 2;
const CONNECTIONS = 32;

/** Compares the service as one process with one worker per core (`WORKERS=max`), in interleaved rounds. */
export async function measureWorkers(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(options.timesheets);
  const workloads = selectWorkloads(environment.data, environment.tokens, options);
  const single = await environment.startService();
  const multiple = await environment.start('workers', '../../src/server.js', [], { WORKERS: 'max' });
  const generator = environment.createLoadGenerator();
  const rows: string[][] = [];
  for (const { name, requests } of workloads) {
    const run = async ({ origin }: ServiceProcess, seconds: number) => {
      const result = await generator.run({ origin, requests, connections: CONNECTIONS, seconds });
      if (result.failures > 0) throw new Error(`${result.failures} requests of ${name} failed.`);
      return result.requestsPerSecond;
    };
    for (const service of [single, multiple]) await run(service, WARM_UP_SECONDS);
    const rounds: [number, number][] = [];
    for (let round = 0; round < options.rounds; round++) {
      rounds.push([await run(single, options.seconds), await run(multiple, options.seconds)]);
    }
    const ratio = upperMedian(rounds.map(([singleRate, multipleRate]) => multipleRate / singleRate));
    const rates = [0, 1].map((index) => upperMedian(rounds.map((round) => round[index]!)).toFixed(0));
    rows.push([name, ...rates, ratio.toFixed(2)]);
    logProgress(rows.at(-1)!.join('  '));
  }
  const header = ['work', 'one process, requests/s', `${availableParallelism()} workers`, 'ratio'];
  await publishFigures(options, rows, `\n${toMarkdownTable(header, rows)}\n`);
}
