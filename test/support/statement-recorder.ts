import type { Socket } from 'node:net';
import { startTcpProxy } from './tcp-proxy.ts';

/** A TCP proxy to PostgreSQL that keeps the text of every statement as the server receives it, without bound values. */
export class StatementRecorder {
  readonly statements: string[] = [];
  #url = '';

  private constructor() {}

  /** Starts a proxy to the server of the URL; the proxy's `url` differs in its port. */
  static async start(target: string): Promise<StatementRecorder> {
    const proxy = new StatementRecorder();
    proxy.#url = await startTcpProxy(target, (client, server) => proxy.#forward(client, server));
    return proxy;
  }

  get url(): string {
    return this.#url;
  }

  #forward(client: Socket, server: Socket): void {
    client.pipe(server).pipe(client);
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
    // The startup message has no type; each other message has one byte for it, and its length.
    let rest: Buffer = Buffer.alloc(0);
    let hasStarted = false;
    client.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const begin = hasStarted ? 1 : 0;
        if (rest.length < begin + 4) return;
        const end = begin + rest.readUInt32BE(begin);
        if (rest.length < end) return;
        if (hasStarted) this.#record(String.fromCharCode(rest[0]!), rest.subarray(5, end));
        hasStarted = true;
        rest = rest.subarray(end);
      }
    });
  }

  /** Keeps the text of a simple query, and of a parsed statement after its name. */
  #record(type: string, body: Buffer): void {
    const texts = body.toString().split('\0');
    if (type === 'Q') this.statements.push(texts[0]!);
    if (type === 'P') this.statements.push(texts[1]!);
  }
}
