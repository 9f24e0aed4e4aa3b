import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Ports of those whose connection to that port of this machine the other side has not ended, as the kernel knows it. */
async function peersOf(port: number): Promise<Set<number>> {
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').slice(1);
  const portOf = (address: string | undefined) => Number.parseInt(address?.split(':')[1] ?? '', 16);
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const established = fields.filter(([, local, , state]) => state === '01' && portOf(local) === port);
  return new Set(established.map(([, , peer]) => portOf(peer)));
}

/** Connections on which a client dawdles, and how long the service bears each of them. */
export class Dawdlers {
  readonly lives: number[] = [];
  readonly #port: number;
  readonly #open = new Map<Socket, number>();
  readonly #timers: NodeJS.Timeout[] = [];

  /**
   * @param start What each sends at once.
   * @param drip What each sends every second after it; null for a client that sent all and does not read.
   */
  constructor(
    origin: string,
    readonly count: number,
    start: string,
    drip: ((second: number) => string) | null,
  ) {
    const { hostname, port } = new URL(origin);
    this.#port = Number(port);
    for (let number = 0; number < count; number++) {
      const socket = connect(this.#port, hostname);
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

  /** Until the service has ended the last one, or so many milliseconds have passed. */
  async gone(milliseconds: number): Promise<void> {
    for (const end = performance.now() + milliseconds; performance.now() < end; await sleep(500)) {
      const peers = await peersOf(this.#port);
      for (const [socket, begun] of this.#open) {
        if (peers.has(socket.localPort!)) continue;
        this.lives.push(Math.round(performance.now() - begun));
        this.#open.delete(socket);
        socket.destroy();
      }
      if (this.lives.length === this.count) break;
    }
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#open.keys()) socket.destroy();
  }
}

/** Connections that have had an answer once and then keep still. */
export async function idleConnections(origin: string, count: number): Promise<{ sockets: Socket[]; failed: number }> {
  const { hostname, port } = new URL(origin);
  const sockets: Socket[] = [];
  let failed = 0;
  const open = async () => {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const isAnswered = await new Promise<boolean>((done) => {
      socket.once('data', () => done(true));
      socket.once('close', () => done(false));
    });
    if (!isAnswered) failed++;
    socket.resume();
  };
  let next = 0;
  const work = async () => {
    while (next++ < count) await open();
  };
  await Promise.all(Array.from({ length: 100 }, work));
  return { sockets, failed };
}
