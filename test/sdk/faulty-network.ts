import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Service } from '../support/harness.ts';

/** What happens to a request: the service never gets it, its response is lost or ends in the middle, or a proxy answers. */
export type Fault = 'refused' | 'lost' | 'cut' | number;

export interface ReceivedRequest {
  /** Method and path: `GET /me`. */
  route: string;
  token: string;
  body: string;
}

/** A network between clients and a service, with one fault after the other. */
export class FaultyNetwork {
  /** Faults of the next requests; null for none. */
  faults: (Fault | null)[] = [];
  /** The requests so far, in order. */
  requests: ReceivedRequest[] = [];
  /** Header `Retry-After` of the answers of the proxy. */
  retryAfter = '0';
  readonly #server: Server;

  /** @param ignored Requests of this route pass without a fault, and are not kept. */
  private constructor(service: Service, ignored?: string) {
    this.#server = createServer(async (request, response) => {
      let payload = '';
      for await (const chunk of request) payload += chunk;
      const { method, url, headers } = request;
      const route = `${method} ${url!.split('?')[0]}`;
      const isIgnored = route === ignored;
      if (!isIgnored)
        this.requests.push({ route, token: headers.authorization?.replace('Bearer ', '') ?? '', body: payload });
      const fault = isIgnored ? undefined : this.faults.shift();
      if (fault === 'refused') return response.destroy();
      if (typeof fault === 'number')
        return response
          .writeHead(fault, { 'retry-after': this.retryAfter })
          .end(fault === 502 ? '<html>Bad gateway</html>' : '{}');
      const answer = await service.request({ method: method as 'POST', url: url!, headers: headers as never, payload });
      if (fault === 'lost') return response.destroy();
      // The service's clock, which validates times.
      const date = new Date(service.clock.now()).toUTCString();
      response.writeHead(answer.statusCode, { ...answer.headers, date } as never);
      if (fault !== 'cut') return response.end(answer.rawPayload);
      response.write(answer.rawPayload.subarray(0, answer.rawPayload.length / 2), () => response.destroy());
    });
  }

  static async start(service: Service, ignored?: string): Promise<FaultyNetwork> {
    const network = new FaultyNetwork(service, ignored);
    network.#server.listen(0, '127.0.0.1');
    await once(network.#server, 'listening');
    return network;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  reset(): void {
    this.faults = [];
    this.requests = [];
    this.retryAfter = '0';
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
