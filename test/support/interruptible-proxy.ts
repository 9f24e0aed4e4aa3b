import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a server, which can stop the server's responses. */
export class InterruptibleProxy {
  readonly #sockets = new Set<Socket>();
  #isStopped = false;

  private constructor(readonly url: string) {}

  /** Starts a proxy to the server of the URL; the proxy's `url` differs in its port. */
  static async start(url: string): Promise<InterruptibleProxy> {
    const target = new URL(url);
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    listener.unref();
    const proxyUrl = new URL(url);
    proxyUrl.port = String((listener.address() as AddressInfo).port);
    const proxy = new InterruptibleProxy(proxyUrl.href);
    listener.on('connection', (socket) => proxy.#forward(socket, connect(Number(target.port), target.hostname)));
    return proxy;
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
