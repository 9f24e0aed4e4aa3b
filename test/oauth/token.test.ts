import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { INEXACT_NUMBER } from '../../schema/json-problems.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { Database } from '../../src/database/database.ts';
import { rateLimited } from '../../src/shared/errors.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import {
  addClient,
  addSecret,
  BASE_URL,
  basicAuthorization,
  buildOAuthApp,
  OAUTH_START,
  type OAuthService,
  postToken,
} from './service.ts';
import {
  CLIENT,
  expectError,
  expectNoStore,
  secret,
  startTokenService,
  tokenForm,
  tokenRequest,
  usSecret,
  withoutCredentials,
} from './token-requests.ts';

let service: OAuthService;

beforeAll(async () => {
  service = await startTokenService();
});
afterAll(() => service?.close());

const post = (body: object | string | Buffer, headers?: Record<string, string>) =>
  postToken(service.app, body, headers);

describe('200', () => {
  test('issues a token for a confidential client itself (OAU-8, OAU-9, OAU-11, OAU-14)', async () => {
    const response = await post(tokenRequest({ scope: 'read:builders write:photos' }));
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      expires: 3600,
      scope: 'read:builders write:photos',
    });
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expectNoStore(response);
    const iat = OAUTH_START / 1000;
    expect(decodeJwt(response.body.access_token)).toEqual({
      sub: CLIENT,
      client_id: CLIENT,
      iss: BASE_URL,
      aud: BASE_URL,
      scope: 'read:builders write:photos',
      jti: expect.any(String),
      iat,
      exp: iat + 3600,
    });
    expect(await service.tokens.verify('au1', response.body.access_token)).not.toBeNull();
  });

  test.each([
    ['a form', () => post(tokenForm())],
    [
      'a form with a charset',
      () => post(tokenForm(), { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }),
    ],
    [
      'a form whose type is in capitals',
      () => post(tokenForm(), { 'content-type': 'Application/X-WWW-Form-URLEncoded' }),
    ],
    ['JSON with a charset', () => post(tokenRequest(), { 'content-type': 'application/json; charset=utf-8' })],
    [
      'Basic with JSON',
      () => post(tokenRequest(withoutCredentials), { authorization: basicAuthorization(CLIENT, secret) }),
    ],
    [
      'Basic with a form',
      () => post(tokenForm(withoutCredentials), { authorization: basicAuthorization(CLIENT, secret) }),
    ],
    [
      'Basic in small letters',
      () =>
        post(tokenForm(withoutCredentials), {
          authorization: basicAuthorization(CLIENT, secret).replace('Basic', 'basic'),
        }),
    ],
    ['Basic and the same in the body', () => post(tokenForm(), { authorization: basicAuthorization(CLIENT, secret) })],
    [
      'Basic and the same client_id in the body',
      () => post(tokenForm({ client_secret: undefined }), { authorization: basicAuthorization(CLIENT, secret) }),
    ],
    [
      'Basic and empty credentials in the body',
      () =>
        post(tokenRequest({ client_id: '', client_secret: '' }), { authorization: basicAuthorization(CLIENT, secret) }),
    ],
  ])('accepts %s (OAU-1, OAU-7)', async (_name, send) => {
    expect((await send()).status).toBe(200);
  });

  test('decodes Basic credentials as a form does', async () => {
    const odd = 'a secret: 50% +/ü';
    await addClient(service, 'cli_odd', { secrets: [odd] });
    const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
    const header = (one: string, other: string) => `Basic ${Buffer.from(`${one}:${other}`).toString('base64')}`;
    for (const authorization of [header('cli_odd', encode(odd)), header('cli%5Fodd', encodeURIComponent(odd))]) {
      expect((await post(tokenForm(withoutCredentials), { authorization })).status).toBe(200);
    }
  });

  test('grants a repeated scope once, in the order of the request (OAU-12)', async () => {
    const response = await post(tokenRequest({ scope: 'write:photos read:builders write:photos' }));
    expect(response.body.scope).toBe('write:photos read:builders');
    expect(decodeJwt(response.body.access_token).scope).toBe('write:photos read:builders');
  });

  test('grants every scope of the contract to a client that is allowed them (OAU-13)', async () => {
    expect((await post(tokenRequest({ scope: SCOPES.join(' ') }))).body.scope).toBe(SCOPES.join(' '));
  });

  test('grants read:attendance to an internal client', async () => {
    const response = await post(tokenRequest({ client_id: 'cli_internal', scope: 'read:attendance' }));
    expect(response.body.scope).toBe('read:attendance');
  });

  test('ignores unsupported parameters of any type (OAU-7)', async () => {
    const unknown = { prompt: ['a'], nested: { scope: 1, client_id: ['x'] }, 'a "quoted\\" name': '{"scope": [' };
    expect((await post(tokenRequest(unknown))).status).toBe(200);
    const json = JSON.stringify(tokenRequest()).replace('{', '{"__proto__": {"scope": "write:photos"}, ');
    expect((await post(json, { 'content-type': 'application/json' })).body.scope).toBe('read:builders');
    expect((await post(`${tokenForm()}&prompt=a&organisation=&=&&__proto__=b`)).status).toBe(200);
  });

  test('charges the rate limit of an authenticated client only', async () => {
    const charged: string[] = [];
    const app = await buildOAuthApp(service.databases, service, async ({ region }, clientId) => {
      charged.push(`${region} ${clientId}`);
      throw rateLimited(7);
    });
    expect((await postToken(app, tokenRequest({ client_secret: 'wrong' }))).status).toBe(401);
    expect(charged).toEqual([]);
    const response = await postToken(app, tokenRequest());
    expect([response.status, response.body.code, response.headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '7']);
    expectNoStore(response);
    expect(charged).toEqual([`au1 ${CLIENT}`]);
    await app.close();
  });

  test('accepts the two latest secrets, and no older one (OAU-6)', async () => {
    const [oldest, older, newest] = [newSecret(), newSecret(), newSecret()];
    await addClient(service, 'cli_rotating', { secrets: [oldest, older] });
    const statusWith = async (one: string) =>
      (await post(tokenRequest({ client_id: 'cli_rotating', client_secret: one }))).status;
    expect([await statusWith(oldest), await statusWith(older)]).toEqual([200, 200]);
    await addSecret(service, 'au1', 'cli_rotating', newest, OAUTH_START + 1000);
    expect([await statusWith(oldest), await statusWith(older), await statusWith(newest)]).toEqual([401, 200, 200]);
  });

  test('issues a token to oauth4webapi with both authentication methods', async () => {
    const app = await buildOAuthApp(service.databases, service);
    await app.listen({ port: 0, host: '127.0.0.1' });
    try {
      const { port } = app.server.address() as AddressInfo;
      const server = { issuer: BASE_URL, token_endpoint: `http://127.0.0.1:${port}/oauth/token` };
      const client = { client_id: CLIENT };
      for (const authentication of [oauth.ClientSecretBasic(secret), oauth.ClientSecretPost(secret)]) {
        const parameters = { audience: BASE_URL, scope: 'read:builders' };
        const options = { [oauth.allowInsecureRequests]: true };
        const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, options);
        const result = await oauth.processClientCredentialsResponse(server, client, response);
        expect(result).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'read:builders' });
      }
      const wrong = oauth.ClientSecretBasic('wrong');
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        wrong,
        {},
        { [oauth.allowInsecureRequests]: true },
      );
      await expect(oauth.processClientCredentialsResponse(server, client, response)).rejects.toThrow(
        oauth.WWWAuthenticateChallengeError,
      );
    } finally {
      await app.close();
    }
  });
});

describe('regions', () => {
  const us = { client_id: 'cli_us', client_secret: usSecret };

  test('a client is found in its region with the header and without (HDR-10)', async () => {
    expect((await post(tokenRequest(us))).status).toBe(200);
    expect((await post(tokenRequest(us), { 'x-service-region-id': 'us1' })).status).toBe(200);
    expect((await post(tokenRequest(), { 'x-service-region-id': 'au1' })).status).toBe(200);
  });

  test('a client is not found in the other region', async () => {
    expectError(await post(tokenRequest(us), { 'x-service-region-id': 'au1' }), 401, 'invalid_client');
    expectError(await post(tokenRequest(), { 'x-service-region-id': 'us1' }), 401, 'invalid_client');
  });

  test('only the database of the region in the header is queried', async () => {
    const charged: string[] = [];
    const ends = Object.values(service.databases).map(({ region, runner }) =>
      runner.onStatement(() => charged.push(region)),
    );
    await post(tokenRequest(), { 'x-service-region-id': 'us1' });
    for (const end of ends) end();
    expect(charged).toEqual(['us1']);
  });

  test.each(['eu1', 'AU1', '', 'au1, us1'])('the header may not be "%s" (HDR-10)', async (region) => {
    expectError(
      await post(tokenRequest(), { 'x-service-region-id': region }),
      400,
      'invalid_request',
      /X-Service-Region-Id/,
    );
  });
});

describe('X-Service-Api-Version (HDR-5)', () => {
  const send = (path: string, version: string, client_secret = secret) =>
    service.app.inject({
      ...{ method: 'POST', url: `/oauth/${path}`, headers: { 'x-service-api-version': version } },
      payload: { ...tokenRequest({ client_secret }), token: 'any' },
    });

  test.each(['token', 'revoke', 'introspect'])('is v1 at /oauth/%s, else 400 invalid_request', async (path) => {
    expect((await send(path, 'v1')).statusCode).toBe(200);
    for (const version of ['v2', 'V1', '']) {
      const response = await send(path, version);
      expect([response.statusCode, response.json()]).toEqual([
        400,
        { error: 'invalid_request', error_description: 'The header X-Service-Api-Version must be v1.' },
      ]);
    }
    expect((await send(path, 'v2', 'wrong')).statusCode).toBe(401);
  });
});

test.each(['9007199254740993', '9007199254740991.4', '1e-400'])(
  '400 for a number that changes when it is read, in any parameter: %s (ERR-27)',
  async (number) => {
    const json = JSON.stringify(tokenRequest()).replace('{', `{"other":[${number}],`);
    const response = await post(json, { 'content-type': 'application/json' });
    expect([response.status, response.body]).toEqual([
      400,
      { error: 'invalid_request', error_description: `The parameter other ${INEXACT_NUMBER}.` },
    ]);
  },
);

describe('405', () => {
  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'] as const)(
    '%s is not allowed, and Allow is POST',
    async (method) => {
      const response = await service.app.inject({
        method,
        url: `/oauth/token?${tokenForm()}`,
        headers: { 'content-type': 'text/plain' },
        payload: method === 'PUT' ? 'text' : undefined,
      });
      expect(response.statusCode).toBe(405);
      expect(response.headers.allow).toBe('POST');
      expectNoStore(response);
      if (method !== 'HEAD') expect(response.json()).toMatchObject({ error: 'invalid_request' });
    },
  );
});

describe('503', () => {
  const unavailable = (region: 'au1' | 'us1') => new Database(region, 'postgresql://nobody@127.0.0.1:1/none');

  test('both databases are unavailable', async () => {
    const databases = { au1: unavailable('au1'), us1: unavailable('us1') };
    const app = await buildOAuthApp(databases, service);
    const response = await postToken(app, tokenRequest());
    expect(response.status).toBe(503);
    expect(response.body).toMatchObject({ code: 'UNAVAILABLE' });
    expect(response.headers['retry-after']).toBe('1');
    expectNoStore(response);
    await app.close();
    await Promise.all([databases.au1.close(), databases.us1.close()]);
  });

  test('one region is unavailable, and clients of the other region get tokens', async () => {
    const us1 = unavailable('us1');
    const app = await buildOAuthApp({ au1: service.databases.au1, us1 }, service);
    expect((await postToken(app, tokenRequest())).status).toBe(200);
    expect((await postToken(app, tokenRequest({ client_id: 'cli_us', client_secret: usSecret }))).status).toBe(503);
    await app.close();
    await us1.close();
  });
});
