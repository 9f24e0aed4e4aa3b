import { beforeAll, describe, expect, test } from 'vitest';
import { RevokedToken } from '../../entities/revoked-token.entity.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { obtainTokens, refreshTokens } from './code-flow.ts';
import { addApplication, addBuilder, addUser } from './fixtures.ts';
import { basicAuthorization, isTokenLive, postToken, useOAuth } from './service.ts';

const secret = newSecret();
const flow = { clientId: 'cli_app', email: 'user_a@example.com' };
const server = { clientId: 'cli_server', email: 'user_a@example.com', secret };

const service = useOAuth();

beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app');
  await addApplication(service, 'cli_other');
  await addApplication(service, 'cli_server', {
    ...{
      type: 'CONFIDENTIAL',
      secrets: [secret],
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
    },
  });
  await addApplication(service, 'cli_us', { region: 'us1' });
});

const revoke = (fields: Record<string, unknown>, headers: Record<string, string> = {}) =>
  post(JSON.stringify({ client_id: 'cli_app', ...fields }), { 'content-type': 'application/json', ...headers });

async function post(payload: string, headers: Record<string, string>) {
  const response = await service.app.inject({ method: 'POST', url: '/oauth/revoke', headers, payload });
  const { statusCode: status, body, headers: responseHeaders } = response;
  return { status, headers: responseHeaders, body, error: status === 200 ? null : response.json().error };
}

describe('200', () => {
  test('revokes an access token alone (OAU-36)', async () => {
    const tokens = await obtainTokens(service, flow);
    const { status, body, headers } = await revoke({ token: tokens.access_token });
    expect([status, body]).toEqual([200, '']);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    expect(await isTokenLive(service, tokens.access_token)).toBe(false);
    const renewed = await refreshTokens(service, flow, tokens.refresh_token);
    expect(renewed.status).toBe(200);
    expect(await isTokenLive(service, renewed.body.access_token)).toBe(true);
  });

  test('revokes a refresh token with its whole token family (OAU-36)', async () => {
    const [tokens, others] = [await obtainTokens(service, flow), await obtainTokens(service, flow)];
    const renewed = (await refreshTokens(service, flow, tokens.refresh_token)).body;
    expect((await revoke({ token: renewed.refresh_token })).status).toBe(200);
    expect(await isTokenLive(service, tokens.access_token)).toBe(false);
    expect(await isTokenLive(service, renewed.access_token)).toBe(false);
    expect((await refreshTokens(service, flow, renewed.refresh_token)).body.error).toBe('invalid_grant');
    expect(await isTokenLive(service, others.access_token)).toBe(true);
    expect((await refreshTokens(service, flow, others.refresh_token)).status).toBe(200);
  });

  test('revokes the family of a rotated refresh token', async () => {
    const tokens = await obtainTokens(service, flow);
    const renewed = (await refreshTokens(service, flow, tokens.refresh_token)).body;
    await revoke({ token: tokens.refresh_token });
    expect(await isTokenLive(service, renewed.access_token)).toBe(false);
  });

  test('revokes a token of the client itself', async () => {
    const { body } = await postToken(service.app, {
      ...{ grant_type: 'client_credentials', client_id: 'cli_server', client_secret: secret },
      ...{ audience: 'http://localhost:4000', scope: 'read:builders' },
    });
    expect(await isTokenLive(service, body.access_token)).toBe(true);
    const headers = { authorization: basicAuthorization('cli_server', secret) };
    expect((await revoke({ client_id: undefined, token: body.access_token }, headers)).status).toBe(200);
    expect(await isTokenLive(service, body.access_token)).toBe(false);
  });

  test('for a second revocation', async () => {
    const { access_token, refresh_token } = await obtainTokens(service, flow);
    for (const token of [access_token, access_token, refresh_token, refresh_token]) {
      expect((await revoke({ token })).status).toBe(200);
    }
  });

  test.each(['access_token', 'refresh_token', 'nonsense'])('with any token_type_hint: %s', async (token_type_hint) => {
    const { access_token, refresh_token } = await obtainTokens(service, flow);
    await revoke({ token: access_token, token_type_hint });
    expect(await isTokenLive(service, access_token)).toBe(false);
    await revoke({ token: refresh_token, token_type_hint });
    expect((await refreshTokens(service, flow, refresh_token)).body.error).toBe('invalid_grant');
  });

  test('for a form-encoded request', async () => {
    const { access_token } = await obtainTokens(service, flow);
    const form = new URLSearchParams({ client_id: 'cli_app', token: access_token }).toString();
    expect((await post(form, { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(200);
    expect(await isTokenLive(service, access_token)).toBe(false);
  });

  test.each(['garbage', 'a.b.c', newSecret(), 'ü', ' '])('for an invalid token: "%s" (OAU-36)', async (token) => {
    expect((await revoke({ token })).status).toBe(200);
  });

  test("for another client's token, which stays valid (OAU-36)", async () => {
    const { access_token, refresh_token } = await obtainTokens(service, flow);
    for (const token of [access_token, refresh_token]) {
      expect((await revoke({ token, client_id: 'cli_other' })).status).toBe(200);
      expect((await revoke({ token, client_id: 'cli_us' })).status).toBe(200);
      expect((await revoke({ token, client_id: 'cli_server', client_secret: secret })).status).toBe(200);
    }
    expect(await isTokenLive(service, access_token)).toBe(true);
    expect((await refreshTokens(service, flow, refresh_token)).status).toBe(200);
  });

  test('for an expired token, without storing it', async () => {
    const { access_token } = await obtainTokens(service, flow);
    const em = service.databases.au1.fork();
    const before = await em.count(RevokedToken);
    service.clock.at += 3_600_000;
    expect((await revoke({ token: access_token })).status).toBe(200);
    service.clock.at -= 3_600_000;
    expect(await em.count(RevokedToken)).toBe(before);
  });
});

describe('401', () => {
  test.each([
    ['an unknown client', { client_id: 'cli_nobody' }],
    ['a confidential client without its secret', { client_id: 'cli_server' }],
    ['a confidential client with a wrong one', { client_id: 'cli_server', client_secret: newSecret() }],
    ['a public client with a secret', { client_secret: newSecret() }],
    ['no client_id', { client_id: undefined }],
  ])('for %s, and the token stays valid', async (_name, fields) => {
    const { access_token } = await obtainTokens(service, server);
    const { status, error } = await revoke({ token: access_token, ...fields });
    expect([status, error]).toEqual([401, 'invalid_client']);
    expect(await isTokenLive(service, access_token)).toBe(true);
  });
});

describe('400', () => {
  test('without a token', async () => {
    for (const token of [undefined, '']) {
      const { status, error } = await revoke({ token });
      expect([status, error]).toEqual([400, 'invalid_request']);
    }
  });
});

test('405 for another method', async () => {
  const response = await service.app.inject({ method: 'GET', url: '/oauth/revoke' });
  expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST']);
});
