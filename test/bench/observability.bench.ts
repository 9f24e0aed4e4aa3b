import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { toMarkdownTable } from './markdown-table.ts';
import type { LoadGenerator, ServiceProcess } from './processes.ts';
import { publishFigures } from './publish-figures.ts';
import { computeRatioConfidence, median } from './statistics.ts';
import { selectWorkloads, type Workload } from './workloads.ts';

const WARM_UP_SECONDS = 3;
/** Duration of the load before each measurement, which opens connections again that were closed while another variant was measured. */
const SETTLE_SECONDS = 0.3;
const DEFAULT_WORKLOAD = 'GET /timesheets';

/** A configuration of the service that differs from the baseline in one feature. */
interface ServiceVariant {
  /** Environment variables over the defaults. */
  env: Record<string, string>;
  headers?: Record<string, string>;
}

/** Features with their variants: either the variant has the feature and the baseline does not, or the reverse. */
const FEATURES: { name: string; variant: ServiceVariant; hasFeature: boolean }[] = [
  { name: 'log line of each request', variant: { env: { LOG_LEVEL: 'warn' } }, hasFeature: false },
  { name: 'tracing of every request', variant: { env: { OTEL_EXPORTER_OTLP_ENDPOINT: '' } }, hasFeature: true },
  { name: 'compression (`br`)', variant: { env: {}, headers: { 'accept-encoding': 'br' } }, hasFeature: true },
  {
    name: 'DATABASE_CONNECTIONS=24 in place of 72',
    variant: { env: { DATABASE_CONNECTIONS: '24' } },
    hasFeature: true,
  },
];

interface Sample {
  /** CPU time of the service in microseconds per request. */
  cost: number;
  requestsPerSecond: number;
}

/** Measures the CPU time per request with and without each feature, in interleaved rounds. */
export async function measureObservability(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(options.timesheets);
  const workloads = selectWorkloads(environment.data, environment.tokens, { only: options.only || DEFAULT_WORKLOAD });
  const endpoint = await startTraceReceiver(environment);
  const start = ({ env }: ServiceVariant) => {
    const tracing = 'OTEL_EXPORTER_OTLP_ENDPOINT' in env && { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    const settings = { LOG_LEVEL: 'info', METRICS_TOKEN: 'of-the-bench-of-observability-42', ...env, ...tracing };
    return environment.start(JSON.stringify(env), '../../src/server.js', [], settings);
  };
  const baseline = await start({ env: {} });
  const services: ServiceProcess[] = [];
  for (const { variant } of FEATURES) services.push(await start(variant));
  const generator = environment.createLoadGenerator();
  const [connections] = options.connections;
  const rows = [];
  for (const workload of workloads) {
    const variants = [
      { service: baseline, headers: {} },
      ...FEATURES.map(({ variant }, index) => ({ service: services[index]!, headers: variant.headers ?? {} })),
    ];
    const measurements = variants.map(({ service, headers }) => ({ service, workload: addHeaders(workload, headers) }));
    rows.push(...(await measure(generator, measurements, connections!, options)));
  }
  await publishFigures(options, rows, `\n${toTable(rows, options)}`);
}

/** Starts an HTTP server that accepts and discards traces. Returns its URL. */
async function startTraceReceiver(environment: BenchEnvironment): Promise<string> {
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  environment.onClose(async () => {
    receiver.close();
    receiver.closeAllConnections();
  });
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
}

const addHeaders = (workload: Workload, headers: Record<string, string>): Workload => ({
  ...workload,
  requests: workload.requests.map((request) => ({ ...request, headers: { ...request.headers, ...headers } })),
});

/** Compares the first service with each of the others. Every round takes one sample of each, in alternating order. */
async function measure(
  generator: LoadGenerator,
  measurements: { service: ServiceProcess; workload: Workload }[],
  connections: number,
  { rounds, seconds }: BenchOptions,
) {
  const run = async ({ service: { origin, name }, workload }: (typeof measurements)[number], duration: number) => {
    const result = await generator.run({ origin, requests: workload.requests, connections, seconds: duration });
    if (result.failures > 0) throw new Error(`${name}: ${result.failures} requests of ${workload.name} failed.`);
    return result.requests;
  };
  for (const measurement of measurements) await run(measurement, WARM_UP_SECONDS);
  const samples: Sample[][] = [];
  for (let round = 0; round < rounds; round++) {
    const roundSamples: Sample[] = [];
    const order = [...measurements.keys()];
    for (const index of round % 2 ? order.reverse() : order) {
      const measurement = measurements[index]!;
      await run(measurement, SETTLE_SECONDS);
      const cpuBefore = await measurement.service.readProcessorTime();
      const requests = await run(measurement, seconds);
      const milliseconds = (await measurement.service.readProcessorTime()) - cpuBefore;
      roundSamples[index] = { cost: (milliseconds * 1000) / requests, requestsPerSecond: requests / seconds };
    }
    samples.push(roundSamples);
    logProgress(`round ${round + 1} of ${rounds}`);
  }
  return FEATURES.map(({ name, hasFeature }, index) => {
    const pairs = samples.map(([first, ...others]) =>
      hasFeature ? [first!, others[index]!] : [others[index]!, first!],
    );
    const computeMedian = (side: 0 | 1, key: keyof Sample) => median(pairs.map((pair) => pair[side]![key]));
    return {
      ...{ part: name, operation: measurements[0]!.workload.name, connections },
      ...{ without: computeMedian(0, 'cost'), with: computeMedian(1, 'cost') },
      requestsPerSecond: [computeMedian(0, 'requestsPerSecond'), computeMedian(1, 'requestsPerSecond')],
      ...computeRatioConfidence(pairs.map(([without, withFeature]) => withFeature!.cost / without!.cost)),
    };
  });
}

function toTable(rows: Awaited<ReturnType<typeof measure>>, { rounds, seconds }: BenchOptions): string {
  const header = ['part', 'operation', 'without, µs', 'with, µs', 'ratio', '95 % interval', 'requests/s'];
  const cells = rows.map((row) => [
    ...[row.part, row.operation, row.without.toFixed(0), row.with.toFixed(0), row.ratio.toFixed(3)],
    row.interval.map((end) => end.toFixed(3)).join('–'),
    row.requestsPerSecond.map((count) => count.toFixed(0)).join(' / '),
  ]);
  return `${toMarkdownTable(header, cells)}

CPU time per request of the service's process, user and system, without and with each part, over ${rounds} interleaved rounds of
${seconds} s with ${rows[0]!.connections} connections; medians, and the geometric mean of the rounds' ratios. Each part is switched on or off alone,
by a setting.
`;
}
