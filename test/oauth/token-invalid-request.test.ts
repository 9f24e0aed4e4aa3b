import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { arbitraryText } from '../support/arbitrary-text.ts';
import { BASE_URL, basicAuthorization, type OAuthService, postToken } from './service.ts';
import {
  CLIENT,
  expectError,
  expectTransportError,
  secret,
  startTokenService,
  tokenForm,
  tokenRequest,
} from './token-requests.ts';

let service: OAuthService;

beforeAll(async () => {
  service = await startTokenService();
});
afterAll(() => service?.close());

const post = (body: object | string | Buffer, headers?: Record<string, string>) =>
  postToken(service.app, body, headers);

describe('invalid_request', () => {
  test.each(['grant_type', 'audience', 'scope'])('%s is missing, empty or without a value (OAU-10)', async (name) => {
    const missing = new RegExp(`${name} is missing`);
    expectError(await post(tokenRequest({ [name]: undefined })), 400, 'invalid_request', missing);
    expectError(await post(tokenRequest({ [name]: '' })), 400, 'invalid_request', missing);
    expectError(await post(tokenForm({ [name]: undefined })), 400, 'invalid_request', missing);
    expectError(await post(tokenForm({ [name]: '' })), 400, 'invalid_request', missing);
    expectError(await post(`${tokenForm({ [name]: undefined })}&${name}`), 400, 'invalid_request', missing);
  });

  test.each(['https://other.example', `${BASE_URL}/`, BASE_URL.toUpperCase()])(
    'the audience is %s (OAU-10)',
    async (audience) => {
      expectError(
        await post(tokenRequest({ audience })),
        400,
        'invalid_request',
        /audience must be http:\/\/localhost:4000/,
      );
    },
  );

  test.each(Object.keys(tokenRequest()))('%s is repeated, with the same or another value (OAU-7)', async (name) => {
    const repeated = new RegExp(`${name} is repeated`);
    const value = (tokenRequest() as Record<string, string>)[name]!;
    for (const again of [value, 'other', '']) {
      const pair = new URLSearchParams({ [name]: again }).toString();
      expectError(await post(`${tokenForm()}&${pair}`), 400, 'invalid_request', repeated);
      const json = `${JSON.stringify(tokenRequest()).slice(0, -1)}, "${name}" : ${JSON.stringify(again)}}`;
      expectError(await post(json, { 'content-type': 'application/json' }), 400, 'invalid_request', repeated);
    }
  });

  test('a JSON field is repeated under an escaped name', async () => {
    const json = `${JSON.stringify(tokenRequest({ note: 'a "scope": {[' })).slice(0, -1)}, "sc\\u006fpe": "write:photos"}`;
    expectError(await post(json, { 'content-type': 'application/json' }), 400, 'invalid_request', /scope is repeated/);
  });

  test.each(Object.keys(tokenRequest()))('%s is not a string (OAU-7)', async (name) => {
    for (const value of [1, true, null, {}, [], ['read:builders']]) {
      const response = await post(tokenRequest({ [name]: value }));
      expectError(response, 400, 'invalid_request', new RegExp(`${name} must be a string`));
    }
  });

  test.each(Object.keys(tokenRequest()))('%s contains U+0000 or an unpaired surrogate (OAU-7)', async (name) => {
    for (const value of ['a\0b', '\0', 'a\ud800']) {
      expectError(await post(tokenRequest({ [name]: value })), 400, 'invalid_request', new RegExp(name));
    }
    expectError(await post(tokenForm({ [name]: 'a\0b' })), 400, 'invalid_request', new RegExp(name));
  });

  test.each(['{', '{"grant_type": }', 'grant_type=client_credentials', "{'a': 1}", '{"a": 1} {}', '{"a": "\n"}'])(
    'the body is not JSON: %j',
    async (text) => {
      const response = await post(text, { 'content-type': 'application/json' });
      expectError(response, 400, 'invalid_request', /not valid JSON/);
    },
  );

  test.each(['[]', '"text"', '1', 'null', 'true'])('the body is JSON but not an object: %s', async (text) => {
    const response = await post(text, { 'content-type': 'application/json' });
    expectError(response, 400, 'invalid_request', /must be a JSON object/);
  });

  test.each(['scope=%', 'scope=%zz', 'scope=%ff', '%e2%82=1'])('the form encoding is invalid: %s', async (text) => {
    expectError(await post(`${tokenForm()}&${text}`), 400, 'invalid_request', /not valid form data/);
  });

  test('the body is not UTF-8', async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    expectError(await post(bytes), 400, 'invalid_request', /not UTF-8/);
    expectError(await post(bytes, { 'content-type': 'application/json' }), 400, 'invalid_request', /not UTF-8/);
  });

  test.each(['text/plain', 'multipart/form-data; boundary=a', 'application/xml', 'application/jsonx', 'nonsense', ' '])(
    'the content type is %j',
    async (type) => {
      const response = await post(tokenForm(), { 'content-type': type });
      const types = /application\/json or application\/x-www-form-urlencoded/;
      expectTransportError(response, 415, 'UNSUPPORTED_MEDIA_TYPE', types);
    },
  );

  test('the JSON is nested 30,000 levels deep', async () => {
    const json = `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expectError(
      await post(json, { 'content-type': 'application/json' }),
      400,
      'invalid_request',
      /grant_type is missing/,
    );
  });

  test('there is a body and no content type', async () => {
    const response = await service.app.inject({
      method: 'POST',
      url: '/oauth/token',
      payload: Buffer.from(tokenForm()),
    });
    expect(response.statusCode).toBe(415);
    expect(response.json()).toMatchObject({ error: 'invalid_request', code: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  test('there is no body, or an empty one', async () => {
    const response = await service.app.inject({ method: 'POST', url: '/oauth/token' });
    expect(response.json()).toMatchObject({ error: 'invalid_request', error_description: /grant_type/ });
    expectError(await post(''), 400, 'invalid_request', /grant_type/);
    expectError(await post(' ', { 'content-type': 'application/json' }), 400, 'invalid_request', /grant_type/);
    expectError(await post({}), 400, 'invalid_request', /grant_type/);
  });

  test('the parameters are in the query string (OAU-7)', async () => {
    const response = await service.app.inject({ method: 'POST', url: `/oauth/token?${tokenForm()}` });
    expect(response.json()).toMatchObject({ error: 'invalid_request' });
  });

  test('the body has more than 64 KiB', async () => {
    const response = await post(tokenRequest({ scope: 'a'.repeat(65_536) }));
    expectTransportError(response, 413, 'PAYLOAD_TOO_LARGE', /65536 bytes/);
  });

  test('the credentials in the body and in the header differ (OAU-2)', async () => {
    const authorization = basicAuthorization(CLIENT, secret);
    for (const changes of [{ client_id: 'cli_few' }, { client_secret: newSecret() }]) {
      expectError(await post(tokenRequest(changes), { authorization }), 400, 'invalid_request', /differ/);
      expectError(await post(tokenForm(changes), { authorization }), 400, 'invalid_request', /differ/);
    }
    expectError(
      await post(tokenForm(), { authorization: basicAuthorization(CLIENT, '') }),
      400,
      'invalid_request',
      /differ/,
    );
  });

  test('takes precedence over invalid_client', async () => {
    const wrong = { client_secret: 'wrong' };
    expectError(await post(tokenRequest({ ...wrong, grant_type: undefined })), 400, 'invalid_request');
    expectError(await post(tokenRequest({ ...wrong, scope: 1 })), 400, 'invalid_request');
    expectError(await post(`${tokenForm(wrong)}&scope=a`), 400, 'invalid_request');
  });

  test('the description contains only the characters that RFC 6749 allows', async () => {
    expectError(await post('"\\ü\r\n%0a=1&"\\ü\r\n%0a=1'), 400, 'invalid_request', /repeated/);
  });
});

test('any invalid request gets an error in the format of RFC 6749 section 5.2 (OAU-38)', async () => {
  const text = arbitraryText({ maxLength: 20 });
  const names = fc.constantFrom(...Object.keys(tokenRequest()));
  const overlaid = fc
    .dictionary(names, fc.oneof(text, fc.jsonValue()))
    .map((changes) => JSON.stringify(tokenRequest(changes)));
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
      const response = await post(Buffer.from(body), headers);
      fc.pre(response.status !== 200);
      expect([400, 401]).toContain(response.status);
      expectError(response, response.status, response.body.error);
    }),
    { numRuns: 200 },
  );
});
