import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RevokedToken } from '../../entities/revoked-token.entity.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { refresh, tokensFor } from './flow.ts';
import { addApplication, addBuilder, addUser } from './people.ts';
import { basic, type OAuthService, postToken, startOAuth } from './service.ts';

const secret = newSecret();
const person = { clientId: 'cli_app', email: 'user_a@example.com' };
const server = { clientId: 'cli_server', email: 'user_a@example.com', secret };

let service: OAuthService;

beforeAll(async () => {
  service = await startOAuth();
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
afterAll(() => service?.close());

const revoke = (fields: Record<string, unknown>, headers: Record<string, string> = {}) =>
  post(JSON.stringify({ client_id: 'cli_app', ...fields }), { 'content-type': 'application/json', ...headers });

async function post(payload: string, headers: Record<string, string>) {
  const response = await service.app.inject({ method: 'POST', url: '/oauth/revoke', headers, payload });
  const { statusCode: status, body, headers: answered } = response;
  return { status, headers: answered, body, error: status === 200 ? null : response.json().error };
}

const live = async (token: string) => service.access.isLive((await service.tokens.verify(token))!, 'au1');

describe('200', () => {
  test('an access token ends alone (OAU-36)', async () => {
    const tokens = await tokensFor(service, person);
    const { status, body, headers } = await revoke({ token: tokens.access_token });
    expect([status, body]).toEqual([200, '']);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    expect(await live(tokens.access_token)).toBe(false);
    const renewed = await refresh(service, person, tokens.refresh_token);
    expect(renewed.status).toBe(200);
    expect(await live(renewed.body.access_token)).toBe(true);
  });

  test('a refresh token takes all tokens of its consent with it, and no other (OAU-36)', async () => {
    const [tokens, others] = [await tokensFor(service, person), await tokensFor(service, person)];
    const renewed = (await refresh(service, person, tokens.refresh_token)).body;
    expect((await revoke({ token: renewed.refresh_token })).status).toBe(200);
    expect(await live(tokens.access_token)).toBe(false);
    expect(await live(renewed.access_token)).toBe(false);
    expect((await refresh(service, person, renewed.refresh_token)).body.error).toBe('invalid_grant');
    expect(await live(others.access_token)).toBe(true);
    expect((await refresh(service, person, others.refresh_token)).status).toBe(200);
  });

  test('a refresh token that was rotated does so too', async () => {
    const tokens = await tokensFor(service, person);
    const renewed = (await refresh(service, person, tokens.refresh_token)).body;
    await revoke({ token: tokens.refresh_token });
    expect(await live(renewed.access_token)).toBe(false);
  });

  test("a client's own token ends", async () => {
    const { body } = await postToken(service.app, {
      ...{ grant_type: 'client_credentials', client_id: 'cli_server', client_secret: secret },
      ...{ audience: 'http://localhost:4000', scope: 'read:builders' },
    });
    expect(await live(body.access_token)).toBe(true);
    const headers = { authorization: basic('cli_server', secret) };
    expect((await revoke({ client_id: undefined, token: body.access_token }, headers)).status).toBe(200);
    expect(await live(body.access_token)).toBe(false);
  });

  test('a second time', async () => {
    const { access_token, refresh_token } = await tokensFor(service, person);
    for (const token of [access_token, access_token, refresh_token, refresh_token]) {
      expect((await revoke({ token })).status).toBe(200);
    }
  });

  test.each(['access_token', 'refresh_token', 'nonsense'])('whatever the hint says: %s', async (token_type_hint) => {
    const { access_token, refresh_token } = await tokensFor(service, person);
    await revoke({ token: access_token, token_type_hint });
    expect(await live(access_token)).toBe(false);
    await revoke({ token: refresh_token, token_type_hint });
    expect((await refresh(service, person, refresh_token)).body.error).toBe('invalid_grant');
  });

  test('as a form', async () => {
    const { access_token } = await tokensFor(service, person);
    const form = new URLSearchParams({ client_id: 'cli_app', token: access_token }).toString();
    expect((await post(form, { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(200);
    expect(await live(access_token)).toBe(false);
  });

  test.each(['garbage', 'a.b.c', newSecret(), 'ü', ' '])('for a token that is none: "%s" (OAU-36)', async (token) => {
    expect((await revoke({ token })).status).toBe(200);
  });

  test("for another client's token, which lives on (OAU-36)", async () => {
    const { access_token, refresh_token } = await tokensFor(service, person);
    for (const token of [access_token, refresh_token]) {
      expect((await revoke({ token, client_id: 'cli_other' })).status).toBe(200);
      expect((await revoke({ token, client_id: 'cli_us' })).status).toBe(200);
      expect((await revoke({ token, client_id: 'cli_server', client_secret: secret })).status).toBe(200);
    }
    expect(await live(access_token)).toBe(true);
    expect((await refresh(service, person, refresh_token)).status).toBe(200);
  });

  test('for an expired token, of which nothing is kept', async () => {
    const { access_token } = await tokensFor(service, person);
    const em = service.databases.au1.fork();
    const before = await em.count(RevokedToken);
    service.clock.at += 3_600_000;
    expect((await revoke({ token: access_token })).status).toBe(200);
    service.clock.at -= 3_600_000;
    expect(await em.count(RevokedToken)).toBe(before);
  });
});

describe('the client is authenticated', () => {
  test.each([
    ['an unknown client', { client_id: 'cli_nobody' }],
    ['a confidential client without its secret', { client_id: 'cli_server' }],
    ['a confidential client with a wrong one', { client_id: 'cli_server', client_secret: newSecret() }],
    ['a public client with a secret', { client_secret: newSecret() }],
    ['nobody', { client_id: undefined }],
  ])('401 for %s, and the token lives on', async (_name, fields) => {
    const { access_token } = await tokensFor(service, server);
    const { status, error } = await revoke({ token: access_token, ...fields });
    expect([status, error]).toEqual([401, 'invalid_client']);
    expect(await live(access_token)).toBe(true);
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
