import dns from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { startService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { TLS_SETTINGS } from '../support/tls-certificate.ts';
import { untilClosed } from '../support/until-closed.ts';

type Done = (error: null, found: string | dns.LookupAddress[], family?: number) => void;

useLongerTimeLimits();

it('answers the last requests of open connections as usual while the service stops', async () => {
  const service = await startService();
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1');
  let received = 0;
  service.app.server.on('request', () => received++);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const authorization = `Bearer ${await service.tokenOf('A')}`;
  const path = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
  const transaction = await ConcurrentTransaction.open(service.databases.au1.url);
  let isClosed: Promise<unknown> = Promise.resolve();
  await transaction.whileOpen('lock table meeting in access exclusive mode', [], async () => {
    const body = JSON.stringify({ title: 'Toolbox talk' });
    const headers = ['Host: localhost', `Authorization: ${authorization}`, 'Content-Type: application/json'];
    socket.write([`POST ${path} HTTP/1.1`, ...headers, `Content-Length: ${body.length}`, '', body].join('\r\n'));
    await transaction.untilWaiting(1);
    isClosed = service.app.close();
    // New connections are refused from now on.
    await expect.poll(() => service.app.server.listening).toBe(false);
    socket.write(['GET /builders HTTP/1.1', ...headers, '', ''].join('\r\n'));
    await expect.poll(() => received).toBe(2);
  });
  await untilClosed(socket);
  await isClosed;
  await transaction.close();
  await service.stop();
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200']);
  expect(text.toLowerCase()).toContain('connection: close');
});

describe.each([
  ['a server', {}, (port: number): Socket => connect(port, '127.0.0.1')],
  [
    'a server with TLS',
    TLS_SETTINGS,
    (port: number): Socket => connectSecurely({ host: '127.0.0.1', port, rejectUnauthorized: false }),
  ],
])('%s', (_name, settings, open) => {
  it('stops although connections are open that have sent no request, a part of one, or one before', async () => {
    const service = await startService(settings);
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = service.app.server.address() as AddressInfo;
    const sockets = ['', 'GET /health/live HTTP/1.1\r\n', 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n'].map(
      (text) => {
        const socket = open(port);
        socket.on('error', () => undefined).write(text);
        return socket;
      },
    );
    const [response] = await once(sockets[2]!, 'data');
    expect(String(response)).toMatch(/^HTTP\/1\.1 200 /);
    const startedAt = performance.now();
    await service.stop();
    // Node would wait for the headers of the first request for a minute.
    expect(performance.now() - startedAt).toBeLessThan(service.app.server.headersTimeout / 2);
  });
});

it('listens at one address of localhost, with the limits of connections', async () => {
  // As on a machine where the name has both addresses: Fastify opens a second server for the other one.
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((
    _host: string,
    options: dns.LookupOptions,
    done: Done,
  ) => {
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ];
    if (options.all) done(null, addresses);
    else done(null, '127.0.0.1', 4);
  }) as never);
  onTestFinished(() => lookup.mockRestore());
  const service = await startService();
  await service.app.listen({ host: 'localhost', port: 0 });
  expect(service.app.addresses()).toMatchObject([{ address: '127.0.0.1' }]);
  await service.stop();
});
