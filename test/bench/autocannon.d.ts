/** Types of the parts of autocannon that the bench uses; the package contains no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  namespace autocannon {
    interface Request {
      method: string;
      path: string;
      headers: Record<string, string>;
      body?: string;
    }
    interface Client {
      setRequests(requests: Request[]): void;
    }
    interface Options {
      url: string;
      connections: number;
      /** Seconds. */
      duration?: number;
      /** Number of requests, in place of the duration. */
      amount?: number;
      /** Requests per second of all connections together. */
      overallRate?: number;
      requests: Request[];
      /** Milliseconds. */
      sampleInt?: number;
      /** Whether `[<id>]` in a body is replaced by a unique text for each request. */
      idReplacement?: boolean;
      setupClient?: (client: Client) => void;
    }
    interface Result {
      /** Seconds. */
      duration: number;
      '2xx': number;
      non2xx: number;
      errors: number;
      timeouts: number;
    }
  }
  function autocannon(
    options: autocannon.Options,
    done: (error: Error | null, result: autocannon.Result) => void,
  ): EventEmitter;
  export type Client = autocannon.Client;
  export type Options = autocannon.Options;
  export default autocannon;
}
