import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectWithTls } from 'node:tls';

/** Returns the client ports of the established connections to a port of this machine. */
export async function readPeerPorts(port: number): Promise<Set<number>> {
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').slice(1);
  const portOf = (address: string | undefined) => Number.parseInt(address?.split(':')[1] ?? '', 16);
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const established = fields.filter(([, local, , state]) => state === '01' && portOf(local) === port);
  return new Set(established.map(([, , peer]) => portOf(peer)));
}

/** Connections of slow clients, with the time until the service closes each of them. */
export class SlowClients {
  /** Milliseconds until a connection was closed. */
  readonly durations: number[] = [];
  readonly #port: number;
  readonly #open = new Map<Socket, number>();
  readonly #timers: NodeJS.Timeout[] = [];

  /**
   * @param start Text that each connection sends at once.
   * @param drip Returns the text that is sent every second after that; null for a client that does not read the response.
   */
  constructor(
    origin: string,
    readonly count: number,
    start: string,
    drip: ((second: number) => string) | null,
  ) {
    const { hostname: host, port, protocol } = new URL(origin);
    this.#port = Number(port);
    const isTls = protocol === 'https:';
    // A proxy limits the connections of an address, which must not be that of other clients.
    const options = { host, port: this.#port, ...(isTls && { localAddress: '127.0.0.3' }) };
    for (let number = 0; number < count; number++) {
      const socket = isTls ? connectWithTls(options) : connect(options);
      socket.on('error', () => undefined);
      socket.on('connect', () => this.#open.set(socket, performance.now()));
      socket.write(start);
      if (!drip) {
        socket.pause();
        continue;
      }
      socket.resume();
      let second = 0;
      this.#timers.push(setInterval(() => socket.write(drip(second++)), 1_000));
    }
  }

  /** Connections that are not closed. */
  get open(): number {
    return this.#open.size;
  }

  /** Waits until the service has closed every connection, or for the milliseconds. */
  async waitUntilClosed(milliseconds: number): Promise<void> {
    for (const end = performance.now() + milliseconds; performance.now() < end; await sleep(500)) {
      const peers = await readPeerPorts(this.#port);
      for (const [socket, begun] of this.#open) {
        if (peers.has(socket.localPort!)) continue;
        this.durations.push(Math.round(performance.now() - begun));
        this.#open.delete(socket);
        socket.destroy();
      }
      if (this.durations.length === this.count) break;
    }
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#open.keys()) socket.destroy();
  }
}

/** Opens connections that send one request each and then stay idle. */
export async function openIdleConnections(
  origin: string,
  count: number,
): Promise<{ sockets: Socket[]; failed: number }> {
  const { hostname, port } = new URL(origin);
  const sockets: Socket[] = [];
  let failed = 0;
  const open = async () => {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const hasResponse = await new Promise<boolean>((done) => {
      socket.once('data', () => done(true));
      socket.once('close', () => done(false));
    });
    if (!hasResponse) failed++;
    socket.resume();
  };
  let next = 0;
  const work = async () => {
    while (next++ < count) await open();
  };
  await Promise.all(Array.from({ length: 100 }, work));
  return { sockets, failed };
}
