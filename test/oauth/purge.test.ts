import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { AuthorizationCode } from '../../entities/authorization-code.entity.ts';
import { PasswordLink } from '../../entities/password-link.entity.ts';
import { RefreshToken } from '../../entities/refresh-token.entity.ts';
import { RevokedToken } from '../../entities/revoked-token.entity.ts';
import { Session } from '../../entities/session.entity.ts';
import { SignInAttempt } from '../../entities/sign-in-attempt.entity.ts';
import { TokenFamily } from '../../entities/token-family.entity.ts';
import { createPurgeJob, purgeExpired } from '../../src/domain/retention/purge.job.ts';
import { startJob } from '../../src/shared/jobs.ts';
import { Browser } from './browser.ts';
import { exchangeCode, obtainCode, obtainTokens, refreshTokens } from './code-flow.ts';
import { addApplication, addBuilder, addUser, authorizationParameters } from './fixtures.ts';
import { OAUTH_START, useOAuth } from './service.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const flow = { clientId: 'cli_app', email: 'user_a@example.com' };

const service = useOAuth();

beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app');
});

const purge = () => purgeExpired(service.databases.au1, service.clock.at);

async function countRows() {
  const em = service.databases.au1.fork();
  const tables = { TokenFamily, AuthorizationCode, RefreshToken, RevokedToken, Session, SignInAttempt };
  const counts = await Promise.all(Object.values(tables).map((entity) => em.count(entity as typeof Session)));
  return Object.fromEntries(Object.keys(tables).map((name, index) => [name, counts[index]]));
}

test('the purge deletes rows at their expiry, and none before', async () => {
  const tokens = await obtainTokens(service, flow);
  const unused = await obtainCode(service, flow);
  await service.app.inject({
    method: 'POST',
    url: '/oauth/revoke',
    payload: { client_id: 'cli_app', token: tokens.access_token },
  });
  const browser = new Browser(service.app);
  await browser.submitWithoutFollowing(await browser.open(authorizationParameters('cli_app')), 'Sign in', {
    email: 'x@example.com',
    password: 'x',
  });

  const all = { TokenFamily: 2, AuthorizationCode: 2, RefreshToken: 1, RevokedToken: 1, Session: 2, SignInAttempt: 4 };
  expect(await countRows()).toEqual(all);
  expect(await purge()).toEqual({
    ...{ families: 0, refreshTokens: 0, revokedTokens: 0, passwordLinks: 0, sessions: 0, attempts: 0 },
    ...{ conflicts: 0, audit: 0, consoleSessions: 0, usage: 0, requestLog: 0 },
    ...{ deliveries: 0, deletedDeliveries: 0, endpoints: 0, idempotencyKeys: 0, snapshots: 0 },
  });
  expect(await countRows()).toEqual(all);

  service.clock.at = OAUTH_START + 10 * MINUTE - 1;
  await purge();
  expect((await exchangeCode(service, flow, unused, { code_verifier: 'x'.repeat(43) })).body.error).toBe(
    'invalid_grant',
  );
  service.clock.at = OAUTH_START + 10 * MINUTE + 1;
  expect(await purge()).toMatchObject({ families: 1 });
  expect(await countRows()).toEqual({ ...all, TokenFamily: 1, AuthorizationCode: 1 });

  service.clock.at = OAUTH_START + 60 * MINUTE + 1;
  // An instance whose clock is behind accepts tokens for longer (ACC-5).
  expect(await purge()).toMatchObject({ revokedTokens: 0, attempts: 4 });
  service.clock.at = OAUTH_START + 12 * 60 * MINUTE + 1;
  expect(await purge()).toMatchObject({ sessions: 2 });
  expect(await countRows()).toEqual({
    ...{ TokenFamily: 1, AuthorizationCode: 1, RefreshToken: 1, RevokedToken: 1, Session: 0, SignInAttempt: 0 },
  });
  service.clock.at = OAUTH_START + 25 * 60 * MINUTE + 1;
  expect(await purge()).toMatchObject({ revokedTokens: 1 });

  const link = {
    digest: 'd',
    userId: 'user_a',
    purpose: 'RESET' as const,
    createdAt: new Date(OAUTH_START).toISOString(),
  };
  const expiresAt = new Date(service.clock.at + MINUTE).toISOString();
  await service.databases.au1.fork().insert(PasswordLink, { ...link, expiresAt });
  expect(await purge()).toMatchObject({ passwordLinks: 0 });
  service.clock.at += MINUTE + 1;
  expect(await purge()).toMatchObject({ passwordLinks: 1 });

  // Reuse of the refresh token is detected until 30 days after its expiry.
  service.clock.at = OAUTH_START + 60 * DAY - 1;
  expect(await purge()).toMatchObject({ families: 0, refreshTokens: 0 });
  service.clock.at = OAUTH_START + 60 * DAY + 1;
  expect(await purge()).toMatchObject({ families: 1 });
  expect(await countRows()).toMatchObject({ TokenFamily: 0, AuthorizationCode: 0, RefreshToken: 0 });
  service.clock.at = OAUTH_START;
});

test('the purge deletes the old refresh tokens of a family that is still in use', async () => {
  let { refresh_token } = await obtainTokens(service, flow);
  for (let round = 0; round < 4; round++) {
    service.clock.at += 29 * DAY;
    refresh_token = (await refreshTokens(service, flow, refresh_token)).body.refresh_token;
  }
  expect(await purge()).toMatchObject({ families: 0, refreshTokens: 2 });
  expect((await refreshTokens(service, flow, refresh_token)).status).toBe(200);
  service.clock.at = OAUTH_START;
});

describe('the purge', () => {
  test('does nothing while another instance purges', async () => {
    const other = new pg.Client({ connectionString: service.databases.au1.url });
    await other.connect();
    await other.query('begin');
    await other.query(`select pg_advisory_xact_lock(hashtext('builder-integration-api purge'))`);
    expect(await purge()).toBeNull();
    await other.query('commit');
    await other.end();
    expect(await purge()).not.toBeNull();
  });

  test('runs on a schedule in both regions, also when one is unavailable', async () => {
    const logged: object[] = [];
    const log = {
      info: (properties: object) => logged.push(properties),
      error: (properties: object) => logged.push(properties),
    };
    await obtainTokens(service, flow);
    service.clock.at = OAUTH_START + 90 * DAY;
    const databases = { au1: service.databases.au1, us1: { url: 'postgresql://u:p@127.0.0.1:1/none' } as never };
    await startJob(
      createPurgeJob(databases, async () => service.clock.at),
      log as never,
    )();
    expect(logged).toEqual([
      expect.objectContaining({ region: 'au1', families: expect.any(Number) }),
      expect.objectContaining({ region: 'us1', err: expect.any(Error) }),
    ]);
    service.clock.at = OAUTH_START;
  });
});
