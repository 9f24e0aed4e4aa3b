import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { toMarkdownTable } from './markdown-table.ts';
import type { ServiceProcess } from './processes.ts';
import { publishFigures } from './publish-figures.ts';
import { upperMedian } from './statistics.ts';
import { selectWorkloads } from './workloads.ts';

const CONNECTIONS = 32;
const WARM_UP_SECONDS = 1;
/** Interval of the requests while a worker is killed. Each uses a new connection. */
const INTERVAL_MS = 20;
/** Duration of these requests after the kill. */
const WATCH_MS = 6_000;

interface Round {
  requestsPerSecond: number;
  microsecondsPerRequest: number;
}

/**
 * Compares one process (`SUPERVISE=0`) with one worker under a supervisor, without and with a standby worker: requests per second, CPU time
 * of all processes per request, memory, and failed requests when a worker is killed.
 */
export async function measureSupervision(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(options.timesheets);
  const start = (name: string, settings: Record<string, string>) =>
    environment.start(name, '../../src/server.js', [], settings);
  const services = [
    await environment.startService(),
    await start('supervised', { SUPERVISE: '1', STANDBY: '0' }),
    await start('with standby', { SUPERVISE: '1', STANDBY: '1' }),
  ];
  const generator = environment.createLoadGenerator();
  const rows: string[][] = [];
  for (const { name, requests } of selectWorkloads(environment.data, environment.tokens, options)) {
    const run = async (service: ServiceProcess, seconds: number): Promise<Round> => {
      const before = await service.readProcessorTime();
      const result = await generator.run({ origin: service.origin, requests, connections: CONNECTIONS, seconds });
      if (result.failures > 0) throw new Error(`${result.failures} requests of ${name} failed.`);
      const cpuTime = (await service.readProcessorTime()) - before;
      const { requestsPerSecond } = result;
      return { requestsPerSecond, microsecondsPerRequest: (cpuTime * 1000) / (requestsPerSecond * seconds) };
    };
    for (const service of services) await run(service, WARM_UP_SECONDS);
    const rounds: Round[][] = [];
    for (let round = 0; round < options.rounds; round++) {
      const figures: Round[] = [];
      for (const service of services) figures.push(await run(service, options.seconds));
      rounds.push(figures);
    }
    for (const [index, service] of services.entries()) {
      const computeMedian = (key: keyof Round) => upperMedian(rounds.map((round) => round[index]![key]));
      const computeRatio = (key: keyof Round) =>
        upperMedian(rounds.map((round) => round[index]![key] / round[0]![key]));
      const [rate, cost] = [computeMedian('requestsPerSecond'), computeMedian('microsecondsPerRequest')];
      const ratios = [computeRatio('requestsPerSecond'), computeRatio('microsecondsPerRequest')].map((ratio) =>
        ratio.toFixed(2),
      );
      rows.push([name, service.name, rate.toFixed(0), ratios[0]!, cost.toFixed(0), ratios[1]!]);
      logProgress(rows.at(-1)!.join('  '));
    }
  }
  const memory = await Promise.all(
    services.map(async (service) => [service.name, (await service.readResidentMib()).toFixed(0)]),
  );
  const twoWorkers = await start('two workers', { WORKERS: '2', SUPERVISE: '1', STANDBY: '0' });
  const kills: string[][] = [];
  for (const service of [...services.slice(1), twoWorkers]) kills.push(await measureKill(service));
  const header = ['work', 'service', 'requests/s', 'ratio', 'CPU, µs per request', 'ratio'];
  const killHeader = ['a worker is killed', 'requests', 'failed', 'refused', 'slowest answer, ms'];
  const tables = [
    toMarkdownTable(header, rows),
    toMarkdownTable(['service', 'resident, MiB'], memory),
    toMarkdownTable(killHeader, kills),
  ];
  await publishFigures(options, { rows, memory, kills }, `\n${tables.join('\n\n')}\n`);
}

/** Kills the oldest worker while requests are sent on new connections. Returns a row of the table. */
async function measureKill(service: ServiceProcess): Promise<string[]> {
  const [, workerPid] = await service.listPids();
  const responses: Promise<{ milliseconds: number; failure: string | null }>[] = [];
  const sendRequest = async () => {
    const startedAt = performance.now();
    const failure = await fetch(`${service.origin}/health/live`, { headers: { connection: 'close' } }).then(
      () => null,
      ({ cause }) => cause?.code ?? 'failed',
    );
    return { milliseconds: performance.now() - startedAt, failure };
  };
  const killAt = performance.now() + 500;
  let isKilled = false;
  while (performance.now() < killAt + WATCH_MS) {
    responses.push(sendRequest());
    await sleep(INTERVAL_MS);
    if (isKilled || performance.now() < killAt) continue;
    process.kill(workerPid!, 'SIGKILL');
    isKilled = true;
  }
  const all = await Promise.all(responses);
  const slowest = Math.max(...all.map(({ milliseconds }) => milliseconds));
  const failed = all.filter(({ failure }) => failure !== null);
  const refused = failed.filter(({ failure }) => failure === 'ECONNREFUSED');
  return [service.name, ...[all.length, failed.length, refused.length].map(String), slowest.toFixed(0)];
}
