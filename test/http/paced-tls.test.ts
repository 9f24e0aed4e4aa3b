import { constants, createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, connect as connectPlain, type Socket } from 'node:net';
import { type ConnectionOptions, connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { paceTls } from '../../src/http/paced-tls.ts';
import { type Service, startService } from '../support/harness.ts';
import { TLS_SETTINGS } from '../support/tls-certificate.ts';

const nextTurn = () => new Promise((done) => setImmediate(done));

describe('a paced connection', () => {
  let server: Server;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    const certificate = { cert: readFileSync(TLS_SETTINGS.TLS_CERT), key: readFileSync(TLS_SETTINGS.TLS_KEY) };
    server = createServer({ ...certificate, allowHalfOpen: true, secureOptions: constants.SSL_OP_NO_RENEGOTIATION });
    server.on('tlsClientError', () => undefined);
    paceTls(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  const countConnections = () => new Promise((done) => server.getConnections((_error, count) => done(count)));

  /** Opens a connection. Returns both of its sides, whose handshake is complete. */
  async function open(options: object = {}): Promise<{ client: TLSSocket; accepted: TLSSocket }> {
    const { port } = server.address() as AddressInfo;
    const target = { host: '127.0.0.1', port, rejectUnauthorized: false, ...options } as ConnectionOptions;
    const completed = once(server, 'secureConnection');
    const client = connect(target);
    client.on('error', () => undefined);
    sockets.push(client);
    const [[accepted]] = await Promise.all([completed, once(client, 'secureConnect')]);
    accepted.on('error', () => undefined);
    return { client, accepted };
  }

  it('passes on every byte in both directions, and the end of each', async () => {
    const { client, accepted } = await open();
    accepted.pipe(accepted);
    const sent = randomBytes(3_000_000);
    client.end(sent);
    const received = createHash('sha256');
    for await (const chunk of client) received.update(chunk);
    expect(received.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'));
  });

  it('is closed, and the process goes on, where TLS itself has something to send during an empty write', async () => {
    const { client, accepted } = await open({ maxVersion: 'TLSv1.2' });
    accepted.on('data', () => accepted.write(''));
    // The server receives both together, and answers the second with an alert. Its first bytes, and no more, come with the last chunk of the first.
    const recordBytes = 29;
    client.write(Buffer.alloc(2 * 8_192 - recordBytes - 20));
    client.renegotiate({}, () => undefined);
    await vi.waitFor(() => expect(accepted.destroyed).toBe(true));
    expect(await countConnections()).toBe(0);
  });

  it('has the address of its client', async () => {
    const { client, accepted } = await open({ localAddress: '127.0.0.2' });
    expect(accepted.remoteAddress).toBe('127.0.0.2');
    expect(accepted.remotePort).toBe(client.localPort);
  });

  it('is decrypted 8 KiB at a time, one chunk in a turn of the event loop where that takes long (LIM-33)', async () => {
    const { client, accepted } = await open();
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 10;
      return now;
    });
    let bytes = 0;
    accepted.on('data', (chunk) => {
      bytes += chunk.length;
    });
    client.end(Buffer.alloc(1_000_000));
    const perTurn: number[] = [];
    for (let before = 0; bytes < 1_000_000; before = bytes) {
      await nextTurn();
      perTurn.push(bytes - before);
    }
    // A record of TLS has up to 16 KiB, and is passed on with its last bytes.
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(16_384 + 8_192);
  });

  it('is closed with the connection of its client, whatever was not read', async () => {
    const { client, accepted } = await open();
    client.write(Buffer.alloc(20_000), () => client.destroy());
    accepted.resume().on('end', () => accepted.end());
    await vi.waitFor(async () => expect(await countConnections()).toBe(0));
    expect(accepted.destroyed).toBe(true);
  });

  it('closes that of its client', async () => {
    const { client, accepted } = await open();
    const closed = vi.fn();
    client.on('close', closed);
    accepted.destroy();
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
    expect(await countConnections()).toBe(0);
  });

  it('is closed where its handshake is not complete within ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { port } = server.address() as AddressInfo;
    const silent = connectPlain(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(silent);
    await once(server, 'connection');
    const { accepted } = await open();
    vi.advanceTimersByTime(9_999);
    expect(await countConnections()).toBe(2);
    vi.advanceTimersByTime(1);
    await vi.waitFor(async () => expect(await countConnections()).toBe(1));
    expect(accepted.destroyed).toBe(false);
  });
});

describe('a service with a certificate', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService(TLS_SETTINGS);
    await service.app.listen({ host: '127.0.0.1', port: 0 });
  });

  afterAll(() => service.stop());

  const open = (options: object = {}) => {
    const { port } = service.app.server.address() as AddressInfo;
    return connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  };

  /** Sends the text, each character in a record of its own, and returns the response. */
  async function sendInRecords(head: string, body: string): Promise<string> {
    const socket = open();
    await once(socket, 'secureConnect');
    let response = '';
    socket.on('data', (chunk) => {
      response += chunk;
    });
    socket.on('error', () => undefined);
    socket.write(head);
    for (const character of body) await new Promise((written) => socket.write(character, written));
    await once(socket, 'close');
    return response;
  }

  it('serves requests over TLS', async () => {
    const { port } = service.app.server.address() as AddressInfo;
    const call = request({ host: '127.0.0.1', port, path: '/health/live', rejectUnauthorized: false, agent: false });
    call.end();
    const [response] = await once(call, 'response');
    expect(response.resume().statusCode).toBe(200);
  });

  it('closes a connection that is to be renegotiated', async () => {
    const completed = once(service.app.server, 'secureConnection');
    const socket = open({ maxVersion: 'TLSv1.2' });
    const [[accepted]] = await Promise.all([completed, once(socket, 'secureConnect')]);
    const closed = vi.fn();
    accepted.on('close', closed);
    const error = await new Promise((done) => {
      socket.on('error', done);
      socket.renegotiate({}, done);
    });
    expect(error).toMatchObject({ code: 'ERR_SSL_NO_RENEGOTIATION' });
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
  });

  it('closes a connection that sends a request without TLS', async () => {
    const { port } = service.app.server.address() as AddressInfo;
    const socket = connectPlain(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const closed = vi.fn();
    socket.resume().on('close', closed);
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
  });

  it.each([
    [900, /^HTTP\/1\.1 201 /],
    [1_100, /^HTTP\/1\.1 400 [\s\S]+must not be sent in many small chunks or TLS records/],
  ])('answers a body in %i records of a byte: more than 1,000 are 400 (LIM-32)', async (records, expected) => {
    const token = await service.tokenOf('A');
    const path = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const body = JSON.stringify({ title: 'Toolbox talk', notes: 'x' }).padEnd(records);
    expect(await sendInRecords(`${head}Content-Length: ${body.length}\r\n\r\n`, body)).toMatch(expected);
  });

  it('knows the address of the client, which its limits count', async () => {
    const received = once(service.app.server, 'request');
    const { port } = service.app.server.address() as AddressInfo;
    const options = { host: '127.0.0.1', port, localAddress: '127.0.0.3', rejectUnauthorized: false, agent: false };
    const call = request({ ...options, path: '/health/live' }).end();
    const [[{ socket }], [response]] = await Promise.all([received, once(call, 'response')]);
    response.resume();
    expect(socket.remoteAddress).toBe('127.0.0.3');
  });
});
