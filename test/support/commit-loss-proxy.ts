import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

const COMMIT = /\bcommit\b/i;

/** A TCP proxy to PostgreSQL that can end the connection after a commit, or keep it silent, instead of forwarding its response. */
export class CommitLossProxy {
  #loses: RegExp | null = null;
  private held: { statement: RegExp; onCommit: () => void } | null = null;

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
      let isNext = false;
      let isLosing = false;
      let held: CommitLossProxy['held'] = null;
      let isHolding = false;
      client.on('data', (chunk) => {
        const sent = chunk.toString('latin1');
        if (proxy.held?.statement.test(sent)) {
          held = proxy.held;
          proxy.held = null;
        }
        isHolding ||= held !== null && COMMIT.test(sent);
        if (proxy.#loses?.test(sent)) {
          isNext = true;
          proxy.#loses = null;
        }
        isLosing ||= isNext && COMMIT.test(sent);
        database.write(chunk);
      });
      database.on('data', (chunk) => {
        // PostgreSQL responds to a commit once it is durable.
        if (isLosing) client.destroy();
        else if (isHolding) held!.onCommit();
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

  /** Keeps the response of the next commit whose transaction sends the statement. Resolves once the commit is durable. */
  holdCommitAfter(statement: RegExp): Promise<void> {
    return new Promise((onCommit) => {
      this.held = { statement, onCommit };
    });
  }

  /** Ends the connection after the next commit whose transaction sends the statement: other work of the service commits too. */
  loseCommitAfter(statement: RegExp): void {
    this.#loses = statement;
  }
}
