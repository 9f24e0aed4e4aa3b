import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy that leads to one of several servers, as HAProxy does that asks Patroni which one is the primary (docs/database.md). */
export class PrimaryProxy {
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();
  #primaryPort: number;

  private constructor(primaryPort: number) {
    this.#primaryPort = primaryPort;
    this.#listener = createServer((client) => this.#forward(client));
  }

  /** Starts a proxy to a port of this host. */
  static async start(primaryPort: number): Promise<PrimaryProxy> {
    const proxy = new PrimaryProxy(primaryPort);
    proxy.#listener.listen(0, '127.0.0.1').unref();
    await once(proxy.#listener, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Leads new connections to another port, and closes those to the former one (`on-marked-down shutdown-sessions`). */
  follow(primaryPort: number): void {
    this.#primaryPort = primaryPort;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #forward(client: Socket): void {
    const server = connect(this.#primaryPort, '127.0.0.1');
    client.pipe(server).pipe(client);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
