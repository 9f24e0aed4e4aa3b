import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, connect as connectPlain, type Socket } from 'node:net';
import { type ConnectionOptions, connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { paceHandshakes } from '../../src/http/tls-handshakes.ts';
import { FairSemaphore } from '../../src/shared/fair-semaphore.ts';
import { type Service, startService } from '../support/harness.ts';
import { TLS_SETTINGS } from '../support/tls-certificate.ts';

describe('handshakes of one address', () => {
  let server: Server;
  let handshakes: FairSemaphore;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    server = createServer({ cert: readFileSync(TLS_SETTINGS.TLS_CERT), key: readFileSync(TLS_SETTINGS.TLS_KEY) });
    server.on('tlsClientError', () => undefined);
    handshakes = new FairSemaphore({
      ...{ name: 'TLS handshakes', capacity: 4, perShare: 1 },
      ...{ maxQueuedPerShare: 1, maxQueued: 4, maxWaitMs: 60_000 },
    });
    paceHandshakes(server, handshakes);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    vi.useRealTimers();
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  /** Opens a connection that sends nothing. Resolves when the server begins its handshake, or lets it wait. */
  async function openSilent(localAddress = '127.0.0.1'): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const socket = connectPlain({ host: '127.0.0.1', port, localAddress }).on('error', () => undefined);
    sockets.push(socket);
    await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
    // In a turn of the event loop after that of the event.
    await new Promise((done) => setImmediate(() => setImmediate(done)));
    return socket;
  }

  function openSecure(localAddress = '127.0.0.1'): TLSSocket {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ host: '127.0.0.1', port, localAddress, rejectUnauthorized: false } as ConnectionOptions);
    socket.on('error', () => undefined);
    sockets.push(socket);
    return socket;
  }

  /** Opens a connection and resolves when the server has completed its handshake. */
  async function completeHandshake(localAddress?: string): Promise<TLSSocket> {
    const completed = once(server, 'secureConnection');
    const socket = openSecure(localAddress);
    await completed;
    return socket;
  }

  it('wait for the ones before, which other addresses do not (LIM-33)', async () => {
    const first = await openSilent();
    const second = openSecure();
    const completed = vi.fn();
    second.on('secureConnect', completed);
    await completeHandshake('127.0.0.2');
    expect(completed).not.toHaveBeenCalled();
    first.destroy();
    await vi.waitFor(() => expect(completed).toHaveBeenCalledOnce());
  });

  it('count until they are complete', async () => {
    await completeHandshake();
    expect(handshakes.stats()).toMatchObject({ used: 0, queued: 0 });
  });

  it('count for two seconds where they are not complete', async () => {
    await openSilent();
    expect(handshakes.stats().used).toBe(1);
    vi.advanceTimersByTime(2_000);
    expect(handshakes.stats().used).toBe(0);
  });

  it('are closed where they take ten seconds', async () => {
    const closed = vi.fn();
    (await openSilent()).resume().on('close', closed);
    vi.advanceTimersByTime(10_000);
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
  });

  it('are not closed once they are complete', async () => {
    const socket = await completeHandshake();
    vi.advanceTimersByTime(60_000);
    await completeHandshake('127.0.0.2');
    expect(socket.closed).toBe(false);
  });

  it('give up their place in the queue when their client closes the connection', async () => {
    await openSilent();
    const second = await openSilent();
    expect(handshakes.stats().queued).toBe(1);
    second.destroy();
    await vi.waitFor(() => expect(handshakes.stats().queued).toBe(0));
  });

  it('are closed where too many wait', async () => {
    await openSilent();
    await openSilent();
    const closed = vi.fn();
    (await openSilent()).resume().on('close', closed);
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
    expect(handshakes.stats()).toMatchObject({ used: 1, queued: 1 });
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

  it('is 400 for a body in many small records, whose connection is closed (LIM-32)', async () => {
    const token = await service.tokenOf('A');
    const path = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const body = JSON.stringify({ title: 'Toolbox talk', notes: 'x'.repeat(200) });
    const response = await sendInRecords(`${head}Content-Length: ${body.length}\r\n\r\n`, body);
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toContain('must not be sent in many small chunks');
  });
});
