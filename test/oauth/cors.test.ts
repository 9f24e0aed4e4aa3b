import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { Database } from '../../src/database/database.ts';
import { type Instance, startDeployment, type TestDeployment } from './deployment.ts';
import { addApplication } from './fixtures.ts';
import { addClient, OAUTH_START } from './service.ts';

const APP = 'https://app.example';
const US_APP = 'http://localhost:5173';
const SERVER = 'https://server.example';
const OFF = 'https://off.example';

let deployment: TestDeployment;
let instance: Instance;

beforeAll(async () => {
  deployment = await startDeployment();
  instance = await deployment.startInstance();
  await addApplication(deployment, 'cli_app', { origins: [APP] });
  await addApplication(deployment, 'cli_us', { region: 'us1', origins: [US_APP] });
  await addApplication(deployment, 'cli_off', { origins: [OFF], disabledAt: new Date(OAUTH_START).toISOString() });
  await addClient(deployment, 'cli_server', { origins: [SERVER] });
});
afterAll(() => deployment?.close());

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

const CORS_PATHS = [
  '/builders',
  '/me',
  '/subcontractors?limit=1',
  '/graphql',
  '/oauth/token',
  '/oauth/revoke?a=%',
  '/builders/%zz',
];
const OTHER_PATHS = [
  '/oauth/authorize',
  '/oauth/sign-in',
  '/oauth/introspect',
  '/oauth/introspect?token=a',
  '/%6Fauth/introspect',
  '/oauth/%69ntrospect',
  '/oauth/tokens',
  '/metrics',
  '/health/ready',
  '/account/applications',
  '/console/graphql',
  '/docs/',
  '/reports/phrep_none',
];

describe('a preflight', () => {
  test.each([...CORS_PATHS, '/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource/mcp'])(
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
    'of the origin %s is rejected',
    async (origin) => {
      const { statusCode, headers } = await preflight('/builders', origin);
      expect(statusCode).toBe(204);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  test.each(OTHER_PATHS)('to %s is rejected', async (url) => {
    expect((await preflight(url, APP)).headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('a response', () => {
  test.each(CORS_PATHS)(
    'of %s, errors included, allows a registered origin and exposes the headers of the API (ACC-18)',
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
      const names = [
        'Date',
        'X-Request-Id',
        'Retry-After',
        'WWW-Authenticate',
        'X-RateLimit-Remaining',
        'Idempotency-Replayed',
      ];
      for (const name of names) {
        expect(headers['access-control-expose-headers']).toContain(name);
      }
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );

  test.each([...CORS_PATHS, ...OTHER_PATHS])('of %s does not allow an unregistered origin (ACC-18)', async (url) => {
    const { headers } = await instance.app.inject({ url, headers: { origin: 'https://evil.example' } });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  test.each(OTHER_PATHS)('of %s does not allow a registered origin (ACC-19)', async (url) => {
    const { headers } = await instance.app.inject({ url, headers: { origin: APP } });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('to a request without Origin reads no origins from a database', async () => {
    const statements: string[] = [];
    const end = instance.databases.au1.onStatement(({ name }) => statements.push(name));
    await instance.app.inject({ url: '/builders' });
    end();
    expect(statements).not.toContain('oauth.origins');
  });
});

test('origins are cached for 30 seconds', async () => {
  deployment.clock.at += 60_000;
  const statements: string[] = [];
  const end = instance.databases.au1.onStatement(({ name }) => statements.push(name));
  for (let count = 0; count < 10; count++) await preflight('/builders', APP);
  expect(statements.filter((name) => name === 'oauth.origins')).toHaveLength(1);
  end();
  await deployment.databases.au1.fork().nativeUpdate(OAuthClient, { id: 'cli_app' }, { origins: [] });
  deployment.clock.at += 29_999;
  expect((await preflight('/builders', APP)).headers['access-control-allow-origin']).toBe(APP);
  deployment.clock.at += 1;
  expect((await preflight('/builders', APP)).headers).not.toHaveProperty('access-control-allow-origin');
  await deployment.databases.au1.fork().nativeUpdate(OAuthClient, { id: 'cli_app' }, { origins: [APP] });
  deployment.clock.at += 30_000;
});

test('cached origins stay allowed while a database is unavailable', async () => {
  const databases = { au1: new Database('au1', deployment.databases.au1.url), us1: deployment.databases.us1 };
  const disconnected = await deployment.startInstance({ databases });
  expect((await preflight('/builders', APP, disconnected)).headers['access-control-allow-origin']).toBe(APP);
  databases.au1.runner.run = () => Promise.reject(Object.assign(new Error('unavailable'), { code: 'ECONNREFUSED' }));
  deployment.clock.at += 30_000;
  expect((await preflight('/builders', APP, disconnected)).headers['access-control-allow-origin']).toBe(APP);
  expect((await preflight('/builders', US_APP, disconnected)).headers['access-control-allow-origin']).toBe(US_APP);
  await databases.au1.close();
});

test('an unresponsive database delays only one request, and its origins are read again when it responds', async () => {
  const databases = { au1: new Database('au1', deployment.databases.au1.url), us1: deployment.databases.us1 };
  const disconnected = await deployment.startInstance({ databases });
  const run = databases.au1.runner.run.bind(databases.au1.runner);
  databases.au1.runner.run = () => Promise.reject(Object.assign(new Error('unavailable'), { code: 'ECONNREFUSED' }));
  expect((await preflight('/builders', APP, disconnected)).headers).not.toHaveProperty('access-control-allow-origin');
  const hanging = Promise.withResolvers<[]>();
  databases.au1.runner.run = () => hanging.promise;
  expect((await preflight('/builders', US_APP, disconnected)).headers['access-control-allow-origin']).toBe(US_APP);
  databases.au1.runner.run = run;
  hanging.reject(new Error('timeout'));
  await expect
    .poll(async () => (await preflight('/builders', APP, disconnected)).headers['access-control-allow-origin'])
    .toBe(APP);
  await databases.au1.close();
});
