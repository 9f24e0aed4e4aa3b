import { constants, createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, connect as connectPlain, type Socket } from 'node:net';
import { constants as osConstants } from 'node:os';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { paceTls } from '../../src/http/paced-tls.ts';
import { type Service, startService } from '../support/harness.ts';
import { TLS_SETTINGS } from '../support/tls-certificate.ts';
import { untilClosed } from '../support/until-closed.ts';

const nextTurn = () => new Promise((done) => setImmediate(done));

describe('a paced connection', () => {
  let server: Server;
  const sockets: Socket[] = [];

  async function startServer(allowHalfOpen: boolean): Promise<void> {
    const certificate = { cert: readFileSync(TLS_SETTINGS.TLS_CERT), key: readFileSync(TLS_SETTINGS.TLS_KEY) };
    server = createServer({ ...certificate, allowHalfOpen, secureOptions: constants.SSL_OP_NO_RENEGOTIATION });
    server.on('tlsClientError', () => undefined);
    paceTls(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }

  // As servers of HTTP are.
  beforeEach(() => startServer(false));

  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  const countConnections = () => new Promise((done) => server.getConnections((_error, count) => done(count)));

  const wrapperOf = (socket: TLSSocket) =>
    (socket as unknown as { _handle: { _parentWrap: { stream: Duplex; doWrite: () => number } } })._handle._parentWrap;

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

  it.each([true, false])('passes on every byte in both directions (allowHalfOpen: %s)', async (allowHalfOpen) => {
    server.close();
    await startServer(allowHalfOpen);
    const { client, accepted } = await open();
    accepted.pipe(accepted);
    const sent = randomBytes(3_000_000);
    client.end(sent);
    const received = createHash('sha256');
    for await (const chunk of client) received.update(chunk);
    expect(received.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'));
  });

  it('is sent all of a response after the client has ended its side', async () => {
    const { client, accepted } = await open();
    accepted.once('data', () => accepted.end(Buffer.alloc(5_000_000)));
    client.pause();
    client.end('request');
    await once(accepted.resume(), 'end');
    let bytes = 0;
    for await (const chunk of client) bytes += chunk.length;
    expect(bytes).toBe(5_000_000);
  });

  it('is closed without ending the process where OpenSSL sends an alert during an empty write', async () => {
    const { client, accepted } = await open({ maxVersion: 'TLSv1.2' });
    accepted.on('data', () => accepted.write(''));
    const doWrite = vi.spyOn(wrapperOf(accepted), 'doWrite');
    // The server reads both together, and answers the second record with an alert. It begins in the last chunk of the first.
    const recordBytes = 29;
    client.write(Buffer.alloc(2 * 8_192 - recordBytes - 20));
    client.renegotiate({}, () => undefined);
    await expect.poll(() => doWrite).toHaveReturnedWith(-osConstants.errno.EPIPE);
    await expect.poll(() => countConnections()).toBe(0);
  });

  it('has the address of its client', async () => {
    const { client, accepted } = await open({ localAddress: '127.0.0.2' });
    expect(accepted.remoteAddress).toBe('127.0.0.2');
    expect(accepted.remotePort).toBe(client.localPort);
  });

  describe('where decryption takes long', () => {
    beforeEach(() => {
      let now = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => {
        now += 10;
        return now;
      });
    });

    /** Returns the encrypted bytes that reached the TLS socket in each turn of the event loop, until so many did. */
    async function countPerTurn(socket: TLSSocket, total: number): Promise<number[]> {
      let bytes = 0;
      wrapperOf(socket).stream.on('data', (chunk) => {
        bytes += chunk.length;
      });
      const perTurn: number[] = [];
      for (let before = 0; bytes < total && perTurn.length < 10_000; before = bytes) {
        await nextTurn();
        perTurn.push(bytes - before);
      }
      expect(bytes).toBeGreaterThanOrEqual(total);
      return perTurn;
    }

    it('is decrypted 8 KiB in a turn of the event loop (LIM-33)', async () => {
      const { client, accepted } = await open();
      client.write(Buffer.alloc(1_000_000));
      accepted.resume();
      expect(Math.max(...(await countPerTurn(accepted, 1_000_000)))).toBe(8_192);
    });

    it('is decrypted as slowly after a pause', async () => {
      const { client, accepted } = await open();
      accepted.resume();
      wrapperOf(accepted).stream.pause();
      client.write(Buffer.alloc(200_000));
      for (let turn = 0; turn < 50; turn++) await nextTurn();
      const counted = countPerTurn(accepted, 200_000);
      wrapperOf(accepted).stream.resume();
      // What was kept during the pause, and the chunk of the turn.
      expect(Math.max(...(await counted))).toBeLessThanOrEqual(2 * 8_192);
    });
  });

  it('is closed after its client closes the connection', async () => {
    const { client, accepted } = await open();
    client.write(Buffer.alloc(20_000), () => client.destroy());
    accepted.resume();
    await expect.poll(() => countConnections()).toBe(0);
    expect(accepted.destroyed).toBe(true);
  });

  it('closes the connection of its client when it is destroyed', async () => {
    const { client, accepted } = await open();
    accepted.destroy();
    await untilClosed(client);
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
    await expect.poll(() => countConnections()).toBe(1);
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
    const closed = untilClosed(socket);
    socket.write(head);
    for (const character of body) await new Promise((written) => socket.write(character, written));
    await closed;
    return response;
  }

  it('serves requests over TLS', async () => {
    const { port } = service.app.server.address() as AddressInfo;
    const call = request({ host: '127.0.0.1', port, path: '/health/live', rejectUnauthorized: false, agent: false });
    call.end();
    const [response] = await once(call, 'response');
    expect(response.resume().statusCode).toBe(200);
  });

  it('refuses to renegotiate a connection', async () => {
    const completed = once(service.app.server, 'secureConnection');
    const socket = open({ maxVersion: 'TLSv1.2' });
    const [[accepted]] = await Promise.all([completed, once(socket, 'secureConnect')]);
    const closed = untilClosed(accepted);
    const error = await new Promise((done) => {
      socket.on('error', done);
      socket.renegotiate({}, done);
    });
    expect(error).toMatchObject({ code: 'ERR_SSL_NO_RENEGOTIATION' });
    await closed;
  });

  it('closes a connection that sends a request without TLS', async () => {
    const { port } = service.app.server.address() as AddressInfo;
    const socket = connectPlain(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await untilClosed(socket.resume());
    expect(socket.closed).toBe(true);
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

  it('gives the address of the client to the handlers of requests', async () => {
    const received = once(service.app.server, 'request');
    const { port } = service.app.server.address() as AddressInfo;
    const options = { host: '127.0.0.1', port, localAddress: '127.0.0.3', rejectUnauthorized: false, agent: false };
    const call = request({ ...options, path: '/health/live' }).end();
    const [[{ socket }], [response]] = await Promise.all([received, once(call, 'response')]);
    response.resume();
    expect(socket.remoteAddress).toBe('127.0.0.3');
  });
});
