import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RateLimiter } from '../../src/auth/rate-limiter.ts';
import { Database } from '../../src/database/database.ts';
import { createPurgeJob } from '../../src/domain/retention/purge.job.ts';
import { createSweepJob } from '../../src/domain/uploads/sweep.ts';
import { RegisteredOrigins } from '../../src/oauth/registered-origins.ts';
import { createObjectKey } from '../../src/storage/keys.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { FakeClock, testConfig, useService } from '../support/harness.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A database whose clock differs from that of this machine. */
class SkewedDatabase extends Database {
  skewMs = 0;

  override async now(): Promise<number> {
    return (await super.now()) + this.skewMs;
  }
}

const service = useService();
let au1: SkewedDatabase;

beforeAll(async () => {
  au1 = new SkewedDatabase('au1', service.databases.au1.url);
});

afterAll(() => au1.close());

const databases = () => ({ au1, us1: service.databases.us1 });

describe('the clock of the database', () => {
  it('is that of PostgreSQL, not of this machine', async () => {
    const em = service.databases.us1.fork();
    await em.execute(`create schema tomorrow;
      create function tomorrow.clock_timestamp() returns timestamptz language sql
        return pg_catalog.clock_timestamp() + interval '1 day'`);
    const database = new Database('us1', `${service.databases.us1.url}?options=-csearch_path%3Dtomorrow,pg_catalog`);
    try {
      expect(Math.abs((await database.now()) - Date.now() - DAY)).toBeLessThan(HOUR);
    } finally {
      await database.close();
    }
  });
});

describe('a rate limit', () => {
  const limit = { requests: 3, seconds: 10 };
  const headersOf = async (limiter: RateLimiter, key: string) => {
    let sent: Record<string, number> = {};
    const reply = { headers: (given: Record<string, number>) => (sent = given) } as never;
    await limiter.take(service.databases.au1, key, reply);
    return sent;
  };

  it('begins a new window when the clock moves backwards', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter('backwards', limit, clock);
    for (let call = 0; call < 3; call++) await headersOf(limiter, 'client');
    clock.advance(-HOUR);
    const headers = await headersOf(limiter, 'client');
    expect(headers['x-ratelimit-reset']).toBeLessThanOrEqual(10);
    expect(headers['x-ratelimit-remaining']).toBe(2);
  });

  it('keeps the charges of other instances when its own clock is ahead of the database', async () => {
    const em = service.databases.au1.fork();
    await em.execute(`insert into rate_budget (key, window_end, leased)
      values ('other:now', now() + interval '5 seconds', 1), ('other:over', now() - interval '1 hour', 1)`);
    const clock = new FakeClock();
    clock.advance(Date.now() + DAY - clock.now());
    await headersOf(new RateLimiter('ahead', limit, clock), 'client');
    const keys = async () =>
      (await em.execute<{ key: string }[]>(`select key from rate_budget where key like 'other:%' order by key`)).map(
        ({ key }) => key,
      );
    await expect.poll(() => keys()).not.toContain('other:over');
    expect(await keys()).toEqual(['other:now']);
  });
});

describe('when the clock of an instance moves backwards', () => {
  it('a verified token is checked against the database again', async () => {
    const token = await service.tokenOf('C');
    const { clientId } = service.findDemoClient('C');
    const setDisabled = (sql: string) =>
      service.databases.au1.fork().execute(`update oauth_client set disabled_at = ${sql} where id = ?`, [clientId]);
    expect((await service.get('/builders', token)).statusCode).toBe(200);
    await setDisabled('now()');
    service.clock.advance(-1);
    const { statusCode } = await service.get('/builders', token);
    service.clock.advance(1);
    await setDisabled('null');
    expect(statusCode).toBe(401);
  });

  it('registered origins are read again', async () => {
    const clock = new FakeClock();
    const origins = new RegisteredOrigins({ databases: service.databases, clock });
    const origin = 'https://late.example';
    expect(await origins.has(origin)).toBe(false);
    await service.databases.au1
      .fork()
      .execute(`update oauth_client set origins = ? where type = 'PUBLIC' and disabled_at is null`, [`{${origin}}`]);
    expect(await origins.has(origin)).toBe(false);
    clock.advance(-1);
    expect(await origins.has(origin)).toBe(true);
  });
});

describe('the purge', () => {
  it('uses the clock of the database', async () => {
    const em = service.databases.au1.fork();
    await em.execute(`insert into oauth_revoked_token (jti, expires_at) values ('t', now() + interval '1 day')`);
    au1.skewMs = 0;
    expect(await createPurgeJob(databases()).run('au1')).toMatchObject({ revokedTokens: 0 });
    au1.skewMs = 2 * DAY;
    expect(await createPurgeJob(databases()).run('au1')).toMatchObject({ revokedTokens: 1 });
  });
});

describe('the sweep', () => {
  it('uses the clock of the database', async () => {
    const config = testConfig({ DATA_DIR: service.dataDir });
    const storages = openStorages(config, { secrets: ['x'.repeat(43)], clock: service.clock });
    const key = createObjectKey('photos', service.findDemoClient('A').builderIds[0]!, 'image/png');
    await storages.au1.store(key, Readable.from(['bytes']), 'image/png', 1_000);
    const job = createSweepJob(databases(), storages);
    au1.skewMs = DAY - HOUR;
    expect(await job.run('au1')).toMatchObject({ objects: 0 });
    au1.skewMs = DAY + HOUR;
    expect(await job.run('au1')).toMatchObject({ objects: 1 });
  });
});
