import { setTimeout as sleep } from 'node:timers/promises';
import { MixedLoad } from './mixed-load.ts';
import { readResidentMib } from './process-memory.ts';
import { type Log, ProofEnvironment } from './proof-environment.ts';
import { countBy } from './statistics.ts';

interface SoakOptions {
  minutes: number;
  log: Log;
}

const SAMPLE_INTERVAL_MS = 2_000;
/** Samples for each line of progress. */
const SAMPLES_PER_LINE = 30;
const MANY_REQUESTS = 100_000;
/**
 * Maximum ratio of the smallest sample of the last third to that of the second. The smallest sample is the memory that is retained; garbage
 * varies.
 */
const MAX_GROWTH = 1.1;

/** Sends mixed requests to one instance for the minutes, and samples its resident size, which must not grow. */
export async function soak({ minutes, log }: SoakOptions) {
  const environment = await ProofEnvironment.start();
  try {
    const { pid, origin } = await environment.addInstance();
    await sleep(5_000);
    const rest = await readResidentMib(pid);
    const options = { origins: () => [origin], run: 'soak', concurrency: 3, pause: 40, readsPerSecond: 150 };
    const load = await MixedLoad.start(environment, options);
    const samples: number[] = [];
    let afterMany: number | null = null;
    const { requests } = load.recorder;
    for (const end = Date.now() + minutes * 60_000; Date.now() < end; await sleep(SAMPLE_INTERVAL_MS)) {
      samples.push(await readResidentMib(pid));
      if (requests.length >= MANY_REQUESTS) afterMany ??= samples.at(-1)!;
      if (samples.length % SAMPLES_PER_LINE === 0) log(`${requests.length} requests, ${samples.at(-1)} MiB`);
    }
    await load.end();
    const end = await readResidentMib(pid);
    const problems = requests
      .filter(({ status }) => status < 200 || status > 299)
      .map(({ operation, status, problem }) => `${operation}: ${status} ${problem}`);
    // In the first third the service warms up.
    const third = Math.floor(samples.length / 3);
    const [second, last] = [Math.min(...samples.slice(third, 2 * third)), Math.min(...samples.slice(2 * third))];
    if (last > second * MAX_GROWTH) problems.push(`the least resident size rose from ${second} to ${last} MiB`);
    const storage = environment.openStorage();
    problems.push(...(await load.verifyWrites(environment.database(), storage)));
    const many =
      afterMany === null ? `no ${MANY_REQUESTS} requests were reached` : `${afterMany} after ${MANY_REQUESTS} requests`;
    const sizes = `${rest} MiB at rest, ${many}, ${end} at the end, ${Math.max(...samples)} at most`;
    const statuses = JSON.stringify(countBy(requests, ({ status }) => status));
    return {
      problems,
      figures: `${minutes} minutes, ${requests.length} requests ${statuses}; ${sizes}; at least ${second} in the second third, ${last} in the last`,
    };
  } finally {
    await environment.close(log);
  }
}
