import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const FAULT = '<?xml version="1.0"?><Error><Code>InternalError</Code><Message>Please try again.</Message></Error>';

/** A proxy of an S3 store. While `isFailing`, it responds to every third request with an error instead of forwarding it. */
export class FaultyStore {
  calls = 0;
  faults = 0;
  isFailing = false;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(
    readonly endpoint: string,
    readonly server: Server,
    target: URL,
  ) {
    server.on('request', (incoming, outgoing) => {
      if (++this.calls % 3 === 0 && this.isFailing) {
        this.faults++;
        incoming.resume();
        outgoing.writeHead(500, { 'content-type': 'application/xml' }).end(FAULT);
        return;
      }
      const { method, url: path, rawHeaders: headers } = incoming;
      const { hostname: host, port } = target;
      const forwarded = request(
        { host, port, method, path, headers, agent: this.#agent, setHost: false },
        (response) => {
          outgoing.writeHead(response.statusCode!, response.rawHeaders);
          response.pipe(outgoing);
        },
      );
      forwarded.on('error', () => outgoing.destroy());
      incoming.pipe(forwarded);
    });
  }

  static async start(endpoint: string): Promise<FaultyStore> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new FaultyStore(`http://127.0.0.1:${port}`, server, new URL(endpoint));
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
    this.#agent.destroy();
  }
}
