import type { Worker } from 'node:cluster';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { RoundRobinQueue } from '../shared/round-robin-queue.ts';
import type { SupervisorMessage } from './messages.ts';

/** Connections that wait for a worker at most; more are closed. As many as Linux keeps for a socket by default. */
const MAX_WAITING = 4_096;

/**
 * Holds the listening sockets of the service and gives each connection to the worker that has been free for longest. A worker
 * is given the next one when it has taken over the last, so that a busy worker takes fewer. Connections wait, unread, while
 * there is no worker, and so does one whose worker died before it had taken it over.
 *
 * The round-robin scheduling of node:cluster closes the listening socket with the last worker, and loses a connection whose worker
 * dies while it is being handed over. Its other scheduling closes the socket too, and leaves the choice of a worker to the
 * operating system, which gave 31 of 32 connections to one of two.
 */
export class ConnectionDispatcher {
  readonly #servers: Server[] = [];
  /** By remote address, so that one that opens many connections delays only itself. */
  readonly #waiting = new RoundRobinQueue<Socket>();
  /** Those whose worker died before it had taken them over. */
  readonly #returned: Socket[] = [];
  /** Workers that can be given a connection, in the order in which they became free. */
  readonly #free = new Set<Worker>();
  /** What a worker was given and has not taken over yet. */
  readonly #offered = new Map<Worker, Socket>();

  async listen(host: string, port: number): Promise<void> {
    // As Fastify does, `localhost` means every address that it has.
    const addresses = host === 'localhost' ? await lookup(host, { all: true }) : [{ address: host }];
    for (const { address } of addresses) {
      const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.#receive(socket));
      server.listen({ host: address, port });
      await once(server, 'listening');
      this.#servers.push(server);
    }
  }

  /** Gives connections to the worker from now on. */
  add(worker: Worker): void {
    this.#free.add(worker);
    this.#dispatch();
  }

  /** The worker has taken over the connection that it was given. */
  accepted(worker: Worker): void {
    // The worker has a descriptor of its own; this closes ours.
    this.#offered.get(worker)?.destroy();
    this.#offered.delete(worker);
    this.add(worker);
  }

  /** Gives the worker nothing more; a connection that it has not taken over is given to another one. */
  remove(worker: Worker): void {
    this.#free.delete(worker);
    const offered = this.#offered.get(worker);
    this.#offered.delete(worker);
    if (offered) this.#returned.push(offered);
    this.#dispatch();
  }

  /** Stops listening. Connections that wait are closed. */
  close(): void {
    for (const server of this.#servers) server.close();
    for (let socket = this.#takeNext(); socket; socket = this.#takeNext()) socket.destroy();
  }

  #receive(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    // Node would keep a list in both processes of all sockets of a server that it sends to another process.
    (socket as { server?: unknown }).server = undefined;
    if (this.#waiting.size >= MAX_WAITING) {
      socket.destroy();
      return;
    }
    this.#waiting.add(socket.remoteAddress ?? '', socket);
    this.#dispatch();
  }

  #takeNext(): Socket | undefined {
    return this.#returned.shift() ?? this.#waiting.take();
  }

  #dispatch(): void {
    for (const worker of this.#free) {
      const socket = this.#takeNext();
      if (!socket) return;
      this.#free.delete(worker);
      this.#offered.set(worker, socket);
      // What cannot be sent is given to another worker when this one's end is noticed.
      worker.send({ type: 'connection' } satisfies SupervisorMessage, socket, { keepOpen: true }, () => undefined);
    }
  }
}
