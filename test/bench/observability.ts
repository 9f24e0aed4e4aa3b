import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { median } from './against.ts';
import { copyBuild } from './changed-build.ts';
import { confidenceOf } from './confidence.ts';
import type { Options } from './options.ts';
import type { Contestant, LoadGenerator } from './processes.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { markdown } from './table.ts';
import { withoutSpans } from './without-spans.ts';
import { selectedWorks, type Work } from './works.ts';

const WARM_UP_SECONDS = 3;
/** Before each measurement: connections that were closed while another variant was measured are opened again. */
const SETTLE_SECONDS = 0.3;
const WORK = 'GET /timesheets';

interface Variant {
  /** Settings over those of the stage; `WITHOUT` names what is taken out while the build is loaded. */
  env: Record<string, string>;
  /** Whether the calls that record spans are taken out of the build. */
  lacksSpans?: boolean;
  headers?: Record<string, string>;
}

/** Each variant, and whether it has the part that the usual service lacks or lacks one that the usual service has. */
const PARTS: { name: string; variant: Variant; has: boolean }[] = [
  { name: 'metrics', variant: { env: { WITHOUT: 'metrics' } }, has: false },
  { name: 'log line of each request', variant: { env: { LOG_LEVEL: 'warn' } }, has: false },
  {
    name: 'fields `route`, `operation`, `cost`, `integratorId` of that line',
    variant: { env: { WITHOUT: 'log-fields' } },
    has: false,
  },
  { name: 'spans, while tracing is off', variant: { env: {}, lacksSpans: true }, has: false },
  { name: 'tracing of every request', variant: { env: { OTEL_EXPORTER_OTLP_ENDPOINT: '' } }, has: true },
  { name: 'compression (`br`)', variant: { env: {}, headers: { 'accept-encoding': 'br' } }, has: true },
  { name: 'DATABASE_CONNECTIONS=24 in place of 72', variant: { env: { DATABASE_CONNECTIONS: '24' } }, has: true },
];

interface Sample {
  /** Microseconds of the service's CPU time per request. */
  cost: number;
  requestsPerSecond: number;
}

/** Measures what parts of the service cost: its CPU time per request with and without each of them, in interleaved rounds. */
export async function observability(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const works = selectedWorks(stage.data, stage.tokens, { only: options.only || WORK });
  const endpoint = await startReceiver(stage);
  const start = async ({ env, lacksSpans }: Variant) => {
    const tracing = 'OTEL_EXPORTER_OTLP_ENDPOINT' in env && { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    const preloaded = ['--import', new URL('./without.js', import.meta.url).href];
    const settings = { LOG_LEVEL: 'info', METRICS_TOKEN: 'of-the-bench-of-observability-42', ...env, ...tracing };
    const program = lacksSpans ? await copyBuild(stage, removeSpans) : '../../src/server.js';
    return stage.start(JSON.stringify(env), program, preloaded, settings);
  };
  const usual = await start({ env: {} });
  const services: Contestant[] = [];
  for (const { variant } of PARTS) services.push(await start(variant));
  const generator = stage.generator();
  const [connections] = options.connections;
  const rows = [];
  for (const work of works) {
    const variants = [
      { service: usual, headers: {} },
      ...PARTS.map(({ variant }, at) => ({ service: services[at]!, headers: variant.headers ?? {} })),
    ];
    const measurements = variants.map(({ service, headers }) => ({ service, work: withHeaders(work, headers) }));
    rows.push(...(await measure(generator, measurements, connections!, options)));
  }
  await publish(options, rows, `\n${tableOf(rows, options)}`);
}

const removeSpans = (code: string, name: string) => (name === 'src/shared/tracing.js' ? code : withoutSpans(code));

/** Starts a receiver of traces, which discards them. Returns its address. */
async function startReceiver(stage: Stage): Promise<string> {
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  stage.defer(async () => {
    receiver.close();
    receiver.closeAllConnections();
  });
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
}

const withHeaders = (work: Work, headers: Record<string, string>): Work => ({
  ...work,
  requests: work.requests.map((request) => ({ ...request, headers: { ...request.headers, ...headers } })),
});

/** Measures the first service beside each of the others. Every round has one sample of each, in alternating order. */
async function measure(
  generator: LoadGenerator,
  measurements: { service: Contestant; work: Work }[],
  connections: number,
  { rounds, seconds }: Options,
) {
  const run = async ({ service: { origin, name }, work }: (typeof measurements)[number], duration: number) => {
    const result = await generator.run({ origin, requests: work.requests, connections, seconds: duration });
    if (result.failures > 0) throw new Error(`${name}: ${result.failures} requests of ${work.name} failed.`);
    return result.requests;
  };
  for (const measurement of measurements) await run(measurement, WARM_UP_SECONDS);
  const samples: Sample[][] = [];
  for (let round = 0; round < rounds; round++) {
    const taken: Sample[] = [];
    const order = [...measurements.keys()];
    for (const at of round % 2 ? order.reverse() : order) {
      const measurement = measurements[at]!;
      await run(measurement, SETTLE_SECONDS);
      const begun = await measurement.service.processorTime();
      const requests = await run(measurement, seconds);
      const milliseconds = (await measurement.service.processorTime()) - begun;
      taken[at] = { cost: (milliseconds * 1000) / requests, requestsPerSecond: requests / seconds };
    }
    samples.push(taken);
    say(`round ${round + 1} of ${rounds}`);
  }
  return PARTS.map(({ name, has }, index) => {
    const pairs = samples.map(([first, ...others]) => (has ? [first!, others[index]!] : [others[index]!, first!]));
    const of = (side: 0 | 1, key: keyof Sample) => median(pairs.map((pair) => pair[side]![key]));
    return {
      ...{ part: name, operation: measurements[0]!.work.name, connections },
      ...{ without: of(0, 'cost'), with: of(1, 'cost') },
      requestsPerSecond: [of(0, 'requestsPerSecond'), of(1, 'requestsPerSecond')],
      ...confidenceOf(pairs.map(([without, present]) => present!.cost / without!.cost)),
    };
  });
}

function tableOf(rows: Awaited<ReturnType<typeof measure>>, { rounds, seconds }: Options): string {
  const header = ['part', 'operation', 'without, µs', 'with, µs', 'ratio', '95 % interval', 'requests/s'];
  const cells = rows.map((row) => [
    ...[row.part, row.operation, row.without.toFixed(0), row.with.toFixed(0), row.ratio.toFixed(3)],
    row.interval.map((end) => end.toFixed(3)).join('–'),
    row.requestsPerSecond.map((count) => count.toFixed(0)).join(' / '),
  ]);
  return `${markdown(header, cells)}

CPU time per request of the service's process, user and system, without and with each part, over ${rounds} interleaved rounds of
${seconds} s with ${rows[0]!.connections} connections; medians, and the geometric mean of the rounds' ratios. One build; each part is taken out or
switched on alone.
`;
}
