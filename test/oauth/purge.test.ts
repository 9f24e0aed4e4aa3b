import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AuthorizationCode } from '../../entities/authorization-code.entity.ts';
import { RefreshToken } from '../../entities/refresh-token.entity.ts';
import { RevokedToken } from '../../entities/revoked-token.entity.ts';
import { Session } from '../../entities/session.entity.ts';
import { SignInAttempt } from '../../entities/sign-in-attempt.entity.ts';
import { TokenFamily } from '../../entities/token-family.entity.ts';
import { purge, purging } from '../../src/oauth/tokens/purge.ts';
import { startJob } from '../../src/shared/jobs.ts';
import { Browser } from './browser.ts';
import { codeFor, exchange, refresh, tokensFor } from './flow.ts';
import { addApplication, addBuilder, addUser, authorization } from './people.ts';
import { type OAuthService, START, startOAuth } from './service.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const person = { clientId: 'cli_app', email: 'user_a@example.com' };

let service: OAuthService;

beforeAll(async () => {
  service = await startOAuth();
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app');
});
afterAll(() => service?.close());

const run = () => purge(service.databases.au1, service.clock.at);

async function rows() {
  const em = service.databases.au1.fork();
  const tables = { TokenFamily, AuthorizationCode, RefreshToken, RevokedToken, Session, SignInAttempt };
  const counts = await Promise.all(Object.values(tables).map((entity) => em.count(entity as typeof Session)));
  return Object.fromEntries(Object.keys(tables).map((name, index) => [name, counts[index]]));
}

test('what is over goes when its time has come, and nothing before', async () => {
  const tokens = await tokensFor(service, person);
  const unused = await codeFor(service, person);
  await service.app.inject({
    method: 'POST',
    url: '/oauth/revoke',
    payload: { client_id: 'cli_app', token: tokens.access_token },
  });
  const browser = new Browser(service.app);
  await browser.pressOnly(await browser.open(authorization('cli_app')), 'Sign in', {
    email: 'x@example.com',
    password: 'x',
  });

  const all = { TokenFamily: 2, AuthorizationCode: 2, RefreshToken: 1, RevokedToken: 1, Session: 2, SignInAttempt: 2 };
  expect(await rows()).toEqual(all);
  expect(await run()).toEqual({ families: 0, refreshTokens: 0, revokedTokens: 0, sessions: 0, attempts: 0 });
  expect(await rows()).toEqual(all);

  service.clock.at = START + 10 * MINUTE - 1;
  await run();
  expect((await exchange(service, person, unused, { code_verifier: 'x'.repeat(43) })).body.error).toBe('invalid_grant');
  service.clock.at = START + 10 * MINUTE + 1;
  expect(await run()).toMatchObject({ families: 1 });
  expect(await rows()).toEqual({ ...all, TokenFamily: 1, AuthorizationCode: 1 });

  service.clock.at = START + 60 * MINUTE + 1;
  expect(await run()).toMatchObject({ revokedTokens: 1, attempts: 2 });
  service.clock.at = START + 12 * 60 * MINUTE + 1;
  expect(await run()).toMatchObject({ sessions: 2 });
  expect(await rows()).toEqual({
    ...{ TokenFamily: 1, AuthorizationCode: 1, RefreshToken: 1, RevokedToken: 0, Session: 0, SignInAttempt: 0 },
  });

  // Long after its end a second use of the refresh token would still be noticed; 30 days later it is forgotten.
  service.clock.at = START + 60 * DAY - 1;
  expect(await run()).toMatchObject({ families: 0, refreshTokens: 0 });
  service.clock.at = START + 60 * DAY + 1;
  expect(await run()).toMatchObject({ families: 1 });
  expect(await rows()).toMatchObject({ TokenFamily: 0, AuthorizationCode: 0, RefreshToken: 0 });
  service.clock.at = START;
});

test('a family that goes on keeps its newest tokens and loses the old', async () => {
  let { refresh_token } = await tokensFor(service, person);
  for (let round = 0; round < 4; round++) {
    service.clock.at += 29 * DAY;
    refresh_token = (await refresh(service, person, refresh_token)).body.refresh_token;
  }
  expect(await run()).toMatchObject({ families: 0, refreshTokens: 2 });
  expect((await refresh(service, person, refresh_token)).status).toBe(200);
  service.clock.at = START;
});

describe('one instance at a time', () => {
  test('whoever comes while another is at it leaves it to that one', async () => {
    const other = new pg.Client({ connectionString: service.databases.au1.url });
    await other.connect();
    await other.query('begin');
    await other.query(`select pg_advisory_xact_lock(hashtext('builder-integration-api oauth purge'))`);
    expect(await run()).toBeNull();
    await other.query('commit');
    await other.end();
    expect(await run()).not.toBeNull();
  });

  test('on a schedule, in both regions, and a region that is away does not stop the other', async () => {
    const said: object[] = [];
    const log = { info: (facts: object) => said.push(facts), error: (facts: object) => said.push(facts) };
    await tokensFor(service, person);
    service.clock.at = START + 90 * DAY;
    const transaction = () => Promise.reject(new Error('away'));
    const databases = { au1: service.databases.au1, us1: { transaction } as never };
    await startJob(
      purging(databases, async () => service.clock.at),
      log as never,
    )();
    expect(said).toEqual([
      expect.objectContaining({ region: 'au1', families: expect.any(Number) }),
      expect.objectContaining({ region: 'us1', err: expect.any(Error) }),
    ]);
    service.clock.at = START;
  });
});
