import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Connection } from '../../entities/connection.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { RefreshToken } from '../../entities/refresh-token.entity.ts';
import { TokenFamily } from '../../entities/token-family.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { digestOf, newSecret } from '../../src/shared/secrets.ts';
import { refresh, type Tokens, tokensFor } from './flow.ts';
import { addApplication, addBuilder, addUser } from './people.ts';
import { BASE_URL, type OAuthService, START, startOAuth } from './service.ts';

const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;
const secret = newSecret();
const person = { clientId: 'cli_app', email: 'user_a@example.com' };

let service: OAuthService;
let tokens: Tokens;

beforeAll(async () => {
  service = await startOAuth();
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app');
  await addApplication(service, 'cli_other');
  await addApplication(service, 'cli_server', { type: 'CONFIDENTIAL', secrets: [secret] });
});
beforeEach(async () => {
  service.clock.at = START;
  tokens = await tokensFor(service, person);
});
afterAll(() => service?.close());

const live = async (token: string) => service.access.isLive((await service.tokens.verify(token))!, 'au1');
/** Statements on the table that wait for a lock. */
async function waitingFor(table: string): Promise<number> {
  const [row] = await service.databases.au1.fork().execute<{ waiting: number }[]>(
    `select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ?`,
    [`%"${table}"%`],
  );
  return row!.waiting;
}

const errorOf = async (token: string, changes: Record<string, unknown> = {}) => {
  const { status, body } = await refresh(service, person, token, changes);
  return status === 400 ? body.error : status;
};

describe('a refresh token', () => {
  test('gives a new access token and takes its own place (OAU-32)', async () => {
    service.clock.at += 50 * 60 * SECOND;
    const { status, body } = await refresh(service, person, tokens.refresh_token);
    expect(status).toBe(200);
    expect(body.refresh_token).not.toBe(tokens.refresh_token);
    const before = decodeJwt(tokens.access_token);
    const after = decodeJwt(body.access_token);
    expect(after).toMatchObject({ sub: before.sub, builder_id: 'buil_a', scope: before.scope, aud: BASE_URL });
    expect(after.exp).toBe(service.clock.at / 1000 + 3600);
    expect(after.jti).not.toBe(before.jti);
    expect(await errorOf(tokens.refresh_token)).toBe('invalid_grant');
    expect((await refresh(service, person, body.refresh_token)).status).toBe(200);
  });

  test('lives 30 days from its own issue, so that a family that is used lives on (OAU-32)', async () => {
    let token = tokens.refresh_token;
    for (let month = 0; month < 4; month++) {
      service.clock.at += 30 * DAY - SECOND;
      const { status, body } = await refresh(service, person, token);
      expect(status).toBe(200);
      token = body.refresh_token;
    }
    service.clock.at += 30 * DAY;
    expect(await errorOf(token)).toBe('invalid_grant');
  });

  test('is stored as a digest (OAU-41)', async () => {
    const em = service.databases.au1.fork();
    expect(await em.count(RefreshToken, { digest: tokens.refresh_token })).toBe(0);
    expect(await em.count(RefreshToken, { digest: digestOf(tokens.refresh_token) })).toBe(1);
  });

  test.each([
    ['unknown', () => newSecret(), {}, 'invalid_grant'],
    ['an access token', () => tokens.access_token, {}, 'invalid_grant'],
    ["another client's", () => tokens.refresh_token, { client_id: 'cli_other' }, 'invalid_grant'],
    ['left out', () => '', {}, 'invalid_request'],
    ['for another audience', () => tokens.refresh_token, { audience: 'https://other.example' }, 'invalid_request'],
  ])('may not be %s', async (_name, token, changes, error) => {
    expect(await errorOf(token(), changes)).toBe(error);
    expect((await refresh(service, person, tokens.refresh_token)).status).toBe(200);
  });

  test('of a confidential client needs the secret', async () => {
    const server = { clientId: 'cli_server', email: person.email, secret };
    const { refresh_token } = await tokensFor(service, server);
    expect((await refresh(service, { clientId: 'cli_server' }, refresh_token)).status).toBe(401);
    expect((await refresh(service, server, refresh_token)).status).toBe(200);
  });
});

describe('the scope', () => {
  test('may be narrower, for this access token alone (OAU-34)', async () => {
    const { body } = await refresh(service, person, tokens.refresh_token, { scope: 'read:projects' });
    expect([body.scope, decodeJwt(body.access_token).scope]).toEqual(['read:projects', 'read:projects']);
    expect((await refresh(service, person, body.refresh_token)).body.scope).toBe('read:builders read:projects');
  });

  test.each(['write:photos', 'read:projects write:photos', 'read:nothing', 'read:projects  read:builders'])(
    'may not be "%s", and the token is as good as before',
    async (scope) => {
      expect(await errorOf(tokens.refresh_token, { scope })).toBe('invalid_scope');
      expect((await refresh(service, person, tokens.refresh_token)).status).toBe(200);
    },
  );

  test('that the connection or the client no longer allows is refused by name, and left out when none is named (OAU-34)', async () => {
    const em = service.databases.au1.fork();
    for (const [entity, where] of [
      [Connection, { builderId: 'buil_a' }],
      [OAuthClient, { id: 'cli_app' }],
    ] as const) {
      const { refresh_token } = await tokensFor(service, person);
      await em.nativeUpdate(entity as never, where as never, { scopes: ['read:builders'] } as never);
      expect(await errorOf(refresh_token, { scope: 'read:builders read:projects' })).toBe('invalid_scope');
      const { body } = await refresh(service, person, refresh_token);
      expect(body.scope).toBe('read:builders');
      await em.nativeUpdate(entity as never, where as never, { scopes: ['write:photos'] } as never);
      expect(await errorOf(body.refresh_token)).toBe('invalid_scope');
      await em.nativeUpdate(entity as never, where as never, { scopes: [...SCOPES] } as never);
      expect((await refresh(service, person, body.refresh_token)).body.scope).toBe('read:builders read:projects');
    }
  });
});

describe('used twice', () => {
  test('at once, one succeeds and its tokens live', async () => {
    for (let round = 0; round < 5; round++) {
      const { refresh_token } = await tokensFor(service, person);
      const answers = await Promise.all(Array.from({ length: 12 }, () => refresh(service, person, refresh_token)));
      const [winner, ...others] = answers.filter(({ status }) => status === 200);
      expect(others).toEqual([]);
      expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(11);
      expect(await live(winner!.body.access_token)).toBe(true);
      expect((await refresh(service, person, winner!.body.refresh_token)).status).toBe(200);
    }
  });

  test('within a minute, it is refused and nothing more (OAU-33)', async () => {
    const { body } = await refresh(service, person, tokens.refresh_token);
    service.clock.at += 60 * SECOND;
    expect(await errorOf(tokens.refresh_token)).toBe('invalid_grant');
    expect(await live(body.access_token)).toBe(true);
    expect((await refresh(service, person, body.refresh_token)).status).toBe(200);
  });

  test('later, the whole family is revoked (OAU-33)', async () => {
    const { body } = await refresh(service, person, tokens.refresh_token);
    service.clock.at += 60 * SECOND + 1;
    expect(await errorOf(tokens.refresh_token)).toBe('invalid_grant');
    expect(await live(tokens.access_token)).toBe(false);
    expect(await live(body.access_token)).toBe(false);
    expect(await errorOf(body.refresh_token)).toBe('invalid_grant');
  });

  test('later, by another client, it revokes nothing', async () => {
    const { body } = await refresh(service, person, tokens.refresh_token);
    service.clock.at += 120 * SECOND;
    expect(await errorOf(tokens.refresh_token, { client_id: 'cli_other' })).toBe('invalid_grant');
    expect((await refresh(service, person, body.refresh_token)).status).toBe(200);
  });

  test('while its family is being revoked, it gives nothing', async () => {
    const { familyId } = await service.databases.au1
      .fork()
      .findOneOrFail(RefreshToken, { digest: digestOf(tokens.refresh_token) });
    const refreshed = await service.databases.au1.transaction(async (em) => {
      await em.nativeUpdate(TokenFamily, { id: familyId }, { revokedAt: new Date(START).toISOString() });
      // Sees a family that stands, and waits for this transaction's word on it.
      const answer = refresh(service, person, tokens.refresh_token);
      await expect.poll(() => waitingFor('oauth_token_family')).toBe(1);
      return { answer };
    });
    expect((await refreshed.answer).body.error).toBe('invalid_grant');
  });

  test("one family's end is not another's", async () => {
    const other = await tokensFor(service, person);
    await refresh(service, person, tokens.refresh_token);
    service.clock.at += 120 * SECOND;
    expect(await errorOf(tokens.refresh_token)).toBe('invalid_grant');
    expect((await refresh(service, person, other.refresh_token)).status).toBe(200);
  });
});

describe('ends with (OAU-35)', () => {
  const now = new Date(START).toISOString();
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
    const refused = await refresh(service, person, tokens.refresh_token);
    const stillLive = await live(tokens.access_token);
    await em.nativeUpdate(entity as never, where as never, restored as never);
    expect(refused.status).toBe(status);
    if (name !== 'the grant') expect(stillLive).toBe(false);
  });
});
