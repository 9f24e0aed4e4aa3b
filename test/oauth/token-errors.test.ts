import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashSecret, newSecret } from '../../src/shared/secrets.ts';
import { addClient, basicAuthorization, type OAuthService, postToken } from './service.ts';
import {
  CLIENT,
  expectError,
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

describe('invalid_client (OAU-38)', () => {
  const expectInvalidClient = (response: Awaited<ReturnType<typeof post>>, challenged: boolean) => {
    expectError(response, 401, 'invalid_client');
    if (challenged) expect(response.headers['www-authenticate']).toMatch(/^Basic realm="/);
    else expect(response.headers).not.toHaveProperty('www-authenticate');
  };

  test.each([
    ['the secret is wrong', { client_secret: newSecret() }],
    ['the secret is its own digest', { client_secret: hashSecret(secret) }],
    ["the secret is another client's", { client_secret: usSecret }],
    ['the client is unknown', { client_id: 'cli_nobody' }],
    ['the client_id is in capitals', { client_id: CLIENT.toUpperCase() }],
    ['the client has no secret', { client_id: 'cli_bare' }],
    ['the client is disabled', { client_id: 'cli_off' }],
    ['the client is disabled and the secret is wrong', { client_id: 'cli_off', client_secret: newSecret() }],
    ['a public client sends a secret', { client_id: 'cli_public' }],
  ])('%s', async (_name, changes: { client_id?: string; client_secret?: string }) => {
    const { client_id, client_secret } = tokenRequest(changes);
    expectInvalidClient(await post(tokenRequest(changes)), false);
    expectInvalidClient(await post(tokenForm(changes)), false);
    const authorization = basicAuthorization(client_id, client_secret);
    expectInvalidClient(await post(tokenForm(withoutCredentials), { authorization }), true);
  });

  test('the secret is missing or empty', async () => {
    expectInvalidClient(await post(tokenRequest({ client_secret: undefined })), false);
    expectInvalidClient(await post(tokenRequest({ client_secret: '' })), false);
    expectInvalidClient(
      await post(tokenForm(withoutCredentials), { authorization: basicAuthorization(CLIENT, '') }),
      true,
    );
  });

  test('the client_id is missing', async () => {
    expectInvalidClient(await post(tokenRequest({ client_id: undefined })), false);
    expectInvalidClient(await post(tokenRequest(withoutCredentials)), false);
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
    expectInvalidClient(await post(tokenForm(withoutCredentials), { authorization }), true);
    // OAU-2: a Bearer header beside credentials in the body is ignored.
    if (authorization.startsWith('Bearer')) expect((await post(tokenForm(), { authorization })).status).toBe(200);
    else expectInvalidClient(await post(tokenForm(), { authorization }), true);
  });

  test('a public client uses the client credentials grant (OAU-11)', async () => {
    const changes = { client_id: 'cli_public', client_secret: undefined };
    expectInvalidClient(await post(tokenRequest(changes)), false);
    await addClient(service, 'cli_public_wide', { type: 'PUBLIC', grants: ['client_credentials'] });
    expectInvalidClient(await post(tokenRequest({ ...changes, client_id: 'cli_public_wide' })), false);
  });

  // OAU-3
  test('an unknown client, a disabled client and a wrong secret cost the same work and give the same response', async () => {
    const runs = [];
    for (const changes of [{ client_id: 'cli_nobody' }, { client_id: 'cli_off' }, { client_secret: newSecret() }]) {
      const statements: string[] = [];
      const ends = Object.values(service.databases).map(({ region, runner }) =>
        runner.onStatement(({ name }) => statements.push(`${region} ${name}`)),
      );
      const { status, body } = await post(tokenRequest(changes));
      for (const end of ends) end();
      runs.push({ statements, status, body });
    }
    expect(runs[0]!.statements).toEqual(['au1 oauth.client', 'us1 oauth.client']);
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).toEqual(runs[0]);
  });

  test('takes precedence over errors of grant, audience and scope', async () => {
    const wrong = { client_secret: 'wrong', grant_type: 'password', audience: 'other', scope: 'none' };
    expectInvalidClient(await post(tokenRequest(wrong)), false);
  });
});

describe('unsupported_grant_type', () => {
  test.each(['password', 'implicit', 'Client_Credentials', 'client_credentials ', 'constructor', '__proto__'])(
    'grant_type is "%s"',
    async (grant_type) => {
      expectError(await post(tokenRequest({ grant_type })), 400, 'unsupported_grant_type', /client_credentials/);
    },
  );

  test('takes precedence over errors of audience and scope', async () => {
    expectError(
      await post(tokenRequest({ grant_type: 'password', audience: '', scope: '' })),
      400,
      'unsupported_grant_type',
    );
  });
});

describe('unauthorized_client (OAU-4)', () => {
  test('a confidential client is not registered for client credentials', async () => {
    expectError(
      await post(tokenRequest({ client_id: 'cli_people' })),
      400,
      'unauthorized_client',
      /client_credentials/,
    );
  });

  test.each(['authorization_code', 'refresh_token'])('a client is not registered for %s', async (grant_type) => {
    expectError(await post(tokenRequest({ grant_type })), 400, 'unauthorized_client', new RegExp(grant_type));
  });
});

describe('invalid_scope (OAU-12)', () => {
  test.each(['read:everything', 'READ:BUILDERS', 'read:builders,read:projects', 'constructor', '*'])(
    '"%s" is unknown',
    async (scope) => {
      expectError(await post(tokenRequest({ scope })), 400, 'invalid_scope', /Not a scope/);
      expectError(await post(tokenRequest({ scope: `read:builders ${scope}` })), 400, 'invalid_scope', /Not a scope/);
    },
  );

  test('a scope is not allowed to the client, alone or with allowed scopes', async () => {
    const few = { client_id: 'cli_few' };
    expect((await post(tokenRequest({ ...few, scope: 'read:builders read:projects' }))).status).toBe(200);
    for (const scope of ['write:photos', 'read:builders write:photos read:projects']) {
      expectError(await post(tokenRequest({ ...few, scope })), 400, 'invalid_scope', /not allowed: write:photos/);
    }
  });

  test('read:attendance is not for integrators', async () => {
    expectError(await post(tokenRequest({ scope: 'read:attendance' })), 400, 'invalid_scope', /not allowed/);
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
    expectError(await post(tokenRequest({ scope })), 400, 'invalid_scope', /one space/);
  });
});
