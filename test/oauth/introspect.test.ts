import { beforeAll, describe, expect, test } from 'vitest';
import { Connection } from '../../entities/connection.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { obtainTokens, refreshTokens, type Tokens } from './code-flow.ts';
import { addApplication, addBuilder, addUser } from './fixtures.ts';
import { BASE_URL, basicAuthorization, OAUTH_START, postToken, useOAuth } from './service.ts';

const [secret, otherSecret] = [newSecret(), newSecret()];
const grants = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
const server = { clientId: 'cli_server', email: 'user_a@example.com', secret };

const service = useOAuth();
let tokens: Tokens;

beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app');
  await addApplication(service, 'cli_server', { type: 'CONFIDENTIAL', secrets: [secret], grants: [...grants] });
  await addApplication(service, 'cli_other', { type: 'CONFIDENTIAL', secrets: [otherSecret], grants: [...grants] });
  tokens = await obtainTokens(service, server);
});

async function introspect(token: string | undefined, credentials = ['cli_server', secret] as [string, string]) {
  const response = await service.app.inject({
    method: 'POST',
    url: '/oauth/introspect',
    headers: { authorization: basicAuthorization(...credentials), 'content-type': 'application/json' },
    payload: JSON.stringify({ token }),
  });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

describe('active: true', () => {
  const shared = {
    ...{ active: true, scope: 'read:builders read:projects', client_id: 'cli_server' },
    ...{ sub: 'user_a', builder_id: 'buil_a', iss: BASE_URL, iat: OAUTH_START / 1000 },
  };

  test('for an access token of a user (OAU-37)', async () => {
    const { status, headers, body } = await introspect(tokens.access_token);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    const own = { token_type: 'Bearer', jti: expect.any(String), aud: BASE_URL, exp: OAUTH_START / 1000 + 3600 };
    expect(body).toEqual({ ...shared, ...own });
  });

  test('for a refresh token', async () => {
    expect((await introspect(tokens.refresh_token)).body).toEqual({ ...shared, exp: OAUTH_START / 1000 + 30 * 86_400 });
  });

  test('for a token of the client itself', async () => {
    const { body } = await postToken(service.app, {
      ...{ grant_type: 'client_credentials', client_id: 'cli_server', client_secret: secret },
      ...{ audience: BASE_URL, scope: 'read:builders' },
    });
    const response = (await introspect(body.access_token)).body;
    expect(response).toMatchObject({
      active: true,
      sub: 'cli_server',
      client_id: 'cli_server',
      scope: 'read:builders',
    });
    expect(response).not.toHaveProperty('builder_id');
  });
});

describe('active: false, without other members (OAU-37)', () => {
  const expectInactive = async (token: string, credentials?: [string, string]) => {
    const { status, body } = await introspect(token, credentials);
    expect([status, body]).toEqual([200, { active: false }]);
  };

  test("for another client's token", async () => {
    await expectInactive(tokens.access_token, ['cli_other', otherSecret]);
    await expectInactive(tokens.refresh_token, ['cli_other', otherSecret]);
  });

  test.each(['garbage', 'a.b.c', newSecret()])('for "%s"', (token) => expectInactive(token));

  test('for an expired token', async () => {
    service.clock.at = OAUTH_START + 3_600_000;
    await expectInactive(tokens.access_token);
    service.clock.at = OAUTH_START + 30 * 86_400_000;
    await expectInactive(tokens.refresh_token);
    service.clock.at = OAUTH_START;
  });

  test('for a token whose connection was revoked', async () => {
    const em = service.databases.au1.fork();
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'REVOKED' });
    await expectInactive(tokens.access_token);
    await expectInactive(tokens.refresh_token);
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'ACTIVE' });
  });

  test('for a refresh token that its client may not use any more', async () => {
    const em = service.databases.au1.fork();
    await em.nativeUpdate(OAuthClient, { id: 'cli_server' }, { grants: ['authorization_code'] });
    await expectInactive(tokens.refresh_token);
    await em.nativeUpdate(OAuthClient, { id: 'cli_server' }, { grants: [...grants] });
    expect((await introspect(tokens.refresh_token)).body.active).toBe(true);
  });

  test('for a refresh token of whose scopes client and connection allow none', async () => {
    const em = service.databases.au1.fork();
    const { scopes } = await em.findOneOrFail(Connection, { builderId: 'buil_a' });
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { scopes: ['write:photos'] });
    await expectInactive(tokens.refresh_token);
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { scopes });
    expect((await introspect(tokens.refresh_token)).body.active).toBe(true);
  });

  test('for a rotated refresh token, and for a revoked one with its access token', async () => {
    const own = await obtainTokens(service, server);
    const renewed = (await refreshTokens(service, server, own.refresh_token)).body;
    await expectInactive(own.refresh_token);
    const payload = { token: renewed.refresh_token, client_id: 'cli_server', client_secret: secret };
    await service.app.inject({ method: 'POST', url: '/oauth/revoke', payload });
    await expectInactive(renewed.refresh_token);
    await expectInactive(renewed.access_token);
  });
});

describe('401', () => {
  test('for a public client, and for a wrong secret (OAU-37)', async () => {
    const payload = { token: tokens.access_token, client_id: 'cli_app' };
    const response = await service.app.inject({ method: 'POST', url: '/oauth/introspect', payload });
    expect([response.statusCode, response.json().error]).toEqual([401, 'invalid_client']);
    expect((await introspect(tokens.access_token, ['cli_server', 'wrong'])).status).toBe(401);
  });
});

test('400 without a token', async () => {
  expect((await introspect(undefined)).body.error).toBe('invalid_request');
});
