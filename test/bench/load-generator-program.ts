/**
 * Program of the load generator. It runs in its own process so that it does not share an event loop with the measured service. It receives
 * each load as a message and replies with a `LoadResult`, or with the text of an error.
 */
import { createRequire } from 'node:module';
import type autocannon from 'autocannon';

const runAutocannon: typeof autocannon = createRequire(`${process.cwd()}/test/tools/bench/`)('autocannon');

/** One request. Each send replaces `[<id>]` in the body by a unique text. */
export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface LoadOptions {
  origin: string;
  /** Sent in rotation on each connection. Each connection starts at another request. */
  requests: LoadRequest[];
  connections: number;
  seconds: number;
  /** Number of requests after which the load ends, in place of the seconds. */
  amount?: number;
  /** Requests per second of all connections together; unlimited where absent. */
  rate?: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  requests: number;
  /** Milliseconds, under load from all connections at once. */
  p50: number;
  p99: number;
  /** Responses other than 2xx, connection errors and timeouts. */
  failures: number;
  /** Microseconds of the generator's own processor time per request. */
  generator: number;
}

async function generateLoad({
  origin,
  requests,
  connections,
  seconds,
  amount,
  rate,
}: LoadOptions): Promise<LoadResult> {
  let started = 0;
  const options: autocannon.Options = {
    url: origin,
    connections,
    ...(amount ? { amount } : { duration: seconds }),
    ...(rate && { overallRate: rate }),
    requests,
    // Interval in milliseconds at which autocannon checks the duration.
    sampleInt: 100,
    idReplacement: requests.some(({ body }) => body?.includes('[<id>]')),
    setupClient(client) {
      const first = (started++ * 7) % requests.length;
      client.setRequests([...requests.slice(first), ...requests.slice(0, first)]);
    },
  };
  const times: number[] = [];
  const before = process.cpuUsage();
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = runAutocannon(options, (error, finished) => (error ? reject(error) : resolve(finished)));
    // The histogram of autocannon has a resolution of one millisecond.
    run.on('response', (_client: autocannon.Client, _status: number, _bytes: number, time: number) => times.push(time));
  });
  const { user, system } = process.cpuUsage(before);
  times.sort((one, other) => one - other);
  const computeQuantile = (fraction: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * fraction))] ?? 0;
  return {
    requestsPerSecond: result['2xx'] / result.duration,
    requests: result['2xx'],
    p50: computeQuantile(0.5),
    p99: computeQuantile(0.99),
    failures: result.non2xx + result.errors + result.timeouts,
    generator: (user + system) / Math.max(1, times.length),
  };
}

process.on('message', (options: LoadOptions) => {
  generateLoad(options).then(
    (result) => process.send!(result),
    (error) => process.send!(String(error)),
  );
});
process.on('disconnect', () => process.exit());
