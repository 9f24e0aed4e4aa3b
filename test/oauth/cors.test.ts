import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { Database } from '../../src/database/database.ts';
import { addApplication } from './people.ts';
import { addClient, START } from './service.ts';
import { type Instance, startWhole, type Whole } from './whole.ts';

const APP = 'https://app.example';
const US_APP = 'http://localhost:5173';
const SERVER = 'https://server.example';
const OFF = 'https://off.example';

let whole: Whole;
let instance: Instance;

beforeAll(async () => {
  whole = await startWhole();
  instance = await whole.instance();
  await addApplication(whole, 'cli_app', { origins: [APP] });
  await addApplication(whole, 'cli_us', { region: 'us1', origins: [US_APP] });
  await addApplication(whole, 'cli_off', { origins: [OFF], disabledAt: new Date(START).toISOString() });
  await addClient(whole, 'cli_server', { origins: [SERVER] });
});
afterAll(() => whole?.close());

const preflight = (url: string, origin: string, { app }: Pick<Instance, 'app'> = instance) =>
  app.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, x-service-builder-id',
    },
  });

const OPEN = ['/builders', '/me', '/subcontractors?limit=1', '/graphql', '/oauth/token', '/oauth/revoke?a=%'];
const CLOSED = [
  '/oauth/authorize',
  '/oauth/sign-in',
  '/oauth/introspect',
  '/oauth/introspect?token=a',
  '/%6Fauth/introspect',
  '/oauth/%69ntrospect',
  '/oauth/tokens',
  '/metrics',
  '/health/ready',
];

describe('a preflight', () => {
  test.each([...OPEN, '/.well-known/oauth-authorization-server'])(
    'of a registered origin to %s is answered before authentication (ACC-18)',
    async (url) => {
      for (const origin of [APP, US_APP]) {
        const { statusCode, headers } = await preflight(url, origin);
        expect(statusCode).toBe(204);
        expect(headers).toMatchObject({
          'access-control-allow-origin': origin,
          'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
          'access-control-allow-headers': 'authorization, content-type, x-service-builder-id',
        });
        expect(headers.vary).toMatch(/Origin/i);
        expect(headers).not.toHaveProperty('access-control-allow-credentials');
      }
    },
  );

  test.each(['https://evil.example', 'null', 'https://app.example.evil.example', 'http://app.example', SERVER, OFF])(
    'of %s gets no leave',
    async (origin) => {
      const { statusCode, headers } = await preflight('/builders', origin);
      expect(statusCode).toBe(204);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  test.each(CLOSED)('to %s gets no leave', async (url) => {
    expect((await preflight(url, APP)).headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('an answer', () => {
  test.each(OPEN)(
    'of %s can be read by a registered origin, errors too, with the headers that matter (ACC-18)',
    async (url) => {
      const method = /oauth|graphql/.test(url) ? 'POST' : 'GET';
      const { statusCode, headers } = await instance.app.inject({
        method,
        url,
        headers: { origin: APP },
        payload: method === 'POST' ? {} : undefined,
      });
      expect(statusCode).toBeGreaterThanOrEqual(400);
      expect(headers['access-control-allow-origin']).toBe(APP);
      for (const name of ['X-Request-Id', 'Retry-After', 'WWW-Authenticate', 'X-RateLimit-Remaining']) {
        expect(headers['access-control-expose-headers']).toContain(name);
      }
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );

  test.each([...OPEN, ...CLOSED])('of %s cannot be read by another (ACC-18)', async (url) => {
    const { headers } = await instance.app.inject({ url, headers: { origin: 'https://evil.example' } });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  test.each(CLOSED)('of %s cannot be read by a registered one (ACC-19)', async (url) => {
    const { headers } = await instance.app.inject({ url, headers: { origin: APP } });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('without an Origin asks no database for one', async () => {
    const asked: string[] = [];
    const end = instance.databases.au1.onStatement(({ name }) => asked.push(name));
    await instance.app.inject({ url: '/builders' });
    end();
    expect(asked).not.toContain('oauth.origins');
  });
});

test('the origins are read once in 30 seconds; a removed one lives on for so long', async () => {
  whole.clock.at += 60_000;
  const asked: string[] = [];
  const end = instance.databases.au1.onStatement(({ name }) => asked.push(name));
  for (let count = 0; count < 10; count++) await preflight('/builders', APP);
  expect(asked.filter((name) => name === 'oauth.origins')).toHaveLength(1);
  end();
  await whole.databases.au1.fork().nativeUpdate(OAuthClient, { id: 'cli_app' }, { origins: [] });
  whole.clock.at += 29_999;
  expect((await preflight('/builders', APP)).headers['access-control-allow-origin']).toBe(APP);
  whole.clock.at += 1;
  expect((await preflight('/builders', APP)).headers).not.toHaveProperty('access-control-allow-origin');
  await whole.databases.au1.fork().nativeUpdate(OAuthClient, { id: 'cli_app' }, { origins: [APP] });
  whole.clock.at += 30_000;
});

test('while a database is away, the answer is as readable as before', async () => {
  const databases = { au1: new Database('au1', whole.databases.au1.url), us1: whole.databases.us1 };
  const cut = await whole.instance({ databases });
  expect((await preflight('/builders', APP, cut)).headers['access-control-allow-origin']).toBe(APP);
  databases.au1.runner.run = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
  whole.clock.at += 30_000;
  expect((await preflight('/builders', APP, cut)).headers['access-control-allow-origin']).toBe(APP);
  expect((await preflight('/builders', US_APP, cut)).headers['access-control-allow-origin']).toBe(US_APP);
  await databases.au1.close();
});

test('while a database hangs, nobody waits for it twice, and its origins are back when it is', async () => {
  const databases = { au1: new Database('au1', whole.databases.au1.url), us1: whole.databases.us1 };
  const cut = await whole.instance({ databases });
  const run = databases.au1.runner.run.bind(databases.au1.runner);
  databases.au1.runner.run = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
  expect((await preflight('/builders', APP, cut)).headers).not.toHaveProperty('access-control-allow-origin');
  const hanging = Promise.withResolvers<[]>();
  databases.au1.runner.run = () => hanging.promise;
  expect((await preflight('/builders', US_APP, cut)).headers['access-control-allow-origin']).toBe(US_APP);
  databases.au1.runner.run = run;
  hanging.reject(new Error('timeout'));
  await expect
    .poll(async () => (await preflight('/builders', APP, cut)).headers['access-control-allow-origin'])
    .toBe(APP);
  await databases.au1.close();
});
