import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { PacedAdmission } from '../../src/http/limits/paced-admission.ts';
import { useService } from '../support/harness.ts';
import { untilClosed } from '../support/until-closed.ts';

const service = useService();

/** Sends that many concurrent health checks of one address, then another request, and returns how many responses came before its response. */
async function countAnsweredBefore(
  count: number,
  other: () => Promise<unknown>,
  headers: Record<string, string> = {},
): Promise<number> {
  let answered = 0;
  const checks = Array.from({ length: count }, async () => {
    await service.request({ url: '/health/live', remoteAddress: '192.0.2.1', headers });
    answered++;
  });
  await other();
  const before = answered;
  await Promise.all(checks);
  return before;
}

describe('requests that no share is charged for', () => {
  it('of one address do not delay those of another address', async () => {
    const other = () => service.request({ url: '/health/live', remoteAddress: '192.0.2.2' });
    expect(await countAnsweredBefore(400, other)).toBeLessThan(100);
  });

  it('do not delay requests with a token that was verified before', async () => {
    const token = await service.tokenOf('A');
    expect((await service.get('/me', token)).statusCode).toBe(200);
    // Rejected after its authentication, and before it waits for the database, which on a loaded machine may take as long as all checks.
    const headers = { authorization: `Bearer ${token}`, 'x-service-api-version': 'v0' };
    const other = async () =>
      expect((await service.request({ url: '/me', headers, remoteAddress: '192.0.2.1' })).statusCode).toBe(400);
    expect(await countAnsweredBefore(400, other)).toBeLessThan(100);
  });

  it('are paced with a verified token too', async () => {
    const token = await service.tokenOf('A');
    expect((await service.get('/me', token)).statusCode).toBe(200);
    const other = () => service.request({ url: '/health/live', remoteAddress: '192.0.2.2' });
    expect(await countAnsweredBefore(400, other, { authorization: `Bearer ${token}` })).toBeLessThan(100);
  });

  it('close their connection where more than 512 of one address wait', async () => {
    const app = Fastify();
    const admission = new PacedAdmission();
    app.addHook('onRequest', (request, _reply, begin) => admission.admit(request, begin));
    app.get('/', async () => 'answered');
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const send = async (localAddress: string, count: number) => {
      const socket = connect({ host: '127.0.0.1', port, localAddress });
      // All arrive in one chunk, and so in one turn of the event loop.
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count - 1));
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      const received = text(socket).catch(() => '');
      await untilClosed(socket);
      return (await received).split('answered').length - 1;
    };
    const answers = await Promise.all([send('127.0.0.1', 700), send('127.0.0.2', 200)]);
    expect(answers).toEqual([0, 200]);
    await app.close();
  });
});

describe('GET /graphql', () => {
  it('with a token is not the page for browsers, which is charged to no share', async () => {
    const headers = { accept: 'text/html', authorization: 'Bearer forged' };
    expect((await service.request({ url: '/graphql', headers })).statusCode).toBe(401);
  });
});
