import { decodeJwt } from 'jose';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Connection } from '../../entities/connection.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { RefreshToken } from '../../entities/refresh-token.entity.ts';
import { TokenFamily } from '../../entities/token-family.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { hashSecret, newSecret } from '../../src/shared/secrets.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { backdateRotation, obtainTokens, refreshTokens, type Tokens } from './code-flow.ts';
import { addApplication, addBuilder, addUser } from './fixtures.ts';
import { BASE_URL, isTokenLive, OAUTH_START, useOAuth } from './service.ts';

const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;
const secret = newSecret();
const flow = { clientId: 'cli_app', email: 'user_a@example.com' };

const service = useOAuth();
let tokens: Tokens;

useLongerTimeLimits();
beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app');
  await addApplication(service, 'cli_other');
  await addApplication(service, 'cli_server', { type: 'CONFIDENTIAL', secrets: [secret] });
});

beforeEach(async () => {
  service.clock.at = OAUTH_START;
  tokens = await obtainTokens(service, flow);
});
/** Returns the number of statements on the table that wait for a lock. */
async function countWaitingStatements(table: string): Promise<number> {
  const [row] = await service.databases.au1.fork().execute<{ waiting: number }[]>(
    `select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ?`,
    [`%"${table}"%`],
  );
  return row!.waiting;
}

const errorOf = async (token: string, changes: Record<string, unknown> = {}) => {
  const { status, body } = await refreshTokens(service, flow, token, changes);
  return status === 400 ? body.error : status;
};

describe('a refresh token', () => {
  test('is exchanged for a new access token and a new refresh token (OAU-32)', async () => {
    service.clock.at += 50 * 60 * SECOND;
    const { status, body } = await refreshTokens(service, flow, tokens.refresh_token);
    expect(status).toBe(200);
    expect(body.refresh_token).not.toBe(tokens.refresh_token);
    const before = decodeJwt(tokens.access_token);
    const after = decodeJwt(body.access_token);
    expect(after).toMatchObject({ sub: before.sub, builder_id: 'buil_a', scope: before.scope, aud: BASE_URL });
    expect(after.exp).toBe(service.clock.at / 1000 + 3600);
    expect(after.jti).not.toBe(before.jti);
    expect(await errorOf(tokens.refresh_token)).toBe('invalid_grant');
    expect((await refreshTokens(service, flow, body.refresh_token)).status).toBe(200);
  });

  test('is valid for 30 days from its own issue, so that a family in use never expires (OAU-32)', async () => {
    let token = tokens.refresh_token;
    for (let month = 0; month < 4; month++) {
      service.clock.at += 30 * DAY - SECOND;
      const { status, body } = await refreshTokens(service, flow, token);
      expect(status).toBe(200);
      token = body.refresh_token;
    }
    service.clock.at += 30 * DAY;
    expect(await errorOf(token)).toBe('invalid_grant');
  });

  test('is stored as a digest (OAU-41)', async () => {
    const em = service.databases.au1.fork();
    expect(await em.count(RefreshToken, { digest: tokens.refresh_token })).toBe(0);
    expect(await em.count(RefreshToken, { digest: hashSecret(tokens.refresh_token) })).toBe(1);
  });

  test.each([
    ['unknown', () => newSecret(), {}, 'invalid_grant'],
    ['an access token', () => tokens.access_token, {}, 'invalid_grant'],
    ["another client's", () => tokens.refresh_token, { client_id: 'cli_other' }, 'invalid_grant'],
    ['missing', () => '', {}, 'invalid_request'],
    ['for another audience', () => tokens.refresh_token, { audience: 'https://other.example' }, 'invalid_request'],
  ])('is rejected when it is %s', async (_name, token, changes, error) => {
    expect(await errorOf(token(), changes)).toBe(error);
    expect((await refreshTokens(service, flow, tokens.refresh_token)).status).toBe(200);
  });

  test('of a confidential client requires the client secret', async () => {
    const server = { clientId: 'cli_server', email: flow.email, secret };
    const { refresh_token } = await obtainTokens(service, server);
    expect((await refreshTokens(service, { clientId: 'cli_server' }, refresh_token)).status).toBe(401);
    expect((await refreshTokens(service, server, refresh_token)).status).toBe(200);
  });
});

describe('the scope', () => {
  test('can be narrowed for one access token (OAU-34)', async () => {
    const { body } = await refreshTokens(service, flow, tokens.refresh_token, { scope: 'read:projects' });
    expect([body.scope, decodeJwt(body.access_token).scope]).toEqual(['read:projects', 'read:projects']);
    expect((await refreshTokens(service, flow, body.refresh_token)).body.scope).toBe('read:builders read:projects');
  });

  test.each(['write:photos', 'read:projects write:photos', 'read:nothing', 'read:projects  read:builders'])(
    'cannot be "%s", and the rejected request does not rotate the token',
    async (scope) => {
      expect(await errorOf(tokens.refresh_token, { scope })).toBe('invalid_scope');
      expect((await refreshTokens(service, flow, tokens.refresh_token)).status).toBe(200);
    },
  );

  // OAU-34
  test('that connection or client no longer allow is rejected when requested, and omitted when no scope is requested', async () => {
    const em = service.databases.au1.fork();
    for (const [entity, where] of [
      [Connection, { builderId: 'buil_a' }],
      [OAuthClient, { id: 'cli_app' }],
    ] as const) {
      const { refresh_token } = await obtainTokens(service, flow);
      await em.nativeUpdate(entity as never, where as never, { scopes: ['read:builders'] } as never);
      expect(await errorOf(refresh_token, { scope: 'read:builders read:projects' })).toBe('invalid_scope');
      const { body } = await refreshTokens(service, flow, refresh_token);
      expect(body.scope).toBe('read:builders');
      await em.nativeUpdate(entity as never, where as never, { scopes: ['write:photos'] } as never);
      expect(await errorOf(body.refresh_token)).toBe('invalid_scope');
      await em.nativeUpdate(entity as never, where as never, { scopes: [...SCOPES] } as never);
      expect((await refreshTokens(service, flow, body.refresh_token)).body.scope).toBe('read:builders read:projects');
    }
  });
});

describe('a refresh token that is used twice', () => {
  test('concurrently is rotated once, and the new tokens stay valid', async () => {
    for (let round = 0; round < 5; round++) {
      const { refresh_token } = await obtainTokens(service, flow);
      const responses = await Promise.all(
        Array.from({ length: 12 }, () => refreshTokens(service, flow, refresh_token)),
      );
      const [winner, ...others] = responses.filter(({ status }) => status === 200);
      expect(others).toEqual([]);
      expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(11);
      expect(await isTokenLive(service, winner!.body.access_token)).toBe(true);
      expect((await refreshTokens(service, flow, winner!.body.refresh_token)).status).toBe(200);
    }
  });

  test('within a minute is only rejected (OAU-33)', async () => {
    const { body } = await refreshTokens(service, flow, tokens.refresh_token);
    await backdateRotation(service, tokens.refresh_token, 30);
    expect(await errorOf(tokens.refresh_token)).toBe('invalid_grant');
    expect(await isTokenLive(service, body.access_token)).toBe(true);
    expect((await refreshTokens(service, flow, body.refresh_token)).status).toBe(200);
  });

  test('at once is only rejected by an instance whose clock is ahead (OAU-33)', async () => {
    const { body } = await refreshTokens(service, flow, tokens.refresh_token);
    service.clock.at += 120 * SECOND;
    expect(await errorOf(tokens.refresh_token)).toBe('invalid_grant');
    expect((await refreshTokens(service, flow, body.refresh_token)).status).toBe(200);
  });

  test('later revokes the whole token family (OAU-33)', async () => {
    const { body } = await refreshTokens(service, flow, tokens.refresh_token);
    await backdateRotation(service, tokens.refresh_token, 61);
    expect(await errorOf(tokens.refresh_token)).toBe('invalid_grant');
    expect(await isTokenLive(service, tokens.access_token)).toBe(false);
    expect(await isTokenLive(service, body.access_token)).toBe(false);
    expect(await errorOf(body.refresh_token)).toBe('invalid_grant');
  });

  test('later by another client revokes nothing', async () => {
    const { body } = await refreshTokens(service, flow, tokens.refresh_token);
    await backdateRotation(service, tokens.refresh_token, 120);
    expect(await errorOf(tokens.refresh_token, { client_id: 'cli_other' })).toBe('invalid_grant');
    expect((await refreshTokens(service, flow, body.refresh_token)).status).toBe(200);
  });

  test('is rejected when its family is revoked concurrently', async () => {
    const { familyId } = await service.databases.au1
      .fork()
      .findOneOrFail(RefreshToken, { digest: hashSecret(tokens.refresh_token) });
    const refreshed = await service.databases.au1.transaction(async (em) => {
      await em.nativeUpdate(TokenFamily, { id: familyId }, { revokedAt: new Date(OAUTH_START).toISOString() });
      // Reads a valid family, then waits for this transaction's lock on it.
      const response = refreshTokens(service, flow, tokens.refresh_token);
      await expect.poll(() => countWaitingStatements('oauth_token_family')).toBe(1);
      return { response };
    });
    expect((await refreshed.response).body.error).toBe('invalid_grant');
  });

  test('later does not affect other families', async () => {
    const other = await obtainTokens(service, flow);
    await refreshTokens(service, flow, tokens.refresh_token);
    await backdateRotation(service, tokens.refresh_token, 120);
    expect(await errorOf(tokens.refresh_token)).toBe('invalid_grant');
    expect((await refreshTokens(service, flow, other.refresh_token)).status).toBe(200);
  });
});

describe('a refresh token is rejected after the end of (OAU-35)', () => {
  const now = new Date(OAUTH_START).toISOString();
  test.each([
    ['the membership', Membership, { userId: 'user_a' }, { builderId: 'buil_b' }, { builderId: 'buil_a' }, 400],
    ['the connection', Connection, { builderId: 'buil_a' }, { status: 'REVOKED' }, { status: 'ACTIVE' }, 400],
    ['the user', User, { id: 'user_a' }, { disabledAt: now }, { disabledAt: null }, 400],
    ['the client', OAuthClient, { id: 'cli_app' }, { disabledAt: now }, { disabledAt: null }, 401],
    [
      'the grant',
      OAuthClient,
      { id: 'cli_app' },
      { grants: ['authorization_code'] },
      { grants: ['authorization_code', 'refresh_token'] },
      400,
    ],
  ] as const)('%s', async (name, entity, where, ended, restored, status) => {
    if (name === 'the membership') await addBuilder(service, 'buil_b');
    const em = service.databases.au1.fork();
    await em.nativeUpdate(entity as never, where as never, ended as never);
    const rejected = await refreshTokens(service, flow, tokens.refresh_token);
    const stillLive = await isTokenLive(service, tokens.access_token);
    await em.nativeUpdate(entity as never, where as never, restored as never);
    expect(rejected.status).toBe(status);
    if (name !== 'the grant') expect(stillLive).toBe(false);
  });
});
