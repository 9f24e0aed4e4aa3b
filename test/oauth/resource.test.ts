import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { Browser } from './browser.ts';
import { exchangeCode, obtainCode, obtainTokens, refreshTokens } from './code-flow.ts';
import { addApplication, addBuilder, addUser, authorizationParameters, responseParametersOf } from './fixtures.ts';
import { BASE_URL, basicAuthorization, postToken, useOAuth } from './service.ts';

const MCP = `${BASE_URL}/mcp`;
const SCOPES = ['read:builders', 'read:projects'];
const secret = newSecret();
const app = { clientId: 'cli_app', email: 'user_a@example.com' };
const credentials = { grant_type: 'client_credentials', client_id: 'cli_server', client_secret: secret };
const withAudience = { ...credentials, audience: BASE_URL, scope: 'read:builders' };

const service = useOAuth();

beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app', { scopes: SCOPES });
  await addApplication(service, 'cli_server', {
    type: 'CONFIDENTIAL',
    secrets: [secret],
    grants: ['client_credentials', 'authorization_code', 'refresh_token'],
    scopes: SCOPES,
  });
});

describe('client credentials with the resource of the tools', () => {
  test('need neither audience nor scope, and give a token for the tools alone (OAU-48)', async () => {
    const { status, body } = await postToken(service.app, { ...credentials, resource: MCP });
    expect(status).toBe(200);
    expect(body.scope).toBe(SCOPES.join(' '));
    expect(decodeJwt(body.access_token)).toMatchObject({ aud: MCP, iss: BASE_URL, scope: SCOPES.join(' ') });
    expect(await service.tokens.verify('au1', body.access_token)).toBeNull();
  });

  test('may name scopes (OAU-48)', async () => {
    const { body } = await postToken(service.app, { ...credentials, resource: MCP, scope: 'read:builders' });
    expect(body.scope).toBe('read:builders');
  });
});

describe('client credentials', () => {
  test('with the resource of the API are as without one (OAU-48)', async () => {
    const { body } = await postToken(service.app, { ...withAudience, resource: BASE_URL });
    expect(decodeJwt(body.access_token).aud).toBe(BASE_URL);
    for (const missing of ['audience', 'scope'])
      expect((await postToken(service.app, { ...withAudience, resource: BASE_URL, [missing]: undefined })).status).toBe(
        400,
      );
  });

  test.each([`${BASE_URL}/graphql`, `${MCP}/`, 'https://evil.example/mcp', 'mcp'])(
    'with the resource %s are invalid_target (OAU-48)',
    async (resource) => {
      const { status, body } = await postToken(service.app, { ...withAudience, resource });
      expect([status, body.error]).toEqual([400, 'invalid_target']);
    },
  );
});

describe('an authorization for the tools', () => {
  test('tells the person that an assistant will act, and asks for all scopes of the client (OAU-48)', async () => {
    const browser = new Browser(service.app);
    const parameters = authorizationParameters('cli_app', { resource: MCP, scope: undefined });
    const consent = await browser.signIn(await browser.open(parameters), app.email);
    expect(consent.body).toContain('An assistant will act in your name');
    const code = responseParametersOf((await browser.submit(consent, 'Allow')).location!).code!;
    const { body } = await exchangeCode(service, app, code);
    expect(decodeJwt(body.access_token)).toMatchObject({ aud: MCP, scope: SCOPES.join(' ') });
  });

  test('allows the scopes that its page showed, also where the client has got more since (OAU-24)', async () => {
    await addApplication(service, 'cli_growing', { scopes: ['read:builders'] });
    const browser = new Browser(service.app);
    const parameters = authorizationParameters('cli_growing', { resource: MCP, scope: undefined });
    const view = await browser.signIn(await browser.open(parameters), app.email);
    await service.databases.au1
      .fork()
      .nativeUpdate(OAuthClient, { id: 'cli_growing' }, { scopes: ['read:builders', 'write:photos'] });
    const { code } = responseParametersOf((await browser.submit(view, 'Allow')).location!);
    const { body } = await exchangeCode(service, { ...app, clientId: 'cli_growing' }, code!, { resource: MCP });
    expect(body.scope).toBe('read:builders');
  });

  test('binds its resource to the code and to refresh tokens (OAU-48)', async () => {
    const code = await obtainCode(service, { ...app, changes: { resource: MCP } });
    expect((await exchangeCode(service, app, code, { resource: BASE_URL })).body.error).toBe('invalid_target');
    const { body } = await exchangeCode(service, app, code, { resource: MCP });
    const other = await refreshTokens(service, app, body.refresh_token, { resource: BASE_URL });
    expect(other.body.error).toBe('invalid_target');
    const next = await refreshTokens(service, app, body.refresh_token);
    expect(decodeJwt(next.body.access_token).aud).toBe(MCP);
  });

  test('for another resource is invalid_target, at the redirect URI (OAU-48)', async () => {
    const browser = new Browser(service.app);
    const { location } = await browser.open(authorizationParameters('cli_app', { resource: `${BASE_URL}/x` }));
    expect(responseParametersOf(location!).error).toBe('invalid_target');
  });
});

describe('an authorization without a resource', () => {
  test('gives no token for the tools (OAU-48)', async () => {
    const code = await obtainCode(service, app);
    expect((await exchangeCode(service, app, code, { resource: MCP })).body.error).toBe('invalid_target');
    const { body } = await exchangeCode(service, app, code);
    expect(decodeJwt(body.access_token).aud).toBe(BASE_URL);
    expect((await refreshTokens(service, app, body.refresh_token, { resource: MCP })).body.error).toBe(
      'invalid_target',
    );
  });

  test('needs a scope (OAU-19)', async () => {
    const browser = new Browser(service.app);
    const { location } = await browser.open(authorizationParameters('cli_app', { scope: undefined }));
    expect(responseParametersOf(location!).error).toBe('invalid_scope');
  });
});

describe('GET /.well-known/oauth-protected-resource/mcp', () => {
  test('names the tools and their authorization server (OAU-49)', async () => {
    const response = await service.app.inject({ url: '/.well-known/oauth-protected-resource/mcp' });
    expect(response.json()).toMatchObject({ resource: MCP, authorization_servers: [BASE_URL] });
    expect(response.json().scopes_supported).not.toContain('read:attendance');
  });
});

describe('a token for the tools', () => {
  const post = async (url: string, token: string) => {
    const headers = { authorization: basicAuthorization('cli_server', secret), 'content-type': 'application/json' };
    const response = await service.app.inject({ method: 'POST', url, headers, payload: JSON.stringify({ token }) });
    return response.body === '' ? null : response.json();
  };

  test('is described by introspection with its audience, and revoked as others are (OAU-36, OAU-37)', async () => {
    const flow = { clientId: 'cli_server', email: app.email, secret };
    const { access_token } = await obtainTokens(service, { ...flow, changes: { resource: MCP } });
    expect(await post('/oauth/introspect', access_token)).toMatchObject({ active: true, aud: MCP, sub: 'user_a' });
    await post('/oauth/revoke', access_token);
    expect(await post('/oauth/introspect', access_token)).toEqual({ active: false });
  });
});
