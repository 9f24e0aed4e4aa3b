import type { Socket } from 'node:net';
import { startTcpProxy } from './tcp-proxy.ts';

/** A TCP proxy to a server, which can stop the server's responses. */
export class InterruptibleProxy {
  readonly #sockets = new Set<Socket>();
  #isStopped = false;
  #url = '';

  private constructor() {}

  /** Starts a proxy to the server of the URL; the proxy's `url` differs in its port. */
  static async start(target: string): Promise<InterruptibleProxy> {
    const proxy = new InterruptibleProxy();
    proxy.#url = await startTcpProxy(target, (client, server) => proxy.#forward(client, server));
    return proxy;
  }

  get url(): string {
    return this.#url;
  }

  /** Simulates a hanging server: connections are accepted and requests read, but no response arrives. */
  stopResponses(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Ends the simulation and forwards the responses received meanwhile. */
  resumeResponses(): void {
    this.#isStopped = false;
    for (const socket of this.#sockets) socket.resume();
  }

  #forward(client: Socket, server: Socket): void {
    this.#sockets.add(server);
    client.pipe(server);
    server.on('data', (chunk) => client.write(chunk));
    if (this.#isStopped) server.pause();
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    server.on('close', () => this.#sockets.delete(server));
  }
}
