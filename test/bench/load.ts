/**
 * The load generator: a process of its own, so that it shares no event loop with what it measures. Told what to load by
 * messages, it answers each with a `LoadResult`, or with the text of what went wrong.
 */
import autocannon, { type Client, type Options } from 'autocannon';

/** One request. `[<id>]` in its body is another text each time. */
export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface LoadOrder {
  origin: string;
  /** Sent in turn on each connection, each beginning at another one. */
  requests: LoadRequest[];
  connections: number;
  seconds: number;
  /** Ends after so many requests in place of the seconds. */
  amount?: number;
  /** Requests per second of all connections; as many as are answered where it is absent. */
  rate?: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  requests: number;
  /** Milliseconds, under load from all connections at once. */
  p50: number;
  p99: number;
  /** Answers other than 2xx, broken connections and timeouts. */
  failures: number;
  /** Microseconds of the generator's own processor time per request. */
  generator: number;
}

async function load({ origin, requests, connections, seconds, amount, rate }: LoadOrder): Promise<LoadResult> {
  let started = 0;
  const options: Options = {
    url: origin,
    connections,
    ...(amount ? { amount } : { duration: seconds }),
    ...(rate && { overallRate: rate }),
    requests,
    // Looks every so many milliseconds whether the time is over.
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
    const run = autocannon(options, (error, finished) => (error ? reject(error) : resolve(finished)));
    // Its own histogram counts whole milliseconds.
    run.on('response', (_client: Client, _status: number, _bytes: number, time: number) => times.push(time));
  });
  const { user, system } = process.cpuUsage(before);
  times.sort((one, other) => one - other);
  const percentile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return {
    requestsPerSecond: result['2xx'] / result.duration,
    requests: result['2xx'],
    p50: percentile(0.5),
    p99: percentile(0.99),
    failures: result.non2xx + result.errors + result.timeouts,
    generator: (user + system) / Math.max(1, times.length),
  };
}

process.on('message', (order: LoadOrder) => {
  load(order).then(
    (result) => process.send!(result),
    (error) => process.send!(String(error)),
  );
});
process.on('disconnect', () => process.exit());
