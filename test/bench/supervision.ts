import { setTimeout as sleep } from 'node:timers/promises';
import type { Options } from './options.ts';
import type { Contestant } from './processes.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { markdown } from './table.ts';
import { selectedWorks } from './works.ts';

const CONNECTIONS = 32;
const WARM_UP_SECONDS = 1;
/** Between two requests while a worker is killed, each on a connection of its own. */
const INTERVAL_MS = 20;
/** How long requests are watched after a worker was killed. */
const WATCH_MS = 6_000;

interface Round {
  requestsPerSecond: number;
  microsecondsPerRequest: number;
}

/**
 * One process (`SUPERVISE=0`) beside one worker under a supervisor, without and with a standby worker: requests, processor time
 * of all processes for each request, memory, and what clients notice when a worker is killed.
 */
export async function supervision(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const start = (name: string, settings: Record<string, string>) =>
    stage.start(name, '../../src/server.js', [], settings);
  const contestants = [
    await stage.startOurs(),
    await start('supervised', { SUPERVISE: '1', STANDBY: '0' }),
    await start('with standby', { SUPERVISE: '1', STANDBY: '1' }),
  ];
  const generator = stage.generator();
  const rows: string[][] = [];
  for (const { name, requests } of selectedWorks(stage.data, stage.tokens, options)) {
    const run = async (contestant: Contestant, seconds: number): Promise<Round> => {
      const before = await contestant.processorTime();
      const order = { origin: contestant.origin, requests, connections: CONNECTIONS, seconds };
      const result = await generator.run(order);
      if (result.failures > 0) throw new Error(`${result.failures} requests of ${name} failed.`);
      const used = (await contestant.processorTime()) - before;
      const { requestsPerSecond } = result;
      return { requestsPerSecond, microsecondsPerRequest: (used * 1000) / (requestsPerSecond * seconds) };
    };
    for (const contestant of contestants) await run(contestant, WARM_UP_SECONDS);
    const rounds: Round[][] = [];
    for (let round = 0; round < options.rounds; round++) {
      const figures: Round[] = [];
      for (const contestant of contestants) figures.push(await run(contestant, options.seconds));
      rounds.push(figures);
    }
    for (const [index, contestant] of contestants.entries()) {
      const medianOf = (key: keyof Round) => median(rounds.map((round) => round[index]![key]));
      const ratioOf = (key: keyof Round) => median(rounds.map((round) => round[index]![key] / round[0]![key]));
      const [rate, cost] = [medianOf('requestsPerSecond'), medianOf('microsecondsPerRequest')];
      const ratios = [ratioOf('requestsPerSecond'), ratioOf('microsecondsPerRequest')].map((ratio) => ratio.toFixed(2));
      rows.push([name, contestant.name, rate.toFixed(0), ratios[0]!, cost.toFixed(0), ratios[1]!]);
      say(rows.at(-1)!.join('  '));
    }
  }
  const memory = await Promise.all(contestants.map(async (one) => [one.name, (await one.residentMib()).toFixed(0)]));
  const two = await start('two workers', { WORKERS: '2', SUPERVISE: '1', STANDBY: '0' });
  const kills: string[][] = [];
  for (const contestant of [...contestants.slice(1), two]) kills.push(await watchKill(contestant));
  const header = ['work', 'service', 'requests/s', 'ratio', 'CPU, µs per request', 'ratio'];
  const killHeader = ['a worker is killed', 'requests', 'failed', 'refused', 'slowest answer, ms'];
  const tables = [markdown(header, rows), markdown(['service', 'resident, MiB'], memory), markdown(killHeader, kills)];
  await publish(options, { rows, memory, kills }, `\n${tables.join('\n\n')}\n`);
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Kills the oldest worker under a stream of requests, each on a connection of its own. */
async function watchKill(contestant: Contestant): Promise<string[]> {
  const [, victim] = await contestant.pids();
  const answers: Promise<{ milliseconds: number; failure: string | null }>[] = [];
  const ask = async () => {
    const begun = performance.now();
    const failure = await fetch(`${contestant.origin}/health/live`, { headers: { connection: 'close' } }).then(
      () => null,
      ({ cause }) => cause?.code ?? 'failed',
    );
    return { milliseconds: performance.now() - begun, failure };
  };
  const killAt = performance.now() + 500;
  let killed = false;
  while (performance.now() < killAt + WATCH_MS) {
    answers.push(ask());
    await sleep(INTERVAL_MS);
    if (killed || performance.now() < killAt) continue;
    process.kill(victim!, 'SIGKILL');
    killed = true;
  }
  const all = await Promise.all(answers);
  const slowest = Math.max(...all.map(({ milliseconds }) => milliseconds));
  const failed = all.filter(({ failure }) => failure !== null);
  const refused = failed.filter(({ failure }) => failure === 'ECONNREFUSED');
  return [contestant.name, ...[all.length, failed.length, refused.length].map(String), slowest.toFixed(0)];
}
