import { Webhook } from 'standardwebhooks';
import type { Event } from './events.ts';

/** The body of a delivery: an event of the feed, or the test event of an endpoint. */
export type WebhookEvent = Event | { id: string; type: 'webhook_endpoint.test'; occurredAt: string };

/** The signature, the age of the delivery, or its form is wrong. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
}

type HeaderSource = Headers | Record<string, string | string[] | undefined>;

/**
 * Returns the event of a delivery whose signature is right.
 *
 * @param rawBody The body exactly as it was received: JSON that was parsed and written again has another signature.
 * @param secrets The endpoint's secret, `whsec_…`; during a rotation the old and the new one.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: HeaderSource,
  secrets: string | string[],
): WebhookEvent {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array))
    throw new TypeError('verifyWebhook needs the raw body: bytes or text, before any JSON parser.');
  // Otherwise every delivery would be refused, whoever has signed it.
  if (![secrets].flat().every((secret) => secret) || secrets.length === 0)
    throw new TypeError('verifyWebhook needs the secret of the endpoint.');
  const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);
  const get = (name: string) => String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? '');
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const signed = Object.fromEntries(names.map((name) => [name, get(name)]));
  let cause: unknown;
  for (const secret of [secrets].flat()) {
    try {
      return new Webhook(secret).verify(text, signed) as WebhookEvent;
    } catch (error) {
      cause = error;
    }
  }
  throw new WebhookVerificationError('The delivery is not signed with a secret of this endpoint.', { cause });
}

export interface ReceiverOptions {
  secrets: string | string[];
  /** Stores the event. Deliveries may repeat: ignore an `id` that you have. When it throws, the event is delivered again. */
  onEvent: (event: WebhookEvent) => void | Promise<void>;
}

/** Returns the status for a delivery. */
async function receive(
  rawBody: Uint8Array,
  headers: HeaderSource,
  { secrets, onEvent }: ReceiverOptions,
): Promise<number> {
  let event: WebhookEvent;
  try {
    event = verifyWebhook(rawBody, headers, secrets);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return 401;
    throw error;
  }
  await onEvent(event);
  return 204;
}

/** A handler for servers with web standards: Hono, Next.js, Deno, Bun, Cloudflare Workers. */
export const createFetchReceiver =
  (options: ReceiverOptions) =>
  async (request: Request): Promise<Response> => {
    if (request.bodyUsed) throw new TypeError('The body has been read before the webhook receiver.');
    const status = await receive(new Uint8Array(await request.arrayBuffer()), request.headers, options);
    return new Response(null, { status });
  };

interface NodeRequest extends AsyncIterable<Uint8Array> {
  headers: Record<string, string | string[] | undefined>;
  readableEnded: boolean;
}
interface NodeResponse {
  writeHead(status: number): { end(): void };
}

/** A handler for `node:http` and Express. It reads the body itself: mount it before `express.json()`. */
export const createNodeReceiver =
  (options: ReceiverOptions) =>
  async (request: NodeRequest, response: NodeResponse, next?: (error: unknown) => void): Promise<void> => {
    try {
      if (request.readableEnded)
        throw new TypeError('The body has been parsed before the webhook receiver: mount it before express.json().');
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
      response.writeHead(await receive(body, request.headers, options)).end();
    } catch (error) {
      if (next) next(error);
      else response.writeHead(500).end();
    }
  };

interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): void;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void;
}
type FastifyRequest = Pick<NodeRequest, 'headers'> & { body: unknown };
type FastifyReply = { code(status: number): { send(): unknown } };

/** A Fastify plugin with the route `POST {path}`. Inside it bodies stay bytes; the other routes of the application parse theirs. */
export async function webhookReceiver(scope: FastifyScope, options: ReceiverOptions & { path: string }): Promise<void> {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  scope.post(options.path, async ({ body, headers }, reply) =>
    reply.code(await receive(body as Uint8Array, headers, options)).send(),
  );
}
