/**
 * The load generator: a process of its own, so that it shares no event loop with what it measures. Told what to load by
 * messages, it answers each with a `LoadResult`, or with the text of what went wrong.
 */
import autocannon from 'autocannon';

export interface LoadOrder {
  url: string;
  token: string;
  /** Further request headers. */
  headers: Record<string, string>;
  /** Makes it a POST; `[<id>]` in it is another text each time. */
  body?: string;
  connections: number;
  seconds: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  requests: number;
  /** Milliseconds, under load from all connections at once. */
  p50: number;
  p99: number;
  /** Answers other than 2xx, broken connections and timeouts. */
  failures: number;
}

async function load({ url, token, headers, body, connections, seconds }: LoadOrder): Promise<LoadResult> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { method: 'POST', body, idReplacement: true }),
  });
  return {
    requestsPerSecond: result['2xx'] / result.duration,
    requests: result['2xx'],
    p50: result.latency.p50,
    p99: result.latency.p99,
    failures: result.non2xx + result.errors + result.timeouts,
  };
}

process.on('message', (order: LoadOrder) => {
  load(order).then(
    (result) => process.send!(result),
    (error) => process.send!(String(error)),
  );
});
process.on('disconnect', () => process.exit());
