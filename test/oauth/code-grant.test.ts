import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { Connection } from '../../entities/connection.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { exchangeCode, obtainCode, refreshTokens } from './code-flow.ts';
import { addApplication, addBuilder, addUser, REDIRECT_URI, VERIFIER } from './fixtures.ts';
import { BASE_URL, isTokenLive, OAUTH_START, postToken, useOAuth } from './service.ts';

const MINUTE = 60_000;
const secret = newSecret();

const service = useOAuth();

beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app');
  await addApplication(service, 'cli_other');
  await addApplication(service, 'cli_once', { grants: ['authorization_code'] });
  await addApplication(service, 'cli_server', { type: 'CONFIDENTIAL', secrets: [secret] });
});

const flow = { clientId: 'cli_app', email: 'user_a@example.com' };
const newCode = (changes: Record<string, string> = {}) => obtainCode(service, { ...flow, changes });

describe('a code is exchanged (200)', () => {
  test('for an access token of the user and builder, and a refresh token (OAU-8, OAU-14)', async () => {
    const { status, headers, body } = await exchangeCode(service, flow, await newCode());
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ access_token: expect.any(String), refresh_token: expect.stringMatching(/^[\w-]{43}$/) },
      ...{ token_type: 'Bearer', expires_in: 3600, expires: 3600, scope: 'read:builders read:projects' },
    });
    expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    expect(decodeJwt(body.access_token)).toEqual({
      ...{ sub: 'user_a', client_id: 'cli_app', builder_id: 'buil_a', iss: BASE_URL, aud: BASE_URL },
      ...{
        scope: 'read:builders read:projects',
        jti: expect.any(String),
        iat: OAUTH_START / 1000,
        exp: OAUTH_START / 1000 + 3600,
      },
    });
    expect(await isTokenLive(service, body.access_token)).toBe(true);
  });

  test('without a refresh token for a client without the refresh token grant', async () => {
    const { body } = await exchangeCode(
      service,
      { clientId: 'cli_once' },
      await obtainCode(service, { ...flow, clientId: 'cli_once' }),
    );
    expect(body).not.toHaveProperty('refresh_token');
    expect(await isTokenLive(service, body.access_token)).toBe(true);
  });

  test('by a confidential client with its secret', async () => {
    const server = { clientId: 'cli_server', email: flow.email, secret };
    const code = await obtainCode(service, server);
    expect((await exchangeCode(service, { clientId: 'cli_server' }, code)).body.error).toBe('invalid_client');
    expect((await exchangeCode(service, server, code)).status).toBe(200);
  });

  test.each(['PLAIN', 'plain'])('with the method %s (OAU-21)', async (code_challenge_method) => {
    const code = await newCode({ code_challenge: VERIFIER, code_challenge_method });
    expect((await exchangeCode(service, flow, code)).status).toBe(200);
  });

  test('by a form-encoded request with the audience (OAU-10)', async () => {
    const code = await newCode();
    const fields = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER };
    const form = new URLSearchParams({ ...fields, client_id: 'cli_app', audience: BASE_URL }).toString();
    expect((await postToken(service.app, form)).status).toBe(200);
  });

  test('until its last millisecond', async () => {
    const code = await newCode();
    service.clock.at = OAUTH_START + 10 * MINUTE - 1;
    expect((await exchangeCode(service, flow, code)).status).toBe(200);
    service.clock.at = OAUTH_START;
  });
});

describe('a code is rejected (400)', () => {
  test.each([
    ['no code', { code: undefined }, 'invalid_request'],
    ['no redirect_uri', { redirect_uri: undefined }, 'invalid_request'],
    ['no code_verifier', { code_verifier: undefined }, 'invalid_request'],
    ['a verifier of 42 characters', { code_verifier: 'a'.repeat(42) }, 'invalid_request'],
    ['a verifier of 129 characters', { code_verifier: 'a'.repeat(129) }, 'invalid_request'],
    ['another verifier', { code_verifier: 'a'.repeat(43) }, 'invalid_grant'],
    ['the challenge for a verifier', { code_verifier: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' }, 'invalid_grant'],
    ['another redirect_uri', { redirect_uri: `${REDIRECT_URI}/` }, 'invalid_grant'],
    ['another audience', { audience: 'https://other.example' }, 'invalid_request'],
    ['another client', { client_id: 'cli_other' }, 'invalid_grant'],
    ['another code', { code: newSecret() }, 'invalid_grant'],
  ])('for %s, which does not consume it (OAU-31)', async (_name, changes, error) => {
    const code = await newCode();
    const rejected = await exchangeCode(service, flow, code, changes);
    expect([rejected.status, rejected.body.error]).toEqual([400, error]);
    expect((await exchangeCode(service, flow, code)).status).toBe(200);
  });

  test('after 10 minutes (OAU-30)', async () => {
    const code = await newCode();
    service.clock.at = OAUTH_START + 10 * MINUTE;
    expect((await exchangeCode(service, flow, code)).body.error).toBe('invalid_grant');
    service.clock.at = OAUTH_START;
  });

  test.each([
    ['membership', Membership, { userId: 'user_a' }, { builderId: 'buil_b' }, { builderId: 'buil_a' }],
    ['connection', Connection, { builderId: 'buil_a' }, { status: 'REVOKED' }, { status: 'ACTIVE' }],
    ['account', User, { id: 'user_a' }, { disabledAt: new Date(OAUTH_START).toISOString() }, { disabledAt: null }],
  ] as const)('after the end of the %s', async (_name, entity, where, ended, restored) => {
    await addBuilder(service, 'buil_b').catch(() => undefined);
    const code = await newCode();
    const em = service.databases.au1.fork();
    await em.nativeUpdate(entity as never, where as never, ended as never);
    const rejected = await exchangeCode(service, flow, code);
    await em.nativeUpdate(entity as never, (where === undefined ? {} : where) as never, restored as never);
    expect([rejected.status, rejected.body.error]).toEqual([400, 'invalid_grant']);
  });
});

describe('a second use of a code', () => {
  test('revokes the access and refresh tokens of the first (OAU-30)', async () => {
    const code = await newCode();
    const first = (await exchangeCode(service, flow, code)).body;
    const renewed = (await refreshTokens(service, flow, first.refresh_token)).body;
    expect(await isTokenLive(service, renewed.access_token)).toBe(true);

    const second = await exchangeCode(service, flow, code);
    expect([second.status, second.body.error]).toEqual([400, 'invalid_grant']);
    expect(await isTokenLive(service, first.access_token)).toBe(false);
    expect(await isTokenLive(service, renewed.access_token)).toBe(false);
    expect((await refreshTokens(service, flow, renewed.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('revokes them also after expiry, and with a wrong verifier', async () => {
    for (const [later, changes] of [
      [11 * MINUTE, {}],
      [0, { code_verifier: 'a'.repeat(43) }],
    ] as const) {
      const code = await newCode();
      const { access_token } = (await exchangeCode(service, flow, code)).body;
      service.clock.at = OAUTH_START + later;
      expect((await exchangeCode(service, flow, code, changes)).body.error).toBe('invalid_grant');
      expect(await isTokenLive(service, access_token)).toBe(false);
      service.clock.at = OAUTH_START;
    }
  });

  test('by another client revokes nothing', async () => {
    const code = await newCode();
    const { access_token } = (await exchangeCode(service, flow, code)).body;
    expect((await exchangeCode(service, { clientId: 'cli_other' }, code)).body.error).toBe('invalid_grant');
    expect(await isTokenLive(service, access_token)).toBe(true);
  });

  test('is rejected when it is concurrent: exactly one exchange succeeds', async () => {
    for (let round = 0; round < 5; round++) {
      const code = await newCode();
      const responses = await Promise.all(Array.from({ length: 12 }, () => exchangeCode(service, flow, code)));
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const { status, body } of responses)
        if (status !== 200) expect([status, body.error]).toEqual([400, 'invalid_grant']);
    }
  });
});
