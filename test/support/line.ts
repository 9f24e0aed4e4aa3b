import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server, over a port of one's own, on which nothing more comes back once it is cut off. */
export class Line {
  readonly #sockets = new Set<Socket>();
  #silent = false;

  private constructor(readonly url: string) {}

  /** To the server of the URL, under a URL that is the same but for its port. */
  static async to(url: string): Promise<Line> {
    const target = new URL(url);
    const door = createServer().listen(0, '127.0.0.1');
    await once(door, 'listening');
    door.unref();
    const here = new URL(url);
    here.port = String((door.address() as AddressInfo).port);
    const line = new Line(here.href);
    door.on('connection', (socket) => line.#lead(socket, connect(Number(target.port), target.hostname)));
    return line;
  }

  /** As when the server hangs: connections are taken, and what is sent is read, but nothing is answered. */
  silence(): void {
    this.#silent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  restore(): void {
    this.#silent = false;
    for (const socket of this.#sockets) socket.resume();
  }

  #lead(client: Socket, server: Socket): void {
    this.#sockets.add(server);
    client.pipe(server);
    server.on('data', (chunk) => client.write(chunk));
    if (this.#silent) server.pause();
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
