import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';

const METRICS_TOKEN = 'metrics-token-of-the-test';

let open: Service;
let guarded: Service;
let production: Service;

beforeAll(async () => {
  guarded = await startService({ METRICS_TOKEN });
  // Its databases are those of the test all the same.
  const address = 'postgresql://none@127.0.0.1/none';
  const urls = { DATABASE_URL_AU1: address, DATABASE_URL_US1: `${address}_us1` };
  production = await startService({ NODE_ENV: 'production', ...urls });
  // The instance started last owns the registry of the process.
  open = await startService();
});

afterAll(async () => {
  await open.stop();
  await guarded.stop();
  await production.stop();
});

describe('/health', () => {
  it('answers live and ready', async () => {
    expect((await open.request({ url: '/health/live' })).json()).toEqual({ status: 'ok' });
    const ready = await open.request({ url: '/health/ready' });
    expect(ready.statusCode).toBe(200);
    expect(ready.json()).toEqual({ status: 'ok', regions: { au1: 'ok', us1: 'ok' } });
  });
});

describe('/health/ready', () => {
  it('asks each database once for all requests at the same time', async () => {
    const count = await open.countStatements('au1', async () => {
      const requests = Array.from({ length: 20 }, () => open.request({ url: '/health/ready' }));
      for (const { statusCode } of await Promise.all(requests)) expect(statusCode).toBe(200);
    });
    expect(count).toBe(1);
  });
});

describe('/health/ready with the metrics token', () => {
  const ready = (token: string) =>
    guarded.request({ url: '/health/ready', headers: { authorization: `Bearer ${token}` } });

  it('reports the state of each database and store', async () => {
    const ok = { state: 'ok', milliseconds: expect.any(Number) };
    expect((await ready(METRICS_TOKEN)).json()).toEqual({
      ...{ status: 'ok', regions: { au1: 'ok', us1: 'ok' } },
      components: { databases: { au1: ok, us1: ok }, stores: { au1: ok, us1: ok }, draining: false },
    });
  });

  it('reports why a database does not answer', async () => {
    const { runner } = guarded.databases.us1;
    const run = runner.run.bind(runner);
    // The statement of the check fails as it does when a table is missing.
    runner.run = (statement, values) =>
      run(statement.name === 'health.ping' ? { name: '', text: 'select none' } : statement, values);
    try {
      const response = await ready(METRICS_TOKEN);
      expect(response.statusCode).toBe(503);
      expect(response.json().components.databases).toMatchObject({
        au1: { state: 'ok' },
        us1: { state: 'unavailable', error: 'column "none" does not exist' },
      });
    } finally {
      runner.run = run;
    }
  });

  it('has no details for other callers', async () => {
    expect(Object.keys((await ready('wrong')).json())).toEqual(['status', 'regions']);
  });
});

describe('/metrics', () => {
  const metrics = (service: Service, remoteAddress: string, token?: string) =>
    service.request({ url: '/metrics', remoteAddress, headers: token ? { authorization: `Bearer ${token}` } : {} });

  it('is for loopback when no token is set', async () => {
    await open.get('/builders', await open.tokenOf('A'));
    const text = (await metrics(open, '127.0.0.1')).body;
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/builders",status_code="200"} 1');
    expect((await metrics(open, '192.0.2.1')).json()).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('is not for what a proxy on the same machine passes on', async () => {
    const response = await open.request({
      url: '/metrics',
      remoteAddress: '127.0.0.1',
      headers: { 'x-forwarded-for': '192.0.2.1' },
    });
    expect(response.statusCode).toBe(403);
  });

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '192.0.2.1'])(
    'is for nobody in production without a token: %s',
    async (address) => {
      for (const token of [undefined, '', 'null', 'undefined']) {
        expect((await metrics(production, address, token)).json()).toMatchObject({ code: 'FORBIDDEN' });
      }
    },
  );

  it('requires the token from every address when one is set', async () => {
    expect((await metrics(guarded, '127.0.0.1')).statusCode).toBe(403);
    expect((await metrics(guarded, '192.0.2.1', 'wrong')).statusCode).toBe(403);
    expect((await metrics(guarded, '192.0.2.1', METRICS_TOKEN)).statusCode).toBe(200);
  });
});
