import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A TCP proxy to PostgreSQL that can end the connection after a commit instead of forwarding its response. */
export class CommitLossProxy {
  #losesCommit = false;

  private constructor(readonly url: string) {}

  static async start(url: string): Promise<CommitLossProxy> {
    const target = new URL(url);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    const proxyUrl = new URL(url);
    proxyUrl.port = String((server.address() as AddressInfo).port);
    const proxy = new CommitLossProxy(proxyUrl.href);
    server.on('connection', (client) => {
      const database = connect(Number(target.port), target.hostname);
      let isLosing = false;
      client.on('data', (chunk) => {
        if (proxy.#losesCommit && /\bcommit\b/i.test(chunk.toString('latin1'))) {
          isLosing = true;
          proxy.#losesCommit = false;
        }
        database.write(chunk);
      });
      database.on('data', (chunk) => {
        // PostgreSQL responds to a commit once it is durable.
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
    return proxy;
  }

  loseNextCommit(): void {
    this.#losesCommit = true;
  }
}
