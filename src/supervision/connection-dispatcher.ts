import type { Worker } from 'node:cluster';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { toNetwork } from '../shared/network.ts';
import { RoundRobinQueue } from '../shared/round-robin-queue.ts';
import type { SupervisorMessage } from './messages.ts';

/** Maximum connections that wait for a worker. Equals Linux's default backlog of a socket. */
const MAX_WAITING = 4_096;

/**
 * Holds the listening sockets of the service and sends each connection to the worker that has been free for longest. A worker
 * receives its next connection only after it has acknowledged the previous one, so that busy workers receive fewer. Connections are
 * queued unread while no worker is free. A connection whose worker exits before acknowledging it, or has no file descriptor for it, is sent
 * to the next free worker.
 */
export class ConnectionDispatcher {
  readonly #servers: Server[] = [];
  /** By remote network (LIM-7), so that one that opens many connections delays only itself. */
  readonly #waiting = new RoundRobinQueue<Socket>();
  /** Those whose worker died before it had taken them over, or could not receive them. */
  readonly #returned: Socket[] = [];
  /** Workers that can accept a connection, in the order in which they became free. */
  readonly #free = new Set<Worker>();
  /** Connections that were sent to a worker and not yet accepted. */
  readonly #offered = new Map<Worker, Socket>();
  /** Workers that could not receive their last connection. */
  readonly #refusing = new Set<Worker>();
  readonly #maxWaiting: number;

  /** @param maxWaiting Of more connections that wait, the newest one of the network with the most is closed. */
  constructor(maxWaiting = MAX_WAITING) {
    this.#maxWaiting = maxWaiting;
  }

  async listen(host: string, port: number): Promise<void> {
    // As in Fastify, `localhost` listens on all of its addresses.
    const addresses = host === 'localhost' ? await lookup(host, { all: true }) : [{ address: host }];
    for (const { address } of addresses) {
      const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.#receive(socket));
      server.listen({ host: address, port });
      await once(server, 'listening');
      this.#servers.push(server);
    }
  }

  /** Sends connections to the worker from now on. */
  add(worker: Worker): void {
    this.#free.add(worker);
    this.#dispatch();
  }

  /** Closes this process's descriptor of an accepted connection, and marks the worker as free. */
  accepted(worker: Worker): void {
    this.#offered.get(worker)?.destroy();
    this.#offered.delete(worker);
    this.add(worker);
  }

  /** Sends the connection that did not reach the worker to the next free worker. This one receives none before `retry`. */
  refused(worker: Worker): void {
    if (!this.#offered.has(worker)) return;
    this.#refusing.add(worker);
    this.#takeBack(worker);
  }

  /** Marks a worker that could not receive its last connection as free. */
  retry(worker: Worker): void {
    if (this.#refusing.delete(worker)) this.add(worker);
  }

  /** Stops sending connections to the worker; one that it has not accepted goes to another worker. */
  remove(worker: Worker): void {
    this.#free.delete(worker);
    this.#refusing.delete(worker);
    this.#takeBack(worker);
  }

  /** Stops listening and closes the waiting connections. */
  close(): void {
    for (const server of this.#servers) server.close();
    for (let socket = this.#takeNext(); socket; socket = this.#takeNext()) socket.destroy();
  }

  #receive(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    // Without this Node keeps a list of the server's sockets in both processes.
    (socket as { server?: unknown }).server = undefined;
    this.#waiting.add(toNetwork(socket.remoteAddress ?? ''), socket);
    if (this.#waiting.size > this.#maxWaiting) this.#waiting.takeFromLongest()!.destroy();
    this.#dispatch();
  }

  #takeBack(worker: Worker): void {
    const offered = this.#offered.get(worker);
    this.#offered.delete(worker);
    if (offered) this.#returned.push(offered);
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
      // A connection that cannot be sent goes to another worker when this worker's exit is noticed.
      worker.send({ type: 'connection' } satisfies SupervisorMessage, socket, { keepOpen: true }, () => undefined);
    }
  }
}
