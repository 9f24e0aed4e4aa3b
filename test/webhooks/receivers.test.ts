import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReceiverClient } from '../../src/domain/webhooks/receiver-client.ts';
import { internet } from '../../src/network/guarded-network.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

let receiver: WebhookReceiver;
let client: ReceiverClient;

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  client = new ReceiverClient({ production: false });
});
afterEach(async () => {
  client.close();
  await receiver.close();
});

describe('an address that a receiver may not have', () => {
  it.each([
    'http://app.example.com/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.1.2.3/',
    'https://169.254.169.254/latest/meta-data',
    'https://0x7f000001/',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://localhost/',
    'https://LOCALHOST./hook',
    'https://intranet/',
    'https://printer.local/',
    'https://api.internal/',
    'https://router.home.arpa./',
    'https://app.localhost/',
    'https://hooks.test/',
    'https://hooks.example/',
    'https://hooks.invalid/',
    'https://hooks.onion/',
    'https://hooks.alt/',
    'https://1.0.0.10.in-addr.arpa/',
    'https://resolver.arpa/',
    'https://printer.local../',
    'https://a..b.com/',
    'https://.example.com/',
    'https://example.com../',
  ])('is rejected in production, and nothing is sent: %s (WHK-8)', async (url) => {
    const strict = new ReceiverClient({ production: true });
    expect(strict.findUrlProblem(url)).not.toBeNull();
    expect(await strict.post(url, {}, '{}')).toMatchObject({
      status: null,
      error: expect.stringMatching(/^The URL must/),
    });
  });

  it.each(['http://10.1.2.3/', 'http://169.254.169.254/', 'http://192.168.1.1/'])(
    'is rejected outside production too, unless it is loopback: %s (WHK-8)',
    (url) => {
      expect(client.findUrlProblem(url)).toBe('must be on a public address');
      expect(client.findUrlProblem('http://127.0.0.1:3000/hook')).toBeNull();
    },
  );

  it.each([
    'http://app.example.com/',
    'https://localhost.example.com/',
    'https://api.internal/',
    'http://localhost.internal/',
  ])('is judged outside production as in it, unless it is loopback: %s (WHK-8)', (url) => {
    const isPublic = url === 'https://localhost.example.com/';
    expect(client.findUrlProblem(url) === null).toBe(isPublic);
    for (const loopback of ['http://localhost:3000/', 'https://[::1]:3000/'])
      expect(client.findUrlProblem(loopback)).toBeNull();
  });

  it('is rejected when a name resolves to it, also beside a public address (WHK-8)', async () => {
    const resolve = ((_host: string, _options: object, done: (error: null, list: object[]) => void) =>
      done(null, [
        { address: '93.184.216.34', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ])) as never;
    const strict = new ReceiverClient({ production: true, network: { ...internet, resolve } });
    const attempt = await strict.post('https://rebound.example.com/', {}, '{}');
    expect(attempt).toMatchObject({ status: null, error: 'The URL is not on a public address.' });
  });

  it('is rejected when the connection reaches it after all (WHK-8)', async () => {
    const resolve = ((_host: string, _options: object, done: (error: null, list: object[]) => void) =>
      done(null, [{ address: '127.0.0.1', family: 4 }])) as never;
    let checks = 0;
    // The name passes the check, and the socket does not.
    const network = { resolve, isAllowedAddress: () => ++checks === 1 };
    const { port } = new URL(receiver.url);
    const attempt = await new ReceiverClient({ production: false, network }).post(
      `https://rebound.example.com:${port}/`,
      {},
      '{}',
    );
    expect(attempt).toMatchObject({ status: null, error: 'The URL is not on a public address.' });
    expect(receiver.received).toEqual([]);
  });
});

describe('a response', () => {
  it('is a redirect that is not followed (WHK-8)', async () => {
    receiver.respond = (_received, response) => void response.writeHead(302, { location: receiver.url }).end();
    expect(await client.post(receiver.url, {}, '{}')).toMatchObject({ status: 302 });
    expect(receiver.received).toHaveLength(1);
  });

  it('is kept up to 1 KiB, as text that can be stored (WHK-12)', async () => {
    receiver.respond = (_received, response) =>
      void response
        .writeHead(200)
        .end(Buffer.concat([Buffer.from('a\0é'), Buffer.from([0xff]), Buffer.alloc(5_000, 'é')]));
    const { body } = await client.post(receiver.url, {}, '{}');
    expect(Buffer.byteLength(body!)).toBeLessThanOrEqual(1_024);
    expect(body).toMatch(/^a\uFFFDé\uFFFDé+\uFFFD?$/);
  });

  it('may be endless: the rest is not read', async () => {
    receiver.respond = (_received, response) => {
      response.writeHead(200);
      const send = () => response.write(Buffer.alloc(64 * 1024, 'x'), () => response.destroyed || setImmediate(send));
      send();
    };
    expect((await client.post(receiver.url, {}, '{}')).body).toHaveLength(1_024);
  });

  it('that does not come in time is a failure (WHK-10)', async () => {
    receiver.respond = () => undefined;
    const network = { isAllowedAddress: () => true, timeoutMs: 50 };
    const attempt = await new ReceiverClient({ production: false, network }).post(receiver.url, {}, '{}');
    expect(attempt).toMatchObject({ status: null, body: null, error: expect.stringMatching(/^No response within/) });
  });

  it('is its status also when its body stalls (WHK-10)', async () => {
    receiver.respond = (_received, response) => void response.writeHead(202).write('accep');
    const network = { isAllowedAddress: () => true, timeoutMs: 2_000 };
    const attempt = await new ReceiverClient({ production: false, network }).post(receiver.url, {}, '{}');
    expect(attempt).toMatchObject({ status: 202, body: 'accep', error: null });
  });

  it('of a port on which nothing listens is a failure', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const attempt = await client.post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(attempt).toMatchObject({ status: null, error: 'The connection was refused.' });
  });
});

describe('a response with more framing than content', () => {
  const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

  it.each([
    ['many small chunks', `${CHUNKED}${'1\r\n \r\n'.repeat(50_000)}`],
    ['a whole body in small chunks', `${CHUNKED}${'1\r\n \r\n'.repeat(150)}0\r\n\r\n`],
    ['another protocol', 'HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['long extensions of chunks', `${CHUNKED}${`1;${'a'.repeat(15_000)}\r\n \r\n`.repeat(50)}`],
    ['many informational responses', 'HTTP/1.1 103 x\r\n\r\n'.repeat(50_000)],
  ])('is a failure, and ends the connection: %s (WHK-10)', async (_, response) => {
    const closed = Promise.withResolvers<void>();
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined).on('close', () => closed.resolve());
      socket.once('data', () => socket.write(response));
      socket.resume();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const attempt = await client.post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(attempt).toMatchObject({ status: null, body: null, error: expect.any(String) });
    await closed.promise;
    server.close();
  });

  it('does not concern a hundred small chunks', async () => {
    const server = createTcpServer((socket) => {
      socket.once('data', () => socket.end(`${CHUNKED}${'1\r\nx\r\n'.repeat(100)}0\r\n\r\n`));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const attempt = await client.post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(attempt).toMatchObject({ status: 200, body: 'x'.repeat(100) });
    server.close();
  });
});
