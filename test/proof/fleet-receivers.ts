import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** An HTTP server that accepts every delivery of webhooks. */
export class FleetReceiver {
  received = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((message, response) => {
      this.received++;
      message.resume().on('end', () => response.writeHead(204).end());
    });
  }

  static async start(): Promise<FleetReceiver> {
    const receivers = new FleetReceiver();
    receivers.#server.listen(0, '127.0.0.1');
    await once(receivers.#server, 'listening');
    return receivers;
  }

  /** Creates an endpoint of the integrator with the token. */
  async register(origin: string, token: string): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    const response = await fetch(`${origin}/webhook-endpoints`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: `http://127.0.0.1:${port}/` }),
    });
    if (response.status !== 201) throw new Error(`The endpoint was not created: ${await response.text()}`);
  }

  /** Waits until nothing more arrives. */
  async settle(): Promise<void> {
    for (let before = -1; before !== this.received; await sleep(1_000)) before = this.received;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
