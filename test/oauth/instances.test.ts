import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Connection } from '../../entities/connection.entity.ts';
import { Database } from '../../src/database/database.ts';
import { addMembership, removeMembership } from '../../src/domain/access/memberships.ts';
import { OPERATOR } from '../support/audit.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { Browser } from './browser.ts';
import { exchangeCode, obtainCode, obtainTokens, refreshTokens, type Tokens } from './code-flow.ts';
import { type Instance, startDeployment, type TestDeployment } from './deployment.ts';
import {
  addApplication,
  addBuilder,
  addUser,
  authorizationParameters,
  REDIRECT_URI,
  responseParametersOf,
} from './fixtures.ts';

/** Two instances of the service with separate connections to the same databases. */
let deployment: TestDeployment;
let firstInstance: Instance;
let otherInstance: Instance;
let tokens: Tokens;

const LOCK_CLIENTS = { name: 'test.lock', text: 'lock table oauth_client in access exclusive mode' };
const WAITING = {
  name: 'test.waiting',
  text: `select count(*) from pg_locks where not granted and relation = 'oauth_client'::regclass`,
};

const flow = { clientId: 'cli_app', email: 'user_a@example.com' };

useLongerTimeLimits();
beforeAll(async () => {
  deployment = await startDeployment();
  [firstInstance, otherInstance] = [await deployment.startInstance(), await deployment.startInstance()];
  await addBuilder(deployment, 'buil_a');
  await addUser(deployment, 'user_a', ['buil_a']);
  await addApplication(deployment, 'cli_app');
});
beforeEach(async () => {
  tokens = await obtainTokens(firstInstance, flow);
});
afterAll(() => deployment?.close());

async function requestMe({ app }: Instance, token = tokens.access_token) {
  const response = await app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } });
  return { status: response.statusCode, body: response.json() };
}

const revoke = ({ app }: Instance, token: string) =>
  app.inject({ method: 'POST', url: '/oauth/revoke', payload: { client_id: 'cli_app', token } });

/** Returns the names of the statements that the instance sends to `au1` during the call. */
async function recordStatements(instance: Instance, work: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const end = instance.databases.au1.onStatement(({ name }) => names.push(name));
  await work();
  end();
  return names;
}

const advanceClock = (milliseconds: number) => {
  deployment.clock.at += milliseconds;
};

describe('GET /me', () => {
  test('returns the user and the one builder for a token of the authorization code flow', async () => {
    expect(await requestMe(firstInstance)).toEqual({
      status: 200,
      body: {
        ...{ type: 'user', id: 'user_a', name: 'Person user_a', email: 'user_a@example.com', profilePictureUrl: null },
        ...{ clientId: 'cli_app', scopes: ['read:builders', 'read:projects'], regionId: 'au1' },
        memberships: [
          { builderId: 'buil_a', builderName: 'Company buil_a', builderLogoUrl: null, role: 'SITE_MANAGER' },
        ],
      },
    });
  });

  test('allows REST requests for the builder of the token, within its scopes (ACC-4)', async () => {
    const get = (url: string) =>
      firstInstance.app.inject({ url, headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect((await get('/builders')).json().data.map(({ id }: { id: string }) => id)).toEqual(['buil_a']);
    expect((await get('/builders/buil_a/meetings')).statusCode).toBe(403);
  });
});

describe('a revoked token (ACC-5)', () => {
  test('is rejected immediately on the instance that revoked it, and within a second on the other', async () => {
    expect([(await requestMe(firstInstance)).status, (await requestMe(otherInstance)).status]).toEqual([200, 200]);
    expect((await revoke(firstInstance, tokens.access_token)).statusCode).toBe(200);
    expect((await requestMe(firstInstance)).status).toBe(401);
    // The other instance caches tokens for half a second.
    advanceClock(499);
    expect((await requestMe(otherInstance)).status).toBe(200);
    advanceClock(1);
    expect((await requestMe(otherInstance)).status).toBe(401);
  });

  test('is rejected in the same time after its whole family was revoked', async () => {
    const renewed = (await refreshTokens(firstInstance, flow, tokens.refresh_token)).body;
    for (const token of [tokens.access_token, renewed.access_token])
      expect((await requestMe(otherInstance, token)).status).toBe(200);
    await revoke(firstInstance, renewed.refresh_token);
    for (const token of [tokens.access_token, renewed.access_token])
      expect((await requestMe(firstInstance, token)).status).toBe(401);
    advanceClock(500);
    for (const token of [tokens.access_token, renewed.access_token])
      expect((await requestMe(otherInstance, token)).status).toBe(401);
  });

  test('is rejected after its code was used again on another instance', async () => {
    const code = await obtainCode(firstInstance, flow);
    const { access_token } = (await exchangeCode(firstInstance, flow, code)).body;
    expect([
      (await requestMe(firstInstance, access_token)).status,
      (await requestMe(otherInstance, access_token)).status,
    ]).toEqual([200, 200]);
    expect((await exchangeCode(otherInstance, flow, code)).body.error).toBe('invalid_grant');
    expect((await requestMe(otherInstance, access_token)).status).toBe(401);
    advanceClock(500);
    expect((await requestMe(firstInstance, access_token)).status).toBe(401);
  });

  test('is rejected after the membership was removed, even when it is added again (OAU-35)', async () => {
    const context = { database: deployment.databases.au1, clock: deployment.clock, source: OPERATOR };
    const key = { user: 'user_a', builderId: 'buil_a' };
    await removeMembership(context, key);
    await addMembership(context, { ...key, role: 'SITE_MANAGER' });
    advanceClock(500);
    expect([(await requestMe(firstInstance)).status, (await requestMe(otherInstance)).status]).toEqual([401, 401]);
    const { status, body } = await refreshTokens(firstInstance, flow, tokens.refresh_token);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
    expect((await requestMe(firstInstance, (await obtainTokens(firstInstance, flow)).access_token)).status).toBe(200);
  });

  test('is not given for a consent that was stored while the membership was removed (OAU-35)', async () => {
    const context = { database: deployment.databases.au1, clock: deployment.clock, source: OPERATOR };
    const key = { user: 'user_a', builderId: 'buil_a' };
    const browser = new Browser(firstInstance.app);
    const consent = await browser.signIn(await browser.open(authorizationParameters(flow.clientId)), flow.email);
    const other = await ConcurrentTransaction.open(context.database.url);
    const em = context.database.fork();
    await em.begin();
    await removeMembership({ ...context, em }, key);
    await em.flush();
    const allowed = browser.submit(consent, 'Allow');
    await Promise.race([other.untilWaiting(1), allowed]);
    await em.commit();
    await other.close();
    await addMembership(context, { ...key, role: 'SITE_MANAGER' });
    const { code, error } = responseParametersOf((await allowed).location!);
    expect([code && (await exchangeCode(firstInstance, flow, code)).status, error]).toEqual([
      undefined,
      'access_denied',
    ]);
  });

  test('stays rejected until it expires', async () => {
    await revoke(firstInstance, tokens.access_token);
    for (let minute = 0; minute < 59; minute += 10) {
      advanceClock(600_000);
      expect([(await requestMe(firstInstance)).status, (await requestMe(otherInstance)).status]).toEqual([401, 401]);
    }
  });
});

describe('an unresponsive region', () => {
  test('does not delay clients of the other region that send no region header', async () => {
    const { writer, runner } = deployment.databases.us1;
    await writer.run(async (transaction) => {
      await transaction.query([LOCK_CLIENTS, []]);
      expect((await refreshTokens(firstInstance, flow, tokens.refresh_token)).status).toBe(200);
      // The query to that region is still waiting.
      expect(await runner.run(WAITING, [])).toEqual([['1']]);
    });
  });
});

describe('a valid token', () => {
  test('is looked up once per half second, however many requests use it', async () => {
    advanceClock(1000);
    const sent = await recordStatements(otherInstance, async () => {
      for (let count = 0; count < 50; count++) expect((await requestMe(otherInstance)).status).toBe(200);
    });
    expect(sent.filter((name) => name === 'access.facts')).toHaveLength(1);
  });

  test('gets 503 while the database is unavailable (ACC-5)', async () => {
    const databases = { au1: new Database('au1', deployment.databases.au1.url), us1: deployment.databases.us1 };
    const disconnected = await deployment.startInstance({ databases });
    expect((await requestMe(disconnected)).status).toBe(200);
    const run = databases.au1.runner.run.bind(databases.au1.runner);
    databases.au1.runner.run = () => Promise.reject(Object.assign(new Error('unavailable'), { code: 'ECONNREFUSED' }));
    // A token that is not cached, and one whose cache entry has expired.
    const { access_token } = await obtainTokens(firstInstance, flow);
    expect((await requestMe(disconnected, access_token)).status).toBe(503);
    advanceClock(500);
    expect((await requestMe(disconnected)).status).toBe(503);
    databases.au1.runner.run = run;
    expect((await requestMe(disconnected)).status).toBe(200);
    await databases.au1.close();
  });

  test('is rejected within a second on both instances after the connection was revoked (ACC-5)', async () => {
    expect([(await requestMe(firstInstance)).status, (await requestMe(otherInstance)).status]).toEqual([200, 200]);
    const em = deployment.databases.au1.fork();
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'REVOKED' });
    advanceClock(500);
    const ended = [(await requestMe(firstInstance)).status, (await requestMe(otherInstance)).status];
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'ACTIVE' });
    expect(ended).toEqual([401, 401]);
    advanceClock(500);
  });

  test('is rejected in the other region, and after 61 minutes (HDR-8)', async () => {
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'x-service-region-id': 'us1' };
    expect((await firstInstance.app.inject({ url: '/me', headers })).statusCode).toBe(401);
    advanceClock(61 * 60_000);
    expect((await requestMe(firstInstance)).status).toBe(401);
  });
});

describe('concurrent requests to two instances', () => {
  const sendToBoth = <T>(work: (instance: Instance) => Promise<T>) =>
    Promise.all(Array.from({ length: 16 }, (_, index) => work(index % 2 ? firstInstance : otherInstance)));

  test('exchange a code once', async () => {
    for (let round = 0; round < 3; round++) {
      const code = await obtainCode(firstInstance, flow);
      const responses = await sendToBoth((instance) => exchangeCode(instance, flow, code));
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      const winner = responses.find(({ status }) => status === 200)!.body;
      // The others were second uses, which revoke the tokens of the first.
      expect((await refreshTokens(firstInstance, flow, winner.refresh_token)).body.error).toBe('invalid_grant');
    }
  });

  test('rotate a refresh token once, and its new tokens stay valid', async () => {
    for (let round = 0; round < 3; round++) {
      const { refresh_token } = await obtainTokens(firstInstance, flow);
      const responses = await sendToBoth((instance) => refreshTokens(instance, flow, refresh_token));
      const winners = responses.filter(({ status }) => status === 200);
      expect(winners).toHaveLength(1);
      expect((await requestMe(firstInstance, winners[0]!.body.access_token)).status).toBe(200);
      expect((await refreshTokens(otherInstance, flow, winners[0]!.body.refresh_token)).status).toBe(200);
    }
  });

  test('exchange a code that the other instance issued', async () => {
    const code = await obtainCode(firstInstance, flow);
    expect((await exchangeCode(otherInstance, flow, code, { redirect_uri: REDIRECT_URI })).status).toBe(200);
  });
});
