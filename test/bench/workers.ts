import { availableParallelism } from 'node:os';
import type { Options } from './options.ts';
import type { Contestant } from './processes.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { markdown } from './table.ts';
import { selectedWorks } from './works.ts';

const WARM_UP_SECONDS = 2;
const CONNECTIONS = 32;

/** The service as one process beside as many as there are cores (`WORKERS=max`), in turn. */
export async function workers(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const works = selectedWorks(stage.data, stage.tokens, options);
  const one = await stage.startOurs();
  const many = await stage.start('workers', '../../src/server.js', [], {
    WORKERS: 'max',
    SUPERVISE: '1',
    STANDBY: '0',
  });
  const generator = stage.generator();
  const rows: string[][] = [];
  for (const { name, requests } of works) {
    const run = async ({ origin }: Contestant, seconds: number) => {
      const result = await generator.run({ origin, requests, connections: CONNECTIONS, seconds });
      if (result.failures > 0) throw new Error(`${result.failures} requests of ${name} failed.`);
      return result.requestsPerSecond;
    };
    for (const contestant of [one, many]) await run(contestant, WARM_UP_SECONDS);
    const rounds: [number, number][] = [];
    for (let round = 0; round < options.rounds; round++) {
      rounds.push([await run(one, options.seconds), await run(many, options.seconds)]);
    }
    const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;
    const ratio = median(rounds.map(([single, several]) => several / single));
    const rates = [0, 1].map((index) => median(rounds.map((round) => round[index]!)).toFixed(0));
    rows.push([name, ...rates, ratio.toFixed(2)]);
    say(rows.at(-1)!.join('  '));
  }
  const header = ['work', 'one process, requests/s', `${availableParallelism()} workers`, 'ratio'];
  await publish(options, rows, `\n${markdown(header, rows)}\n`);
}
