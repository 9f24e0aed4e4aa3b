import type { AddressInfo } from 'node:net';
import cors from '@fastify/cors';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES } from '../../schema/scopes.ts';
import { Database } from '../../src/database/database.ts';
import { rateLimited } from '../../src/shared/errors.ts';
import { digestOf, newSecret } from '../../src/shared/secrets.ts';
import {
  addClient,
  addSecret,
  BASE_URL,
  basic,
  buildApp,
  type OAuthService,
  postToken,
  START,
  startOAuth,
} from './service.ts';

const CLIENT = 'cli_a';
const secret = newSecret();
const usSecret = newSecret();
const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/;

let service: OAuthService;

beforeAll(async () => {
  service = await startOAuth();
  await addClient(service, CLIENT, { secrets: [secret] });
  await addClient(service, 'cli_few', { secrets: [secret], scopes: ['read:builders', 'read:projects'] });
  await addClient(service, 'cli_internal', {
    secrets: [secret],
    internal: true,
    integratorId: null,
    scopes: ['read:attendance'],
  });
  await addClient(service, 'cli_people', { secrets: [secret], grants: ['authorization_code', 'refresh_token'] });
  await addClient(service, 'cli_both', { secrets: [secret], grants: ['client_credentials', 'authorization_code'] });
  await addClient(service, 'cli_public', { type: 'PUBLIC', grants: ['authorization_code', 'refresh_token'] });
  await addClient(service, 'cli_bare');
  await addClient(service, 'cli_off', { secrets: [secret], disabledAt: new Date(START).toISOString() });
  await addClient(service, 'cli_us', { secrets: [usSecret], region: 'us1' });
});

afterAll(() => service?.close());

const request = (changes: Record<string, unknown> = {}) => ({
  grant_type: 'client_credentials',
  client_id: CLIENT,
  client_secret: secret,
  audience: BASE_URL,
  scope: 'read:builders',
  ...changes,
});

const form = (changes: Record<string, unknown> = {}) => {
  const fields = Object.entries(request(changes)).filter(([, value]) => value !== undefined);
  return new URLSearchParams(fields as [string, string][]).toString();
};

const withoutCredentials = { client_id: undefined, client_secret: undefined };

const post = (body: object | string | Buffer, headers?: Record<string, string>) =>
  postToken(service.app, body, headers);

/** The answer is this error, in the shape of RFC 6749 section 5.2, and nothing keeps it. */
function expectError(answer: Awaited<ReturnType<typeof post>>, status: number, error: string, description?: RegExp) {
  expect(answer.body).toEqual({ error, error_description: expect.stringMatching(DESCRIPTION) });
  if (description) expect(answer.body.error_description).toMatch(description);
  expect(answer.status).toBe(status);
  expectNoStore(answer);
}

/** The same for an error of the transport, which also has the `code` and `message` of other operations. */
function expectTransportError(answer: Awaited<ReturnType<typeof post>>, status: number, code: string, text: RegExp) {
  const described = { error_description: expect.stringMatching(DESCRIPTION), message: expect.stringMatching(text) };
  expect(answer.body).toEqual({ error: 'invalid_request', code, ...described });
  expect(answer.status).toBe(status);
  expectNoStore(answer);
}

function expectNoStore({ headers }: { headers: Record<string, unknown> }) {
  expect(headers['cache-control']).toBe('no-store');
  expect(headers.pragma).toBe('no-cache');
}

describe('200', () => {
  test('a confidential client gets a token for itself (OAU-8, OAU-9, OAU-11, OAU-14)', async () => {
    const answer = await post(request({ scope: 'read:builders write:photos' }));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      expires: 3600,
      scope: 'read:builders write:photos',
    });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expectNoStore(answer);
    const iat = START / 1000;
    expect(decodeJwt(answer.body.access_token)).toEqual({
      sub: CLIENT,
      client_id: CLIENT,
      iss: BASE_URL,
      aud: BASE_URL,
      scope: 'read:builders write:photos',
      jti: expect.any(String),
      iat,
      exp: iat + 3600,
    });
    expect(await service.tokens.verify(answer.body.access_token)).not.toBeNull();
  });

  test.each([
    ['a form', () => post(form())],
    [
      'a form with a charset',
      () => post(form(), { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }),
    ],
    ['a form whose type is in capitals', () => post(form(), { 'content-type': 'Application/X-WWW-Form-URLEncoded' })],
    ['JSON with a charset', () => post(request(), { 'content-type': 'application/json; charset=utf-8' })],
    ['Basic with JSON', () => post(request(withoutCredentials), { authorization: basic(CLIENT, secret) })],
    ['Basic with a form', () => post(form(withoutCredentials), { authorization: basic(CLIENT, secret) })],
    [
      'Basic in small letters',
      () => post(form(withoutCredentials), { authorization: basic(CLIENT, secret).replace('Basic', 'basic') }),
    ],
    ['Basic and the same in the body', () => post(form(), { authorization: basic(CLIENT, secret) })],
    [
      'Basic and the same client_id in the body',
      () => post(form({ client_secret: undefined }), { authorization: basic(CLIENT, secret) }),
    ],
    [
      'Basic and empty credentials in the body',
      () => post(request({ client_id: '', client_secret: '' }), { authorization: basic(CLIENT, secret) }),
    ],
  ])('takes %s (OAU-1, OAU-7)', async (_name, send) => {
    expect((await send()).status).toBe(200);
  });

  test('decodes Basic credentials as a form does', async () => {
    const odd = 'a secret: 50% +/ü';
    await addClient(service, 'cli_odd', { secrets: [odd] });
    const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
    const header = (one: string, other: string) => `Basic ${Buffer.from(`${one}:${other}`).toString('base64')}`;
    for (const authorization of [header('cli_odd', encode(odd)), header('cli%5Fodd', encodeURIComponent(odd))]) {
      expect((await post(form(withoutCredentials), { authorization })).status).toBe(200);
    }
  });

  test('grants a repeated scope once, in the order of the request (OAU-12)', async () => {
    const answer = await post(request({ scope: 'write:photos read:builders write:photos' }));
    expect(answer.body.scope).toBe('write:photos read:builders');
    expect(decodeJwt(answer.body.access_token).scope).toBe('write:photos read:builders');
  });

  test('grants every scope of the contract to a client that is allowed them (OAU-13)', async () => {
    expect((await post(request({ scope: SCOPES.join(' ') }))).body.scope).toBe(SCOPES.join(' '));
  });

  test('grants read:attendance to an internal client', async () => {
    const answer = await post(request({ client_id: 'cli_internal', scope: 'read:attendance' }));
    expect(answer.body.scope).toBe('read:attendance');
  });

  test('ignores parameters that it does not know, whatever their type (OAU-7)', async () => {
    const unknown = { resource: ['a'], nested: { scope: 1, client_id: ['x'] }, 'a "quoted\\" name': '{"scope": [' };
    expect((await post(request(unknown))).status).toBe(200);
    const json = JSON.stringify(request()).replace('{', '{"__proto__": {"scope": "write:photos"}, ');
    expect((await post(json, { 'content-type': 'application/json' })).body.scope).toBe('read:builders');
    expect((await post(`${form()}&resource=a&organisation=&=&&__proto__=b`)).status).toBe(200);
  });

  test('asks the budget of the client that has proven itself, and no other', async () => {
    const asked: string[] = [];
    const app = await buildApp(service.databases, service, async ({ region }, clientId) => {
      asked.push(`${region} ${clientId}`);
      throw rateLimited(7);
    });
    expect((await postToken(app, request({ client_secret: 'wrong' }))).status).toBe(401);
    expect(asked).toEqual([]);
    const answer = await postToken(app, request());
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '7']);
    expectNoStore(answer);
    expect(asked).toEqual([`au1 ${CLIENT}`]);
    await app.close();
  });

  test('takes either of two secrets while a client rotates, and no older one', async () => {
    const [oldest, older, newest] = [newSecret(), newSecret(), newSecret()];
    await addClient(service, 'cli_rotating', { secrets: [oldest, older] });
    const statusWith = async (one: string) =>
      (await post(request({ client_id: 'cli_rotating', client_secret: one }))).status;
    expect([await statusWith(oldest), await statusWith(older)]).toEqual([200, 200]);
    await addSecret(service, 'au1', 'cli_rotating', newest, START + 1000);
    expect([await statusWith(oldest), await statusWith(older), await statusWith(newest)]).toEqual([401, 200, 200]);
  });

  test('oauth4webapi gets a token with either way to authenticate', async () => {
    const app = await buildApp(service.databases, service);
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
    expect((await post(request(us))).status).toBe(200);
    expect((await post(request(us), { 'x-service-region-id': 'us1' })).status).toBe(200);
    expect((await post(request(), { 'x-service-region-id': 'au1' })).status).toBe(200);
  });

  test('a client is not found in the other region', async () => {
    expectError(await post(request(us), { 'x-service-region-id': 'au1' }), 401, 'invalid_client');
    expectError(await post(request(), { 'x-service-region-id': 'us1' }), 401, 'invalid_client');
  });

  test('only the database of the region that the header names is asked', async () => {
    const asked: string[] = [];
    const ends = Object.values(service.databases).map(({ region, runner }) =>
      runner.onStatement(() => asked.push(region)),
    );
    await post(request(), { 'x-service-region-id': 'us1' });
    for (const end of ends) end();
    expect(asked).toEqual(['us1']);
  });

  test.each(['eu1', 'AU1', '', 'au1, us1'])('the header may not be "%s" (HDR-10)', async (region) => {
    expectError(
      await post(request(), { 'x-service-region-id': region }),
      400,
      'invalid_request',
      /X-Service-Region-Id/,
    );
  });
});

describe('invalid_request', () => {
  test.each(['grant_type', 'audience', 'scope'])(
    '%s is missing, empty or left without a value (OAU-10)',
    async (name) => {
      const missing = new RegExp(`${name} is missing`);
      expectError(await post(request({ [name]: undefined })), 400, 'invalid_request', missing);
      expectError(await post(request({ [name]: '' })), 400, 'invalid_request', missing);
      expectError(await post(form({ [name]: undefined })), 400, 'invalid_request', missing);
      expectError(await post(form({ [name]: '' })), 400, 'invalid_request', missing);
      expectError(await post(`${form({ [name]: undefined })}&${name}`), 400, 'invalid_request', missing);
    },
  );

  test.each(['https://other.example', `${BASE_URL}/`, BASE_URL.toUpperCase()])(
    'the audience is %s',
    async (audience) => {
      expectError(
        await post(request({ audience })),
        400,
        'invalid_request',
        /audience must be http:\/\/localhost:4000/,
      );
    },
  );

  test.each(Object.keys(request()))('%s is repeated, with the same value or another (OAU-7)', async (name) => {
    const repeated = new RegExp(`${name} is repeated`);
    const value = (request() as Record<string, string>)[name]!;
    for (const again of [value, 'other', '']) {
      const pair = new URLSearchParams({ [name]: again }).toString();
      expectError(await post(`${form()}&${pair}`), 400, 'invalid_request', repeated);
      const json = `${JSON.stringify(request()).slice(0, -1)}, "${name}" : ${JSON.stringify(again)}}`;
      expectError(await post(json, { 'content-type': 'application/json' }), 400, 'invalid_request', repeated);
    }
  });

  test('a JSON field is repeated under an escaped name', async () => {
    const json = `${JSON.stringify(request({ note: 'a "scope": {[' })).slice(0, -1)}, "sc\\u006fpe": "write:photos"}`;
    expectError(await post(json, { 'content-type': 'application/json' }), 400, 'invalid_request', /scope is repeated/);
  });

  test.each(Object.keys(request()))('%s is not a string', async (name) => {
    for (const value of [1, true, null, {}, [], ['read:builders']]) {
      const answer = await post(request({ [name]: value }));
      expectError(answer, 400, 'invalid_request', new RegExp(`${name} must be a string`));
    }
  });

  test.each(Object.keys(request()))('%s holds U+0000 or half a surrogate pair (OAU-7)', async (name) => {
    for (const value of ['a\0b', '\0', 'a\ud800']) {
      expectError(await post(request({ [name]: value })), 400, 'invalid_request', new RegExp(name));
    }
    expectError(await post(form({ [name]: 'a\0b' })), 400, 'invalid_request', new RegExp(name));
  });

  test.each(['{', '{"grant_type": }', 'grant_type=client_credentials', "{'a': 1}", '{"a": 1} {}', '{"a": "\n"}'])(
    'the body is not JSON: %j',
    async (text) => {
      const answer = await post(text, { 'content-type': 'application/json' });
      expectError(answer, 400, 'invalid_request', /not valid JSON/);
    },
  );

  test.each(['[]', '"text"', '1', 'null', 'true'])('the body is JSON and no object: %s', async (text) => {
    const answer = await post(text, { 'content-type': 'application/json' });
    expectError(answer, 400, 'invalid_request', /must be a JSON object/);
  });

  test.each(['scope=%', 'scope=%zz', 'scope=%ff', '%e2%82=1'])('the form is not well encoded: %s', async (text) => {
    expectError(await post(`${form()}&${text}`), 400, 'invalid_request', /not valid form data/);
  });

  test('the body is not UTF-8', async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    expectError(await post(bytes), 400, 'invalid_request', /not UTF-8/);
    expectError(await post(bytes, { 'content-type': 'application/json' }), 400, 'invalid_request', /not UTF-8/);
  });

  test.each(['text/plain', 'multipart/form-data; boundary=a', 'application/xml', 'application/jsonx', 'nonsense', ' '])(
    'the content type is %j',
    async (type) => {
      const answer = await post(form(), { 'content-type': type });
      const types = /application\/json or application\/x-www-form-urlencoded/;
      expectTransportError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE', types);
    },
  );

  test('the JSON nests as deep as the limit lets it', async () => {
    const json = `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expectError(
      await post(json, { 'content-type': 'application/json' }),
      400,
      'invalid_request',
      /grant_type is missing/,
    );
  });

  test('there is a body and no content type', async () => {
    const answer = await service.app.inject({ method: 'POST', url: '/oauth/token', payload: Buffer.from(form()) });
    expect(answer.statusCode).toBe(415);
    expect(answer.json()).toMatchObject({ error: 'invalid_request', code: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  test('there is no body, or an empty one', async () => {
    const answer = await service.app.inject({ method: 'POST', url: '/oauth/token' });
    expect(answer.json()).toMatchObject({ error: 'invalid_request', error_description: /grant_type/ });
    expectError(await post(''), 400, 'invalid_request', /grant_type/);
    expectError(await post(' ', { 'content-type': 'application/json' }), 400, 'invalid_request', /grant_type/);
    expectError(await post({}), 400, 'invalid_request', /grant_type/);
  });

  test('the parameters are in the query string (OAU-7)', async () => {
    const answer = await service.app.inject({ method: 'POST', url: `/oauth/token?${form()}` });
    expect(answer.json()).toMatchObject({ error: 'invalid_request' });
  });

  test('the body has more than 64 KiB', async () => {
    const answer = await post(request({ scope: 'a'.repeat(65_536) }));
    expectTransportError(answer, 413, 'PAYLOAD_TOO_LARGE', /65536 bytes/);
  });

  test('the credentials in the body and in the header differ (OAU-2)', async () => {
    const authorization = basic(CLIENT, secret);
    for (const changes of [{ client_id: 'cli_few' }, { client_secret: newSecret() }]) {
      expectError(await post(request(changes), { authorization }), 400, 'invalid_request', /differ/);
      expectError(await post(form(changes), { authorization }), 400, 'invalid_request', /differ/);
    }
    expectError(await post(form(), { authorization: basic(CLIENT, '') }), 400, 'invalid_request', /differ/);
  });

  test('comes before invalid_client when the shape is wrong', async () => {
    const wrong = { client_secret: 'wrong' };
    expectError(await post(request({ ...wrong, grant_type: undefined })), 400, 'invalid_request');
    expectError(await post(request({ ...wrong, scope: 1 })), 400, 'invalid_request');
    expectError(await post(`${form(wrong)}&scope=a`), 400, 'invalid_request');
  });

  test('a description holds only the characters of RFC 6749, whatever the request holds', async () => {
    expectError(await post('"\\ü\r\n%0a=1&"\\ü\r\n%0a=1'), 400, 'invalid_request', /repeated/);
  });
});

describe('invalid_client (OAU-38)', () => {
  const expectInvalidClient = (answer: Awaited<ReturnType<typeof post>>, challenged: boolean) => {
    expectError(answer, 401, 'invalid_client');
    if (challenged) expect(answer.headers['www-authenticate']).toMatch(/^Basic realm="/);
    else expect(answer.headers).not.toHaveProperty('www-authenticate');
  };

  test.each([
    ['the secret is wrong', { client_secret: newSecret() }],
    ['the secret is its own digest', { client_secret: digestOf(secret) }],
    ["the secret is another client's", { client_secret: usSecret }],
    ['the client is unknown', { client_id: 'cli_nobody' }],
    ['the client_id is in capitals', { client_id: CLIENT.toUpperCase() }],
    ['the client has no secret', { client_id: 'cli_bare' }],
    ['the client is disabled', { client_id: 'cli_off' }],
    ['the client is disabled and the secret is wrong', { client_id: 'cli_off', client_secret: newSecret() }],
    ['a public client sends a secret', { client_id: 'cli_public' }],
  ])('%s', async (_name, changes: { client_id?: string; client_secret?: string }) => {
    const { client_id, client_secret } = request(changes);
    expectInvalidClient(await post(request(changes)), false);
    expectInvalidClient(await post(form(changes)), false);
    const authorization = basic(client_id, client_secret);
    expectInvalidClient(await post(form(withoutCredentials), { authorization }), true);
  });

  test('the secret is missing or empty', async () => {
    expectInvalidClient(await post(request({ client_secret: undefined })), false);
    expectInvalidClient(await post(request({ client_secret: '' })), false);
    expectInvalidClient(await post(form(withoutCredentials), { authorization: basic(CLIENT, '') }), true);
  });

  test('the client_id is missing', async () => {
    expectInvalidClient(await post(request({ client_id: undefined })), false);
    expectInvalidClient(await post(request(withoutCredentials)), false);
  });

  const encoded = (text: string) => Buffer.from(text).toString('base64');
  test.each([
    ['', 'empty'],
    ['Basic', 'without credentials'],
    ['Basic !!!', 'not base64'],
    [`Basic ${encoded(CLIENT)}`, 'without a colon'],
    [`Basic ${encoded(`:${secret}`)}`, 'without a client_id'],
    [`Basic ${encoded(`${CLIENT}:%zz`)}`, 'not form-encoded'],
    [`Basic ${encoded(`${CLIENT}:%00`)}`, 'with U+0000'],
    [`Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString('base64')}`, 'not UTF-8'],
    [`Basic ${encoded(`${CLIENT}:${secret}`)} more`, 'followed by more'],
    [`Bearer ${encoded(`${CLIENT}:${secret}`)}`, 'of another scheme'],
  ])('the Authorization header "%s" is %s', async (authorization) => {
    expectInvalidClient(await post(form(withoutCredentials), { authorization }), true);
    expectInvalidClient(await post(form(), { authorization }), true);
  });

  test('a public client asks for client credentials (OAU-11)', async () => {
    const changes = { client_id: 'cli_public', client_secret: undefined };
    expectInvalidClient(await post(request(changes)), false);
    await addClient(service, 'cli_public_wide', { type: 'PUBLIC', grants: ['client_credentials'] });
    expectInvalidClient(await post(request({ ...changes, client_id: 'cli_public_wide' })), false);
  });

  test('an unknown client, a disabled one and a wrong secret take the same work and get the same answer (OAU-3)', async () => {
    const runs = [];
    for (const changes of [{ client_id: 'cli_nobody' }, { client_id: 'cli_off' }, { client_secret: newSecret() }]) {
      const statements: string[] = [];
      const ends = Object.values(service.databases).map(({ region, runner }) =>
        runner.onStatement(({ name }) => statements.push(`${region} ${name}`)),
      );
      const { status, body } = await post(request(changes));
      for (const end of ends) end();
      runs.push({ statements, status, body });
    }
    expect(runs[0]!.statements).toEqual(['au1 oauth.client', 'us1 oauth.client']);
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).toEqual(runs[0]);
  });

  test('comes before what is wrong with grant, audience and scope', async () => {
    const wrong = { client_secret: 'wrong', grant_type: 'password', audience: 'other', scope: 'none' };
    expectInvalidClient(await post(request(wrong)), false);
  });
});

describe('unsupported_grant_type', () => {
  test.each(['password', 'implicit', 'Client_Credentials', 'client_credentials ', 'constructor', '__proto__'])(
    'grant_type is "%s"',
    async (grant_type) => {
      expectError(await post(request({ grant_type })), 400, 'unsupported_grant_type', /client_credentials/);
    },
  );

  test('comes before what is wrong with audience and scope', async () => {
    expectError(
      await post(request({ grant_type: 'password', audience: '', scope: '' })),
      400,
      'unsupported_grant_type',
    );
  });
});

describe('unauthorized_client (OAU-4)', () => {
  test('a confidential client is not registered for client credentials', async () => {
    expectError(await post(request({ client_id: 'cli_people' })), 400, 'unauthorized_client', /client_credentials/);
  });

  test.each(['authorization_code', 'refresh_token'])('a client is not registered for %s', async (grant_type) => {
    expectError(await post(request({ grant_type })), 400, 'unauthorized_client', new RegExp(grant_type));
  });
});

describe('invalid_scope (OAU-12)', () => {
  test.each(['read:everything', 'READ:BUILDERS', 'read:builders,read:projects', 'constructor', '*'])(
    '"%s" is unknown',
    async (scope) => {
      expectError(await post(request({ scope })), 400, 'invalid_scope', /Not a scope/);
      expectError(await post(request({ scope: `read:builders ${scope}` })), 400, 'invalid_scope', /Not a scope/);
    },
  );

  test('a scope is known and not allowed to the client, alone or beside allowed ones', async () => {
    const few = { client_id: 'cli_few' };
    expect((await post(request({ ...few, scope: 'read:builders read:projects' }))).status).toBe(200);
    for (const scope of ['write:photos', 'read:builders write:photos read:projects']) {
      expectError(await post(request({ ...few, scope })), 400, 'invalid_scope', /not allowed: write:photos/);
    }
  });

  test('read:attendance is not for integrators', async () => {
    expectError(await post(request({ scope: 'read:attendance' })), 400, 'invalid_scope', /not allowed/);
  });

  test.each([
    ' ',
    ' read:builders',
    'read:builders ',
    'read:builders  read:projects',
    'read:builders\tread:projects',
    'read:builders\n',
    '"',
    '\\',
    'ü',
  ])('%j breaks the syntax of RFC 6749 section 3.3', async (scope) => {
    expectError(await post(request({ scope })), 400, 'invalid_scope', /one space/);
  });
});

describe('405', () => {
  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)(
    '%s is not allowed, and POST is named',
    async (method) => {
      const answer = await service.app.inject({
        method,
        url: `/oauth/token?${form()}`,
        headers: { 'content-type': 'text/plain' },
        payload: method === 'PUT' ? 'text' : undefined,
      });
      expect(answer.statusCode).toBe(405);
      expect(answer.headers.allow).toBe('POST');
      expectNoStore(answer);
      if (method !== 'HEAD') expect(answer.json()).toMatchObject({ error: 'invalid_request' });
    },
  );
});

test('a preflight that the service answers before the route is none of the 405s', async () => {
  const app = await buildApp(service.databases, service, undefined, (outer) => outer.register(cors, { origin: true }));
  const headers = { origin: 'http://localhost:5000', 'access-control-request-method': 'POST' };
  expect((await app.inject({ method: 'OPTIONS', url: '/oauth/token', headers })).statusCode).toBe(204);
  await app.close();
});

test('whatever is sent, the answer is an error of RFC 6749 section 5.2 (OAU-38)', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  const names = fc.constantFrom(...Object.keys(request()));
  const overlaid = fc
    .dictionary(names, fc.oneof(text, fc.jsonValue()))
    .map((changes) => JSON.stringify(request(changes)));
  const json = fc.oneof(overlaid, fc.json(), text);
  const forms = fc.oneof(
    fc.array(fc.tuple(fc.oneof(names, text), text)).map((pairs) => new URLSearchParams(pairs).toString()),
    text,
  );
  const sent = fc.oneof(
    json.map((body) => ({ body, type: 'application/json' })),
    forms.map((body) => ({ body, type: 'application/x-www-form-urlencoded' })),
  );
  const header = fc.string({ maxLength: 20 }).map((raw) => `Basic ${Buffer.from(raw).toString('base64')}`);
  await fc.assert(
    fc.asyncProperty(sent, fc.option(header), async ({ body, type }, authorization) => {
      const headers = { 'content-type': type, ...(authorization === null ? {} : { authorization }) };
      const answer = await post(Buffer.from(body), headers);
      fc.pre(answer.status !== 200);
      expect([400, 401]).toContain(answer.status);
      expectError(answer, answer.status, answer.body.error);
    }),
    { numRuns: 500 },
  );
});

describe('503', () => {
  const away = (region: 'au1' | 'us1') => new Database(region, 'postgresql://nobody@127.0.0.1:1/none');

  test('the databases are away: the service says so, not the client', async () => {
    const databases = { au1: away('au1'), us1: away('us1') };
    const app = await buildApp(databases, service);
    const answer = await postToken(app, request());
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ code: 'UNAVAILABLE' });
    expect(answer.headers['retry-after']).toBe('1');
    expectNoStore(answer);
    await app.close();
    await Promise.all([databases.au1.close(), databases.us1.close()]);
  });

  test('one region is away: the clients of the other go on', async () => {
    const us1 = away('us1');
    const app = await buildApp({ au1: service.databases.au1, us1 }, service);
    expect((await postToken(app, request())).status).toBe(200);
    expect((await postToken(app, request({ client_id: 'cli_us', client_secret: usSecret }))).status).toBe(503);
    await app.close();
    await us1.close();
  });
});
