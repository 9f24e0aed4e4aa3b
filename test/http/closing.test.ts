import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { startService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { untilClosed } from '../support/until-closed.ts';

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
