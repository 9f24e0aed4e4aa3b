import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Target {
  origin: string;
  agent: Agent;
  isReady: boolean;
}

const PROBE_INTERVAL_MS = 100;

/** A load balancer that probes the health of each instance and distributes requests to those that are ready, without retries. */
export class Balancer {
  readonly origin: string;
  /** Names and values of headers that are added to each request. */
  headers: string[] = [];
  readonly #server: Server;
  readonly #targets: Target[] = [];
  readonly #timer: NodeJS.Timeout;
  #next = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#timer = setInterval(() => void this.#probe(), PROBE_INTERVAL_MS);
    server.on('request', (incoming, outgoing) => {
      const ready = this.#targets.filter(({ isReady }) => isReady);
      const target = ready[this.#next++ % ready.length];
      if (!target) {
        outgoing.writeHead(502).end('no instance is ready');
        return;
      }
      const { method, url: path, rawHeaders } = incoming;
      const headers = [...rawHeaders, ...this.headers, 'X-Forwarded-For', incoming.socket.remoteAddress!];
      const { hostname: host, port } = new URL(target.origin);
      const forwarded = request(
        { host, port, method, path, headers, agent: target.agent, setHost: false },
        (response) => {
          outgoing.writeHead(response.statusCode!, response.rawHeaders);
          response.pipe(outgoing);
        },
      );
      forwarded.on('error', (error) => {
        if (outgoing.headersSent) outgoing.destroy();
        else outgoing.writeHead(502, { 'content-type': 'application/json' }).end(JSON.stringify(error.message));
      });
      incoming.pipe(forwarded);
    });
  }

  static async start(): Promise<Balancer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Balancer(server);
  }

  /** Adds an instance, and resolves when it is ready. */
  async add(origin: string): Promise<void> {
    const target = { origin, agent: new Agent({ keepAlive: true }), isReady: false };
    this.#targets.push(target);
    while (!target.isReady) await new Promise((done) => setTimeout(done, 20));
  }

  remove(origin: string): void {
    const at = this.#targets.findIndex((target) => target.origin === origin);
    const [target] = this.#targets.splice(at, 1);
    target?.agent.destroy();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#server.closeAllConnections();
    this.#server.close();
    for (const { agent } of this.#targets) agent.destroy();
  }

  async #probe(): Promise<void> {
    await Promise.all(
      this.#targets.map(async (target) => {
        const signal = AbortSignal.timeout(3_000);
        target.isReady = await fetch(`${target.origin}/health/ready`, { signal }).then(
          ({ ok }) => ok,
          () => false,
        );
      }),
    );
  }
}
