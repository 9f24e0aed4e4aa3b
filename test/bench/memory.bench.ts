import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import type { LoadRequest } from './load-generator-program.ts';
import { publishFigures } from './publish-figures.ts';
import { readStartOptions } from './start-options.ts';
import { selectWorkloads } from './workloads.ts';

const CONNECTIONS = 32;
const REQUESTS = 100_000;
/** Requests of each workload in the mix. Dashboards are less frequent because only people read them. */
const REQUESTS_PER_WORKLOAD = 20;
const REQUESTS_PER_DASHBOARD = 2;

/** Time after which V8 has released the memory that only the start needs. */
const IDLE_MS = 15_000;

/** Measures the resident memory of the service with the options of `npm start`: at rest, after its first request, and after many mixed requests. */
export async function measureMemory(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(options.timesheets);
  const workloads = selectWorkloads(environment.data, environment.tokens, options);
  const service = await environment.startService(readStartOptions());
  await sleep(IDLE_MS);
  const atRest = await service.readResidentMib();
  const [first] = workloads[0]!.requests;
  const response = await fetch(`${service.origin}${first!.path}`, first);
  if (!response.ok) throw new Error(`The first request was answered with ${response.status}.`);
  await response.arrayBuffer();
  const afterFirst = await service.readResidentMib();
  const amount = options.requests ?? REQUESTS;
  logProgress(`Sending ${amount} mixed requests.`);
  const mix: LoadRequest[] = workloads.flatMap(({ requests, postgraphile }) =>
    Array.from(
      { length: postgraphile ? REQUESTS_PER_DASHBOARD : REQUESTS_PER_WORKLOAD },
      (_, n) => requests[n % requests.length]!,
    ),
  );
  const load = { origin: service.origin, requests: mix, connections: CONNECTIONS, seconds: 0, amount };
  const { requests, failures } = await environment.createLoadGenerator().run(load);
  if (failures > 0) throw new Error(`${failures} requests failed.`);
  const afterMany = await service.readResidentMib();
  const figures = { requests, residentMib: { atRest, afterFirst, afterMany } };
  const formatMib = (value: number) => `${value.toFixed(0)} MiB`;
  const text = `
Resident memory: ${formatMib(atRest)} at rest, ${formatMib(afterFirst)} after the first request, ${formatMib(afterMany)} after ${requests} mixed requests.
`;
  await publishFigures(options, figures, text);
}
