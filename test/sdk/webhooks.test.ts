import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createFetchReceiver,
  createNodeReceiver,
  type ReceiverOptions,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
  webhookReceiver,
} from '../../sdk/src/index.ts';

const secret = `whsec_${Buffer.alloc(24, 'a').toString('base64')}`;
const newSecret = `whsec_${Buffer.alloc(24, 'b').toString('base64')}`;
// Another spacing than JSON.stringify writes: a receiver that parses before it verifies rejects it.
const body = '{ "id": "evt_1", "type": "meeting.created" }';

/** Headers of a delivery that was signed now, or some seconds ago. */
const sign = (by = secret, secondsAgo = 0) => {
  const time = new Date(Date.now() - secondsAgo * 1000);
  return {
    'content-type': 'application/json',
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('evt_1', time, body),
  };
};

describe('verifyWebhook', () => {
  it('returns the event of a signed body, as text or bytes', () => {
    expect(verifyWebhook(body, sign(), secret)).toEqual({ id: 'evt_1', type: 'meeting.created' });
    expect(verifyWebhook(new TextEncoder().encode(body), new Headers(sign()), secret).id).toBe('evt_1');
  });

  it('accepts each of several secrets, as during a rotation', () => {
    expect(verifyWebhook(body, sign(newSecret), [secret, newSecret]).id).toBe('evt_1');
  });

  it.each([
    ['another secret', body, sign(newSecret)],
    ['another body', `${body} `, sign()],
    ['an old delivery', body, sign(secret, 600)],
    ['no signature', body, {}],
  ])('refuses %s', (_, received, headers) => {
    expect(() => verifyWebhook(received, headers, secret)).toThrow(WebhookVerificationError);
  });

  it.each([[undefined], [''], [[]], [[secret, '']]])('does not begin without a secret: %j', (secrets) => {
    expect(() => verifyWebhook(body, sign(), secrets as string)).toThrow('needs the secret');
  });

  it('refuses a body that was parsed, by its type', () => {
    expect(() => verifyWebhook(JSON.parse(body) as never, sign(), secret)).toThrow(TypeError);
  });
});

describe('receivers', () => {
  let close: () => unknown = () => {};
  let events: WebhookEvent[] = [];
  const options: ReceiverOptions = {
    secrets: secret,
    onEvent: (event) => {
      events.push(event);
    },
  };

  afterEach(async () => {
    await close();
    close = () => {};
    events = [];
  });

  const send = (url: string, headers: Record<string, string>) => fetch(url, { method: 'POST', headers, body });

  async function expectToReceive(url: string) {
    expect((await send(url, sign())).status).toBe(204);
    expect((await send(url, sign(newSecret))).status).toBe(401);
    expect(events.map(({ id }) => id)).toEqual(['evt_1']);
  }

  it('of Fastify keep the bytes, and leave the parsers of other routes alone', async () => {
    const app = Fastify();
    app.register(webhookReceiver, { ...options, path: '/hook' });
    app.post('/other', async ({ body }) => body);
    close = () => app.close();
    const url = await app.listen({ port: 0 });
    await expectToReceive(`${url}/hook`);
    expect(await (await send(`${url}/other`, { 'content-type': 'application/json' })).json()).toMatchObject({
      id: 'evt_1',
    });
  });

  it('of node:http and Express read the body themselves', async () => {
    const server = createServer(createNodeReceiver(options)).listen(0);
    close = () => server.close();
    await once(server, 'listening');
    await expectToReceive(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });

  it('say so when a parser has read the body before them', async () => {
    const receive = createNodeReceiver(options);
    let failure: unknown;
    const server = createServer(async (request, response) => {
      for await (const _chunk of request);
      await receive(request, response, (error) => {
        failure = error;
        response.end();
      });
    }).listen(0);
    close = () => server.close();
    await once(server, 'listening');
    await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sign());
    expect(String(failure)).toContain('before express.json()');
  });

  it('of web standards answer a request', async () => {
    const receive = createFetchReceiver(options);
    const request = (headers: Record<string, string>) =>
      new Request('https://app.example/', { method: 'POST', headers, body });
    expect((await receive(request(sign()))).status).toBe(204);
    expect((await receive(request(sign(newSecret)))).status).toBe(401);
  });

  it('fail when the event could not be stored, so that it is delivered again', async () => {
    const receive = createNodeReceiver({ ...options, onEvent: () => Promise.reject(new Error('no space')) });
    const server = createServer(receive).listen(0);
    close = () => server.close();
    await once(server, 'listening');
    const { status } = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sign());
    expect(status).toBe(500);
  });
});
