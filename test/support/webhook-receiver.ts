import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A received webhook delivery. */
export interface ReceivedDelivery {
  path: string;
  headers: Record<string, string>;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: other tests check the types of events.
  event: any;
}

type RespondToDelivery = (received: ReceivedDelivery, response: ServerResponse) => void;

/** A receiver of webhooks on loopback. It returns 204 unless `respond` is replaced. */
export class WebhookReceiver {
  readonly received: ReceivedDelivery[] = [];
  respond: RespondToDelivery = (_received, response) => void response.writeHead(204).end();
  readonly #server: Server;
  #waiting: (() => void)[] = [];

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Returns the ids of the received events, in the order of receipt. */
  get ids(): string[] {
    return this.received.map(({ headers }) => headers['webhook-id']!);
  }

  /** Waits for that many requests. */
  async waitFor(count: number): Promise<void> {
    while (this.received.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const headers = request.headers as Record<string, string>;
    const received = { path: request.url!, headers, body, event: JSON.parse(body) };
    this.received.push(received);
    this.respond(received, response);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Returns whether the package `standardwebhooks` verifies the delivery with the secret. It rejects timestamps that are not current. */
export function isVerified({ body, headers }: Pick<ReceivedDelivery, 'body' | 'headers'>, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
