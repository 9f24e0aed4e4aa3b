import { beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/database/database.ts';
import { Browser, type PageView } from './browser.ts';
import {
  addApplication,
  addBuilder,
  addUser,
  authorizationParameters,
  REDIRECT_URI,
  responseParametersOf,
  toQuery,
} from './fixtures.ts';
import { addClient, BASE_URL, buildOAuthApp, useOAuth } from './service.ts';

const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/;

const service = useOAuth();

beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app', {
    redirectUris: [REDIRECT_URI, 'http://127.0.0.1:8977/callback', 'https://app.example/bad#fragment'],
  });
  await addApplication(service, 'cli_query', { redirectUris: ['https://app.example/cb?tenant=1'] });
  await addApplication(service, 'cli_narrow', { scopes: ['read:builders'] });
  await addApplication(service, 'cli_off', { disabledAt: new Date().toISOString() });
  await addApplication(service, 'cli_bare', { redirectUris: [] });
  await addApplication(service, 'cli_us', { region: 'us1' });
  await addClient(service, 'cli_server', { redirectUris: [REDIRECT_URI] });
  await addClient(service, 'cli_inside', {
    ...{ internal: true, integratorId: null, redirectUris: [REDIRECT_URI], grants: ['authorization_code'] },
  });
});

const open = (changes: Record<string, string | undefined> = {}) =>
  new Browser(service.app).open(authorizationParameters('cli_app', changes));

const openQuery = (query: string) => new Browser(service.app).send('GET', `/oauth/authorize?${query}`);

/** Expects a page, not a redirect. */
function expectPage(view: PageView, status: number, heading: RegExp, detail?: RegExp) {
  expect(view.status).toBe(status);
  expect(view.location).toBeNull();
  expect(view.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(view.headers['cache-control']).toBe('no-store');
  expect(view.heading).toMatch(heading);
  if (detail) expect(view.body).toMatch(detail);
}

/** Expects a redirect to the client with the error, the state and the issuer. */
function expectRedirect(view: PageView, error: string, description?: RegExp, redirectUri = REDIRECT_URI) {
  expect(view.status).toBe(302);
  expect(view.location!.slice(0, redirectUri.length + 1)).toMatch(/[?&]$/);
  expect(view.location!.startsWith(redirectUri)).toBe(true);
  const response = responseParametersOf(view.location!);
  expect(response).toMatchObject({ error, state: 'a state & more', iss: BASE_URL });
  expect(response.error_description).toMatch(DESCRIPTION);
  if (description) expect(response.error_description).toMatch(description);
  expect(response).not.toHaveProperty('code');
}

describe('GET /oauth/authorize shows a page', () => {
  test('with the sign-in form for a valid request (OAU-17)', async () => {
    expectPage(await open(), 200, /^Sign in$/);
  });

  test.each([
    ['no client_id', { client_id: undefined }, /client_id is missing/],
    ['an empty client_id', { client_id: '' }, /client_id is missing/],
    ['an unknown client_id', { client_id: 'cli_nobody' }, /client_id is not one/],
    ['a client_id that is a script', { client_id: '<script>alert(1)</script>' }, /client_id is not one/],
    ['a disabled client', { client_id: 'cli_off' }, /client_id is not one/],
    ['no redirect_uri', { redirect_uri: undefined }, /redirect_uri is missing/],
    ['a client without redirect URIs', { client_id: 'cli_bare' }, /redirect_uri is not one/],
  ])('with the error for %s', async (_name, changes, detail) => {
    expectPage(await open(changes), 400, /link does not work/, detail);
  });

  test.each([
    ...['https://evil.example/callback', 'https://app.example@evil.example/callback', 'https://app.example/callback/'],
    ...['https://app.example:8443/callback', 'https://app.example./callback', 'https://app.example/callback#a'],
    ...['https://app.example/%2Fcallback', 'https://app.example%2f@evil.example/callback', '//app.example/callback'],
    ...['https://app.example/callback?a=1', 'https://app.example/callback\\@evil.example', 'javascript:alert(1)'],
    ...[
      'http://app.example/callback',
      'https://APP.example/callback',
      'data:text/html,a',
      'https://app.example/callback%00',
    ],
    ...[
      'https://app.example/Callback',
      'https://app.example.evil.example/callback',
      'https://app.example:443/callback',
    ],
    ...['https://app.example/callback#', 'https://app.example/%63allback', 'https://app.example/x/../callback'],
    ...['http://127.0.0.1:8978/callback', 'HTTPS://app.example/callback', 'https://app.example/callback\n', ' '],
    'https://app.example/bad#fragment',
  ])('with the error for the redirect_uri %s (OAU-18)', async (redirect_uri) => {
    expectPage(await open({ redirect_uri }), 400, /link does not work/, /redirect_uri is not one/);
  });

  test('with the error for a repeated client_id or redirect_uri', async () => {
    const query = toQuery(authorizationParameters('cli_app'));
    for (const again of ['client_id=cli_app', 'client_id=', `redirect_uri=${encodeURIComponent(REDIRECT_URI)}`]) {
      expectPage(await openQuery(`${query}&${again}`), 400, /link does not work/, /is repeated/);
    }
  });

  test('with the error for a query that is not form-encoded', async () => {
    const query = toQuery(authorizationParameters('cli_app'));
    for (const wrong of ['a=%', 'a=%ff', 'state=%zz', 'a=%00']) {
      expectPage(await openQuery(`${query}&${wrong}`), 400, /link does not work/);
    }
  });

  test('that escapes the values of the request', async () => {
    const query = `${toQuery(authorizationParameters('cli_app', { state: '"><script>alert(1)</script>' }))}&x="'><img src=x>`;
    const view = await openQuery(query);
    expect(view.status).toBe(200);
    expect(view.body).not.toContain('<script');
    expect(view.body).not.toContain('<img src=x>');
    expect(view.body).not.toMatch(/action="[^"]*'[^"]*"/);
  });

  test('and never redirects while the databases are unavailable', async () => {
    const unavailable = new Database('au1', 'postgresql://nobody@127.0.0.1:1/none');
    const app = await buildOAuthApp({ au1: unavailable, us1: unavailable }, service);
    const view = await new Browser(app).open(authorizationParameters('cli_app'));
    expectPage(view, 503, /Something went wrong/);
    expect(view.headers['retry-after']).toBe('1');
    await app.close();
    await unavailable.close();
  });
});

describe('GET /oauth/authorize redirects to the client with an error', () => {
  test.each([
    ['no response_type', { response_type: undefined }, 'invalid_request', /response_type is missing/],
    ['another response_type', { response_type: 'token' }, 'unsupported_response_type', /must be code/],
    ['no code_challenge', { code_challenge: undefined }, 'invalid_request', /code_challenge is missing/],
    ['no method', { code_challenge_method: undefined }, 'invalid_request', /code_challenge_method is missing/],
    ['another method', { code_challenge_method: 'S512' }, 'invalid_request', /S256 or PLAIN/],
    ['a short challenge', { code_challenge: 'a' }, 'invalid_request', /code_challenge/],
    ['no scope', { scope: undefined }, 'invalid_scope', /scope is missing/],
    ['an unknown scope', { scope: 'read:builders all' }, 'invalid_scope', /Not a scope: all/],
    ['two spaces', { scope: 'read:builders  read:projects' }, 'invalid_scope', /one space/],
    ['an internal scope', { scope: 'read:attendance' }, 'invalid_scope', /not allowed/],
    ['a builder_id of another shape', { builder_id: 'proj_a' }, 'invalid_request', /builder_id/],
    ['another audience', { audience: 'https://other.example' }, 'invalid_request', /audience/],
    ['a scope beyond the client', { client_id: 'cli_narrow' }, 'invalid_scope', /not allowed: read:projects/],
    ['a client without the grant', { client_id: 'cli_server' }, 'unauthorized_client', /authorization_code/],
    ['an internal client', { client_id: 'cli_inside', scope: 'read:builders' }, 'unauthorized_client', /internal/],
  ])('for %s (OAU-19)', async (_name, changes, error, description) => {
    expectRedirect(await open(changes), error, description);
  });

  test.each(['code token', 'id_token', 'CODE', ' code', 'none'])('for the response_type %s', async (response_type) => {
    expectRedirect(await open({ response_type }), 'unsupported_response_type');
  });

  test('for a missing state, and omits state from the response (OAU-17)', async () => {
    for (const state of [undefined, '']) {
      const { location } = await open({ state });
      expect(responseParametersOf(location!)).toMatchObject({ error: 'invalid_request', iss: BASE_URL });
      expect(responseParametersOf(location!)).not.toHaveProperty('state');
    }
  });

  test('for a repeated parameter, supported or not', async () => {
    const query = toQuery(authorizationParameters('cli_app'));
    expectRedirect(await openQuery(`${query}&scope=write:photos`), 'invalid_request', /scope is repeated/);
    expectRedirect(await openQuery(`${query}&a=1&a=2`), 'invalid_request', /a is repeated/);
    expectRedirect(await openQuery(`${query}&code_challenge_method=plain`), 'invalid_request', /is repeated/);
    const { location } = await openQuery(`${query}&state=other`);
    expect(responseParametersOf(location!)).toMatchObject({ error: 'invalid_request' });
    expect(responseParametersOf(location!)).not.toHaveProperty('state');
  });

  test('and keeps the query of the redirect URI', async () => {
    const redirect_uri = 'https://app.example/cb?tenant=1';
    const view = await open({ client_id: 'cli_query', redirect_uri, scope: 'x' });
    expectRedirect(view, 'invalid_scope', undefined, redirect_uri);
    expect(responseParametersOf(view.location!).tenant).toBe('1');
  });

  test('server_error for an internal error, without its cause (OAU-19)', async () => {
    const broken = new Database('au1', service.databases.au1.url);
    const app = await buildOAuthApp({ ...service.databases, au1: broken }, service);
    await broken.runner.run({ name: 'warm', text: 'select 1' }, []);
    const run = broken.runner.run.bind(broken.runner);
    broken.runner.run = (statement, values) =>
      statement.name === 'oauth.session' ? Promise.reject(new Error('a secret cause')) : run(statement, values);
    const browser = new Browser(app);
    browser.cookies.set('session-au1', 'a'.repeat(43));
    const view = await browser.open(authorizationParameters('cli_app'));
    expectRedirect(view, 'server_error');
    expect(view.location).not.toContain('cause');
    await app.close();
    await broken.close();
  });
});

describe('GET /oauth/authorize accepts', () => {
  test.each([
    ['S256', { code_challenge_method: 'S256' }],
    ['PLAIN', { code_challenge_method: 'PLAIN' }],
    ['plain', { code_challenge_method: 'plain' }],
    ['the right audience', { audience: BASE_URL }],
    ['a builder_id', { builder_id: 'buil_a' }],
    ['unsupported parameters', { prompt: 'login', display: 'page' }],
    ['a client of us1, found without a header', { client_id: 'cli_us' }],
  ])('%s', async (_name, changes) => {
    expectPage(await open(changes), 200, /^Sign in$/);
  });

  test('any region header, and ignores it (HDR-9)', async () => {
    const query = toQuery(authorizationParameters('cli_us'));
    const headers = { 'x-service-region-id': 'au1' };
    expectPage(
      await new Browser(service.app).send('GET', `/oauth/authorize?${query}`, undefined, headers),
      200,
      /Sign in/,
    );
  });

  test.each(['PUT', 'DELETE', 'PATCH'] as const)('no %s (405, ERR-14)', async (method) => {
    const response = await service.app.inject({
      method,
      url: `/oauth/authorize?${toQuery(authorizationParameters('cli_app'))}`,
    });
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
  });
});

describe('a page', () => {
  test('allows no scripts and no frames, and forms to the service and the client only (OAU-29)', async () => {
    const { headers } = await open();
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' https:; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' });
  });

  test('has a stylesheet and an icon that browsers may cache forever', async () => {
    const { body } = await open();
    for (const [, path] of body.matchAll(/(?:href|src)="(\/oauth\/assets\/[^"]+)"/g)) {
      const response = await service.app.inject({ url: path! });
      expect(response.statusCode).toBe(200);
      expect(response.headers['cache-control']).toMatch(/immutable/);
    }
  });
});
