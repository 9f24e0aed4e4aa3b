import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Connections on which a client dawdles, and how long each of them was borne. */
export class Dawdlers {
  readonly lives: number[] = [];
  readonly #sockets: Socket[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #ends: Promise<unknown>[] = [];

  /**
   * @param start What each sends at once.
   * @param drip What each sends every second after it; nothing of a client that only reads slowly.
   */
  constructor(
    origin: string,
    readonly count: number,
    start: string,
    drip: ((second: number) => string) | null,
  ) {
    const { hostname, port } = new URL(origin);
    for (let number = 0; number < count; number++) {
      const socket = connect(Number(port), hostname);
      const begun = performance.now();
      this.#sockets.push(socket);
      socket.write(start);
      socket.on('error', () => undefined);
      const end = new Promise<void>((closed) => socket.once('close', () => closed()));
      this.#ends.push(end.then(() => this.lives.push(Math.round(performance.now() - begun))));
      let second = 0;
      const timer = setInterval(() => {
        if (drip) socket.write(drip(second++));
        else socket.read(1_024);
      }, 1_000);
      this.#timers.push(timer);
      if (drip) socket.resume();
      else socket.pause();
    }
  }

  get open(): number {
    return this.count - this.lives.length;
  }

  /** Until the last one is cut, or so many milliseconds have passed. */
  async gone(milliseconds: number): Promise<void> {
    await Promise.race([Promise.all(this.#ends), sleep(milliseconds)]);
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#sockets) socket.destroy();
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
