import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RateLimiter } from '../../src/auth/rate-limiter.ts';
import { useService } from '../support/harness.ts';

const service = useService({ RATE_LIMIT_API: '3/10', RATE_LIMIT_TOKEN: '2/60' });

beforeEach(() => service.clock.advance(120_000));

const METADATA = '/.well-known/oauth-authorization-server';

const parseRateLimitHeaders = (headers: Record<string, unknown>) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers[`x-ratelimit-${name}`]));

describe('RATE_LIMIT_API', () => {
  it('counts down per client, then responds 429 with Retry-After until the window ends (ERR-17, LIM-1, LIM-5)', async () => {
    const token = await service.tokenOf('A');
    const answers = [];
    for (let call = 0; call < 4; call++) answers.push(await service.get('/builders', token));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429]);
    expect(answers.map(({ headers }) => parseRateLimitHeaders(headers)[1])).toEqual([2, 1, 0, 0]);
    expect(answers[3]!.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(answers[3]!.headers['retry-after']).toBe('10');
    expect(answers[3]!.headers['x-ratelimit-reset']).toBe('10');
    service.clock.advance(10_000);
    expect((await service.get('/builders', await service.tokenOf('A'))).statusCode).toBe(200);
  });

  it("does not spend another client's budget", async () => {
    const token = await service.tokenOf('A');
    for (let call = 0; call < 4; call++) await service.get('/builders', token);
    expect((await service.get('/builders', await service.tokenOf('B'))).statusCode).toBe(200);
  });

  it('counts per address without a token (LIM-1)', async () => {
    const call = (remoteAddress: string) => service.request({ url: '/builders', remoteAddress });
    for (let sent = 0; sent < 3; sent++) expect((await call('192.0.2.1')).statusCode).toBe(401);
    expect((await call('192.0.2.1')).statusCode).toBe(429);
    expect((await call('192.0.2.2')).statusCode).toBe(401);
  });

  it('counts per address with an unknown region', async () => {
    const headers = { 'x-service-region-id': 'eu1' };
    const call = () => service.request({ url: '/builders', headers, remoteAddress: '192.0.2.3' });
    const first = await call();
    expect([first.statusCode, ...parseRateLimitHeaders(first.headers)]).toEqual([400, 3, 2, 10]);
    for (let sent = 0; sent < 2; sent++) await call();
    expect((await call()).statusCode).toBe(429);
  });

  it('counts per address for the reference and the OpenAPI document', async () => {
    const call = (url: string) => service.request({ url, remoteAddress: '192.0.2.4' });
    const first = await call('/openapi.json');
    expect(first.statusCode).toBe(200);
    await call('/docs/');
    expect((await call('/')).statusCode).toBe(302);
    expect((await call('/docs/')).statusCode).toBe(429);
  });

  it('does not apply to health checks, which work without a database (LIM-5)', async () => {
    for (let call = 0; call < 5; call++) expect((await service.request({ url: '/health/live' })).statusCode).toBe(200);
  });

  it.each(['/health/live', '/health/ready', '/metrics', METADATA, '/storage/au1/photos/x'])(
    'does not apply to %s (LIM-5)',
    async (url) => {
      for (let call = 0; call < 4; call++) expect((await service.request({ url })).statusCode).not.toBe(429);
    },
  );

  it('has headers on operations and token endpoints, and on nothing else (LIM-5)', async () => {
    const token = await service.tokenOf('A');
    const hasHeaders = async (method: 'GET' | 'POST' | 'PUT', url: string, authorization?: string) => {
      const { headers } = await service.request({ method, url, headers: { ...(authorization && { authorization }) } });
      return Object.keys(headers).filter((name) => name.startsWith('x-ratelimit')).length === 3;
    };
    for (const url of ['/builders', '/builders/none', '/unknown', '/builders?limit=x'])
      expect([url, await hasHeaders('GET', url, `Bearer ${token}`)]).toEqual([url, true]);
    for (const url of ['/oauth/token', '/oauth/revoke', '/oauth/introspect'])
      expect([url, await hasHeaders('POST', url)]).toEqual([url, true]);
    for (const url of ['/', '/docs/', '/openapi.json', '/oauth/authorize', '/oauth/signed-out', '/console', METADATA])
      expect([url, await hasHeaders('GET', url)]).toEqual([url, false]);
    const presign = { contentType: 'image/png', fileName: 'a.png', size: 1, type: 'attachment' };
    const { uploadUrl } = (
      await service.request({
        method: 'POST',
        url: `/builders/${service.findDemoClient('B').builderIds[0]}/attachments/presign`,
        headers: { authorization: `Bearer ${await service.tokenOf('B')}` },
        payload: presign,
      })
    ).json();
    expect(await hasHeaders('PUT', uploadUrl.slice(uploadUrl.indexOf('/storage/')))).toBe(false);
  });

  it('applies to GraphQL too (LIM-1)', async () => {
    const token = await service.tokenOf('A');
    for (let call = 0; call < 3; call++) await service.get('/builders', token);
    const { errors } = await service.graphql(token, '{ me { id } }');
    expect(errors![0]!.extensions).toMatchObject({ code: 'RATE_LIMITED', http: { status: 429 } });
  });
});

describe('RATE_LIMIT_TOKEN', () => {
  it('responds 429 per address (LIM-3)', async () => {
    const call = () =>
      service.request({
        method: 'POST',
        url: '/oauth/token',
        remoteAddress: '192.0.2.9',
        payload: { grant_type: 'client_credentials' },
      });
    expect((await call()).statusCode).toBe(401);
    expect((await call()).statusCode).toBe(401);
    const refused = await call();
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBeDefined();
  });
});

describe('the rejections of a client that keeps sending', () => {
  it('are delayed after the first hundred of a window (LIM-8)', async () => {
    const limiter = new RateLimiter('rejections', { requests: 1, seconds: 10 }, service.clock);
    const reply = { headers: () => reply } as never;
    const take = async () => limiter.take(service.databases.au1, 'client', reply);
    const rejectedStatus = () => take().catch(({ status }) => status);
    const delayed = () => new Promise((resolve) => setImmediate(resolve, 'delayed'));
    await take();
    for (let sent = 0; sent < 100; sent++) expect(await Promise.race([rejectedStatus(), delayed()])).toBe(429);
    // From 250 to 750 ms, at random.
    const random = vi.spyOn(Math, 'random').mockReturnValueOnce(0.9);
    const startedAt = performance.now();
    const last = rejectedStatus();
    random.mockRestore();
    expect(await Promise.race([last, delayed()])).toBe('delayed');
    expect(await last).toBe(429);
    expect(performance.now() - startedAt).toBeGreaterThan(690);
  });
});

describe('a budget that instances share', () => {
  it('is exact for many concurrent requests (LIM-6)', async () => {
    const limit = { requests: 100, seconds: 10 };
    const instances = Array.from({ length: 4 }, () => new RateLimiter('shared', limit, service.clock));
    const reply = { headers: () => reply } as never;
    const results = await Promise.allSettled(
      Array.from({ length: 400 }, (_, call) => instances[call % 4]!.take(service.databases.au1, 'client', reply)),
    );
    const allowed = results.filter(({ status }) => status === 'fulfilled').length;
    expect(allowed).toBeLessThanOrEqual(100);
    // Unused leases are lost to other instances: at most one block, a twentieth of the budget, per instance.
    expect(allowed).toBeGreaterThanOrEqual(100 - 4 * 5);
  });

  it('deletes ended windows at most once a minute', async () => {
    const limiter = new RateLimiter('purge', { requests: 1, seconds: 1 }, service.clock);
    const reply = { headers: () => reply } as never;
    let deletions = 0;
    const end = service.databases.au1.onStatement(({ name }) => name === 'limits.purge' && deletions++);
    const counts: number[] = [];
    for (const milliseconds of [0, 59_999, 1, 59_999]) {
      service.clock.advance(milliseconds);
      await limiter.take(service.databases.au1, `client ${counts.length}`, reply);
      counts.push(deletions);
    }
    end();
    expect(counts).toEqual([1, 1, 2, 2]);
  });

  it('keeps windows for a minute after their end, for instances whose clock is behind', async () => {
    const em = service.databases.au1.fork();
    const end = (milliseconds: number) => new Date(service.clock.now() + milliseconds).toISOString();
    const ends = { 'end:current': 5_000, 'end:recent': -59_999, 'end:over': -60_001 };
    for (const [key, milliseconds] of Object.entries(ends)) {
      await em.execute('insert into rate_budget (key, window_end, leased) values (?, ?, 1)', [key, end(milliseconds)]);
    }
    const reply = { headers: () => reply } as never;
    await new RateLimiter('end', { requests: 1, seconds: 1 }, service.clock).take(service.databases.au1, 'a', reply);
    const keys = async () =>
      (await em.execute<{ key: string }[]>(`select key from rate_budget where key like 'end:%' order by key`)).map(
        ({ key }) => key,
      );
    await expect.poll(() => keys()).toEqual(['end:a', 'end:current', 'end:recent']);
  });

  it('of 0 means no limit and no headers', async () => {
    const headers = vi.fn();
    await new RateLimiter('none', null, service.clock).take(service.databases.au1, 'client', { headers } as never);
    expect(headers).not.toHaveBeenCalled();
  });
});
