import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { authorization, queryOf } from './people.ts';
import { addClient } from './service.ts';
import { type Instance, startWhole, type Whole } from './whole.ts';

const secret = newSecret();

let whole: Whole;
let instance: Instance;

beforeAll(async () => {
  whole = await startWhole({ RATE_LIMIT_TOKEN: '20/60', RATE_LIMIT_API: '40/60' });
  instance = await whole.instance();
  await addClient(whole, 'cli_a', { secrets: [secret] });
  await addClient(whole, 'cli_b', { secrets: [secret] });
});
afterAll(() => whole?.close());

const post = (path: string, remoteAddress: string, fields: Record<string, string> = {}, { app } = instance) =>
  app.inject({ method: 'POST', url: `/oauth/${path}`, remoteAddress, payload: fields });

const token = (clientId: string, address: string, client_secret = secret) =>
  post('token', address, {
    ...{ grant_type: 'client_credentials', client_id: clientId, client_secret },
    ...{ audience: whole.baseUrl, scope: 'read:builders' },
  });

test('an address has one budget for token, revocation and introspection, right or wrong (LIM-3)', async () => {
  for (const path of ['token', 'revoke', 'introspect', 'token']) {
    for (let count = 0; count < 5; count++) expect((await post(path, '203.0.113.1')).statusCode).toBeLessThan(429);
  }
  for (const path of ['token', 'revoke', 'introspect']) {
    const answer = await post(path, '203.0.113.1');
    expect([answer.statusCode, answer.json().code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers['x-ratelimit-limit']).toBe('20');
    expect(answer.headers['cache-control']).toBe('no-store');
  }
  expect((await post('token', '203.0.113.2')).statusCode).toBe(400);
});

test('all addresses of an IPv6 network have one budget, for the endpoints and for the pages and the API (LIM-7)', async () => {
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

  test('is of no consequence without TRUST_PROXY', async () => {
    for (let host = 1; host <= 20; host++) await from(`192.0.2.${host}`, '203.0.113.70');
    expect((await from('192.0.2.99', '203.0.113.70')).statusCode).toBe(429);
  });

  test('counts from as many proxies as TRUST_PROXY says, whatever stands before', async () => {
    const behind = await whole.instance({ settings: { TRUST_PROXY: '1' } });
    for (let host = 1; host <= 20; host++) await from(`192.0.2.${host}, 203.0.113.71`, '10.0.0.1', behind);
    expect((await from('192.0.2.99, 203.0.113.71', '10.0.0.1', behind)).statusCode).toBe(429);
    expect((await from('203.0.113.72', '10.0.0.1', behind)).statusCode).toBe(400);
  });
});

test('a client has a budget wherever it calls from, and a wrong secret takes nothing of it', async () => {
  for (let count = 0; count < 15; count++) await token('cli_a', `203.0.114.${count}`, 'wrong');
  for (let count = 0; count < 20; count++) expect((await token('cli_a', `203.0.115.${count}`)).statusCode).toBe(200);
  expect((await token('cli_a', '203.0.115.99')).statusCode).toBe(429);
  expect((await token('cli_b', '203.0.115.99')).statusCode).toBe(200);
});

test('instances share the budget (LIM-6)', async () => {
  const other = await whole.instance();
  let allowed = 0;
  for (let count = 0; count < 30; count++) {
    const { statusCode } = await post('token', '203.0.113.50', {}, count % 2 ? other : instance);
    if (statusCode !== 429) allowed++;
  }
  expect(allowed).toBeLessThanOrEqual(21);
  expect(allowed).toBeGreaterThanOrEqual(19);
});

test('pages have the budget of any request without a token, and say so on a page (LIM-3)', async () => {
  const open = () =>
    instance.app.inject({ url: `/oauth/authorize?${queryOf(authorization('cli_a'))}`, remoteAddress: '203.0.113.60' });
  for (let count = 0; count < 40; count++) expect((await open()).statusCode).toBeLessThan(429);
  const answer = await open();
  expect(answer.statusCode).toBe(429);
  expect(answer.headers['content-type']).toMatch(/^text\/html/);
  expect(answer.headers).toHaveProperty('retry-after');
});
