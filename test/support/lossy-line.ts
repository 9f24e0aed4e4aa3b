import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A way to PostgreSQL that can lose the answer to a commit: it arrives, and then the connection ends. */
export class LossyLine {
  #losesCommit = false;

  private constructor(readonly url: string) {}

  static async to(url: string): Promise<LossyLine> {
    const target = new URL(url);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    const here = new URL(url);
    here.port = String((server.address() as AddressInfo).port);
    const line = new LossyLine(here.href);
    server.on('connection', (client) => {
      const database = connect(Number(target.port), target.hostname);
      let isLosing = false;
      client.on('data', (chunk) => {
        if (line.#losesCommit && /\bcommit\b/i.test(chunk.toString('latin1'))) {
          isLosing = true;
          line.#losesCommit = false;
        }
        database.write(chunk);
      });
      database.on('data', (chunk) => {
        // PostgreSQL answers a commit once it is durable.
        if (isLosing) client.destroy();
        else client.write(chunk);
      });
      for (const [one, other] of [
        [client, database],
        [database, client],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
    return line;
  }

  loseNextCommit(): void {
    this.#losesCommit = true;
  }
}
