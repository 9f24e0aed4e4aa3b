/** What the benchmark uses of autocannon, which brings no types. */
declare module 'autocannon' {
  interface Options {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    headers: Record<string, string>;
    method?: string;
    body?: string;
    /** Whether `[<id>]` in the body becomes another text for each request. */
    idReplacement?: boolean;
  }
  interface Result {
    /** Seconds. */
    duration: number;
    '2xx': number;
    non2xx: number;
    errors: number;
    timeouts: number;
    /** Milliseconds. */
    latency: { p50: number; p99: number };
  }
  export default function autocannon(options: Options): Promise<Result>;
}
