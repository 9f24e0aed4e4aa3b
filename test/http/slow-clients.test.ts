import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { type Service, startService } from '../support/harness.ts';
import { untilClosed } from '../support/until-closed.ts';

let service: Service;
let port: number;

beforeAll(async () => {
  service = await startService();
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = service.app.server.address() as AddressInfo);
});

afterAll(() => service.stop());

describe('a connection', () => {
  it('may have 4 concurrent requests, and is closed with the 5th (LIM-24)', async () => {
    const send = async (count: number) => {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count - 1));
      socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      await untilClosed(socket);
      return text.split('HTTP/1.1 200').length - 1;
    };
    expect(await send(4)).toBe(4);
    expect(await send(200)).toBeLessThan(4);
  });

  it('has time limits for its headers, for the whole request, and without traffic (LIM-23)', async () => {
    const impatient = await startService({ REQUEST_SECONDS: '1' });
    const { headersTimeout, requestTimeout, timeout } = impatient.app.server;
    await impatient.stop();
    // Node would allow the request the time of its headers, where that is longer.
    expect({ headersTimeout, requestTimeout, timeout }).toEqual({
      headersTimeout: 1_000,
      requestTimeout: 1_000,
      timeout: 120_000,
    });
    const { server } = service.app;
    expect([server.headersTimeout, server.requestTimeout]).toEqual([60_000, 900_000]);
  });

  it('stays open after 413, so that a client that is still sending reads the response (LIM-10)', async () => {
    const socket = connect(port, '127.0.0.1');
    const length = 2 * 1_048_576;
    const authorization = `Bearer ${await service.tokenOf('A')}`;
    const path = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
    const headers = ['Host: localhost', `Authorization: ${authorization}`, 'Content-Type: application/json'];
    socket.write([`POST ${path} HTTP/1.1`, ...headers, `Content-Length: ${length}`, '', ''].join('\r\n'));
    const [rejected] = await once(socket, 'data');
    expect(String(rejected)).toMatch(/^HTTP\/1\.1 413 /);
    socket.write(' '.repeat(length));
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const [next] = await once(socket, 'data');
    expect(String(next)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('that closes while its requests are authenticated leaves their places to others (LIM-30)', async () => {
    const authorization = `Bearer ${await service.tokenOf('A')}`;
    const path = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
    const body = JSON.stringify({ title: 'Toolbox talk' });
    const headers = ['Host: localhost', `Authorization: ${authorization}`, 'Content-Type: application/json'];
    const text = [`POST ${path} HTTP/1.1`, ...headers, `Content-Length: ${body.length}`, '', body].join('\r\n');
    const { server } = service.app;
    let received = 0;
    server.on('request', () => received++);
    const transaction = await ConcurrentTransaction.open(service.databases.au1.url);
    await transaction.whileOpen('lock table oauth_client in access exclusive mode', [], async () => {
      // A share executes 64 requests at a time.
      const sockets = Array.from({ length: 100 }, () =>
        connect(port, '127.0.0.1', function (this: Socket) {
          this.write(text);
        }),
      );
      await expect.poll(() => received).toBe(100);
      for (const socket of sockets) socket.destroy();
      const count = promisify(server.getConnections.bind(server));
      await expect.poll(() => count()).toBe(0);
    });
    await transaction.close();
    const response = await service.app.inject({
      ...{ method: 'POST', url: path, headers: { authorization }, payload: { title: 'Toolbox talk' } },
    });
    expect(response.statusCode).toBe(201);
  });

  it('is closed when its request does not end in time (LIM-23)', async () => {
    const impatient = await startService({ REQUEST_SECONDS: '1' });
    await impatient.app.listen({ host: '127.0.0.1', port: 0 });
    const { port: itsPort } = impatient.app.server.address() as AddressInfo;
    const authorization = `Bearer ${await impatient.tokenOf('A')}`;
    const path = `/builders/${impatient.findDemoClient('A').builderIds[0]}/meetings`;
    const headers = ['Host: localhost', `Authorization: ${authorization}`, 'Content-Type: application/json'];
    const socket = connect(itsPort, '127.0.0.1');
    const closed = untilClosed(socket.resume());
    socket.write([`POST ${path} HTTP/1.1`, ...headers, 'Content-Length: 1000', '', '{'].join('\r\n'));
    const drip = setInterval(() => socket.write(' '), 100);
    await closed;
    clearInterval(drip);
    // Other connections stay open.
    expect((await fetch(`http://127.0.0.1:${itsPort}/health/live`)).status).toBe(200);
    await impatient.stop();
  });
});
