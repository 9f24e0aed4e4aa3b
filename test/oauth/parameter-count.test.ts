import { beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { addApplication, authorizationParameters, toQuery } from './fixtures.ts';
import { addClient, BASE_URL, postToken, useOAuth } from './service.ts';

const secret = newSecret();
const service = useOAuth();

beforeAll(async () => {
  await addApplication(service, 'cli_app');
  await addClient(service, 'cli_server', { secrets: [secret] });
});

const extras = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`extra${at}`, 'x']));

const credentials = {
  ...{ grant_type: 'client_credentials', client_id: 'cli_server', client_secret: secret },
  ...{ audience: BASE_URL, scope: 'read:builders' },
};
/** A token request with this total number of parameters. */
const withParameters = (count: number) => ({ ...credentials, ...extras(count - Object.keys(credentials).length) });

describe('POST /oauth/token', () => {
  test('accepts 64 parameters, form-encoded and as JSON', async () => {
    expect((await postToken(service.app, toQuery(withParameters(64)))).status).toBe(200);
    expect((await postToken(service.app, `&&${toQuery(withParameters(64))}&&`)).status).toBe(200);
    expect((await postToken(service.app, withParameters(64))).status).toBe(200);
  });

  test('answers 400 to 65 parameters before validating any of them (LIM-13)', async () => {
    const responses = [
      await postToken(service.app, toQuery(withParameters(65))),
      await postToken(service.app, withParameters(65)),
      await postToken(service.app, `${toQuery(withParameters(65))}&%`),
      await postToken(service.app, 'a=1&'.repeat(65)),
      await postToken(service.app, `{${'"a":1,'.repeat(65)}`, { 'content-type': 'application/json' }),
    ];
    for (const { status, body } of responses) {
      expect(status).toBe(400);
      expect(body.error).toBe('invalid_request');
      expect(body.error_description).toContain('at most 64 parameters');
    }
  });

  test('counts only the top-level fields of a JSON object', async () => {
    const nested = { ...credentials, other: [extras(100), { 'a":"b': ':{"' }], 'an"other:\\': '\\":"' };
    expect((await postToken(service.app, nested)).status).toBe(200);
  });

  test.each([
    ['an object', { a: { b: 1 } }],
    ['a list', [[], ['a']]],
  ])('reads the fields that follow %s in a JSON object (OAU-7)', async (_what, other) => {
    expect((await postToken(service.app, { other, ...credentials })).status).toBe(200);
  });

  test('rejects a repeated field, escaped names included', async () => {
    const text = JSON.stringify(credentials).replace('{', '{"sc\\u006fpe":"a",');
    const { status, body } = await postToken(service.app, text, { 'content-type': 'application/json' });
    expect([status, body.error_description]).toEqual([400, 'The parameter scope is repeated.']);
  });

  test.each(['{"a', '{"a":"\\', '{"\\":1}', ':', '"":1', '{:1}', '"\\"'.repeat(1000)])(
    'answers 400 to invalid JSON: %s',
    async (text) => {
      const { status, body } = await postToken(service.app, text, { 'content-type': 'application/json' });
      expect([status, body.error]).toEqual([400, 'invalid_request']);
    },
  );
});

describe.each(['revoke', 'introspect'])('POST /oauth/%s', (path) => {
  test('answers 400 to 65 parameters', async () => {
    const payload = { token: 'none', ...credentials, ...extras(59) };
    const response = await service.app.inject({ method: 'POST', url: `/oauth/${path}`, payload });
    expect([response.statusCode, response.json().error]).toEqual([400, 'invalid_request']);
  });
});

describe('pages', () => {
  const parameters = authorizationParameters('cli_app');
  const withQuery = (path: string, count: number) =>
    `/oauth/${path}?${toQuery({ ...parameters, ...extras(count - Object.keys(parameters).length) })}`;

  test('accept 64 parameters', async () => {
    expect((await service.app.inject({ url: withQuery('authorize', 64) })).statusCode).toBe(200);
  });

  test.each([
    ['GET', 'authorize'],
    ['POST', 'authorize'],
    ['POST', 'sign-in'],
    ['GET', 'sign-in'],
    ['GET', 'signed-out'],
  ] as const)('%s /oauth/%s shows an error page for the 65th and does not redirect', async (method, path) => {
    const response = await service.app.inject({ method, url: withQuery(path, 65) });
    expect(response.statusCode).toBe(400);
    expect(response.headers['content-type']).toMatch(/^text\/html/);
    expect(response.headers).not.toHaveProperty('location');
    expect(response.body).toContain('at most 64 parameters');
  });

  test('show an error page for a form with more than 64 fields', async () => {
    const response = await service.app.inject({
      method: 'POST',
      url: withQuery('sign-in', 10),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: toQuery(extras(65)),
    });
    expect(response.statusCode).toBe(400);
    expect(response.headers['content-type']).toMatch(/^text\/html/);
  });
});
