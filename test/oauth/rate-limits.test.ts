import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { READER_SETTINGS, REQUEST_SETTINGS, WRITER_SETTINGS } from '../../src/database/pool/session-settings.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { assignTemporarily } from '../support/longer-time-limits.ts';
import { type Instance, startDeployment, type TestDeployment } from './deployment.ts';
import { authorizationParameters, toQuery } from './fixtures.ts';
import { addClient } from './service.ts';

const secret = newSecret();

let deployment: TestDeployment;
let instance: Instance;

beforeAll(async () => {
  deployment = await startDeployment({ RATE_LIMIT_TOKEN: '20/60', RATE_LIMIT_API: '40/60' });
  instance = await deployment.startInstance();
  await addClient(deployment, 'cli_a', { secrets: [secret] });
  await addClient(deployment, 'cli_b', { secrets: [secret] });
});
afterAll(() => deployment?.close());

const post = (path: string, remoteAddress: string, fields: Record<string, string> = {}, { app } = instance) =>
  app.inject({ method: 'POST', url: `/oauth/${path}`, remoteAddress, payload: fields });

const token = (clientId: string, address: string, client_secret = secret) =>
  post('token', address, {
    ...{ grant_type: 'client_credentials', client_id: clientId, client_secret },
    ...{ audience: deployment.baseUrl, scope: 'read:builders' },
  });

// LIM-3
test('token, revocation and introspection requests share one rate limit per address, also failed ones', async () => {
  for (const path of ['token', 'revoke', 'introspect', 'token']) {
    for (let count = 0; count < 5; count++) expect((await post(path, '203.0.113.1')).statusCode).toBeLessThan(429);
  }
  for (const path of ['token', 'revoke', 'introspect']) {
    const response = await post(path, '203.0.113.1');
    expect([response.statusCode, response.json().code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(response.headers['x-ratelimit-limit']).toBe('20');
    expect(response.headers['cache-control']).toBe('no-store');
  }
  expect((await post('token', '203.0.113.2')).statusCode).toBe(400);
});

test('all addresses of an IPv6 /64 network share one rate limit (LIM-7)', async () => {
  for (let host = 1; host <= 20; host++) expect((await post('token', `2001:db8:0:1::${host}`)).statusCode).toBe(400);
  expect((await post('token', '2001:db8:0:1::ffff')).statusCode).toBe(429);
  expect((await post('token', '2001:db8:0:2::1')).statusCode).toBe(400);
  const open = (url: string, host: number) => instance.app.inject({ url, remoteAddress: `2001:db8:0:1::${host}` });
  for (let host = 1; host <= 20; host++) {
    expect((await open('/oauth/signed-out', host)).statusCode).toBe(200);
    expect((await open('/me', host)).statusCode).toBe(401);
  }
  expect((await open('/oauth/signed-out', 99)).statusCode).toBe(429);
  expect((await open('/me', 99)).statusCode).toBe(429);
});

describe('X-Forwarded-For (LIM-7)', () => {
  const from = (forwarded: string, remoteAddress: string, { app } = instance) =>
    app.inject({
      ...{ method: 'POST', url: '/oauth/token', payload: {}, remoteAddress },
      headers: { 'x-forwarded-for': forwarded },
    });

  test('is ignored without TRUST_PROXY', async () => {
    for (let host = 1; host <= 20; host++) await from(`192.0.2.${host}`, '203.0.113.70');
    expect((await from('192.0.2.99', '203.0.113.70')).statusCode).toBe(429);
  });

  test('is read up to the number of proxies in TRUST_PROXY, and earlier entries are ignored', async () => {
    const behind = await deployment.startInstance({ settings: { TRUST_PROXY: '1' } });
    for (let host = 1; host <= 20; host++) await from(`192.0.2.${host}, 203.0.113.71`, '10.0.0.1', behind);
    expect((await from('192.0.2.99, 203.0.113.71', '10.0.0.1', behind)).statusCode).toBe(429);
    expect((await from('203.0.113.72', '10.0.0.1', behind)).statusCode).toBe(400);
  });
});

test('a client has one rate limit for all addresses, and a wrong secret is not charged to it', async () => {
  for (let count = 0; count < 15; count++) await token('cli_a', `203.0.114.${count}`, 'wrong');
  for (let count = 0; count < 20; count++) expect((await token('cli_a', `203.0.115.${count}`)).statusCode).toBe(200);
  expect((await token('cli_a', '203.0.115.99')).statusCode).toBe(429);
  expect((await token('cli_b', '203.0.115.99')).statusCode).toBe(200);
});

test('instances share the rate limits (LIM-6)', async () => {
  const other = await deployment.startInstance();
  let allowed = 0;
  for (let count = 0; count < 30; count++) {
    const { statusCode } = await post('token', '203.0.113.50', {}, count % 2 ? other : instance);
    if (statusCode !== 429) allowed++;
  }
  expect(allowed).toBeLessThanOrEqual(21);
  expect(allowed).toBeGreaterThanOrEqual(19);
});

test('a region that hangs delays one request of an address only, whatever the region of its client', async () => {
  // A connection keeps the settings with which it was opened.
  for (const settings of [REQUEST_SETTINGS, WRITER_SETTINGS, READER_SETTINGS]) {
    onTestFinished(assignTemporarily(settings, { lock_timeout: '300' }));
  }
  const own = await deployment.startInstance();
  const leases: string[] = [];
  const ends = Object.values(own.databases).map((database) =>
    database.onStatement(({ name }) => name === 'limits.lease' && leases.push(database.region)),
  );
  const other = await ConcurrentTransaction.open(deployment.databases.au1.url);
  await other.whileOpen('lock table rate_budget in share mode', [], async () => {
    for (const host of [1, 2, 3]) expect((await post('token', `192.0.2.${host}`, {}, own)).statusCode).toBe(400);
  });
  await other.close();
  for (const end of ends) end();
  expect(leases).toEqual(['au1', 'us1', 'us1', 'us1']);
});

test('pages share the rate limit of requests without a token, and answer 429 with a page (LIM-3)', async () => {
  const open = () =>
    instance.app.inject({
      url: `/oauth/authorize?${toQuery(authorizationParameters('cli_a'))}`,
      remoteAddress: '203.0.113.60',
    });
  for (let count = 0; count < 40; count++) expect((await open()).statusCode).toBeLessThan(429);
  const response = await open();
  expect(response.statusCode).toBe(429);
  expect(response.headers['content-type']).toMatch(/^text\/html/);
  expect(response.headers).toHaveProperty('retry-after');
});
