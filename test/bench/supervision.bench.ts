import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchEnvironment } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { toMarkdownTable } from './markdown-table.ts';
import type { ServiceProcess } from './processes.ts';
import { publishFigures } from './publish-figures.ts';

/** Interval of the requests while workers are killed. Each uses a new connection. */
const INTERVAL_MS = 20;
/** Duration of these requests before and after the kill. */
const BEFORE_MS = 500;
const AFTER_MS = 6_000;

interface Answer {
  startedAt: number;
  endedAt: number;
  failure: string | null;
}

/** Measures what clients notice when one of two workers, or both, are killed. */
export async function measureSupervision(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(options.timesheets);
  const rows: string[][] = [];
  for (const [killed, count] of [
    ['one of two', 1],
    ['both', 2],
  ] as const) {
    const service = await environment.start(killed, '../../src/server.js', [], { WORKERS: '2' });
    rows.push([killed, ...(await measureKill(service, count))]);
    await service.stop();
  }
  const header = ['workers that are killed', 'requests', 'failed', 'first to last failure, ms', 'slowest answer, ms'];
  await publishFigures(options, rows, `\n${toMarkdownTable(header, rows)}\n`);
}

/** Kills the oldest workers while requests are sent on new connections. Returns the figures of a row. */
async function measureKill(service: ServiceProcess, count: number): Promise<string[]> {
  const victims = (await service.listPids()).slice(1, 1 + count);
  const answers: Promise<Answer>[] = [];
  const sendRequest = async (): Promise<Answer> => {
    const startedAt = performance.now();
    const failure = await fetch(`${service.origin}/health/live`, { headers: { connection: 'close' } }).then(
      () => null,
      ({ cause }) => cause?.code ?? 'failed',
    );
    return { startedAt, endedAt: performance.now(), failure };
  };
  const killAt = performance.now() + BEFORE_MS;
  while (performance.now() < killAt + AFTER_MS) {
    answers.push(sendRequest());
    await sleep(INTERVAL_MS);
    if (performance.now() >= killAt) for (const pid of victims.splice(0)) process.kill(pid, 'SIGKILL');
  }
  const all = await Promise.all(answers);
  const failed = all.filter(({ failure }) => failure !== null);
  const pause = failed.length === 0 ? 0 : failed.at(-1)!.startedAt - failed[0]!.startedAt;
  const answered = all.filter(({ failure }) => failure === null);
  const slowest = Math.max(...answered.map(({ startedAt, endedAt }) => endedAt - startedAt));
  return [String(all.length), String(failed.length), pause.toFixed(0), slowest.toFixed(0)];
}
