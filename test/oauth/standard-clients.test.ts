import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { Browser } from './browser.ts';
import { type Instance, startDeployment, startListening, type TestDeployment } from './deployment.ts';
import { addApplication, addBuilder, addUser, REDIRECT_URI } from './fixtures.ts';

/* Two strict third-party clients, which discover the endpoints of a listening service. */

const SCOPE = 'read:builders read:projects';
const secret = newSecret();
const insecure = { [oauth.allowInsecureRequests]: true };

let deployment: TestDeployment;
let instance: Instance;

beforeAll(async () => {
  deployment = await startDeployment();
  instance = await startListening(deployment);
  await addBuilder(deployment, 'buil_a');
  await addUser(deployment, 'user_a', ['buil_a']);
  await addBuilder(deployment, 'buil_us', { region: 'us1' });
  await addUser(deployment, 'user_us', ['buil_us'], { region: 'us1' });
  await addApplication(deployment, 'cli_app');
  await addApplication(deployment, 'cli_us', { region: 'us1' });
  await addApplication(deployment, 'cli_server', { type: 'CONFIDENTIAL', secrets: [secret] });
});
afterAll(() => deployment?.close());

/** Signs the user in, submits the consent form with this button and returns the target of the redirect. */
async function answerConsent(url: URL, button: string, email = 'user_a@example.com'): Promise<URL> {
  const browser = new Browser(instance.app);
  const consent = await browser.signIn(await browser.send('GET', `${url.pathname}${url.search}`), email);
  return new URL((await browser.submit(consent, button)).location!);
}

describe('discovery', () => {
  test('the metadata is complete and can be cached (RFC 8414) (OAU-40)', async () => {
    const response = await fetch(`${deployment.baseUrl}/.well-known/oauth-authorization-server`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const metadata = (await response.json()) as Record<string, unknown>;
    expect(metadata).toMatchObject({
      issuer: deployment.baseUrl,
      authorization_endpoint: `${deployment.baseUrl}/oauth/authorize`,
      token_endpoint: `${deployment.baseUrl}/oauth/token`,
      revocation_endpoint: `${deployment.baseUrl}/oauth/revoke`,
      introspection_endpoint: `${deployment.baseUrl}/oauth/introspect`,
      response_types_supported: ['code'],
      grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256', 'PLAIN', 'plain'],
      authorization_response_iss_parameter_supported: true,
    });
    expect(metadata.scopes_supported).toContain('write:sign_on_events');
    expect(metadata.scopes_supported).not.toContain('read:attendance');
  });
});

describe('oauth4webapi', () => {
  const discover = async () => {
    const issuer = new URL(deployment.baseUrl);
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    return oauth.processDiscoveryResponse(issuer, response);
  };

  test.each([
    ['a public client', 'cli_app', oauth.None(), 'user_a@example.com', 'buil_a'],
    ['a confidential client', 'cli_server', oauth.ClientSecretBasic(secret), 'user_a@example.com', 'buil_a'],
    ['a client of us1', 'cli_us', oauth.None(), 'user_us@example.com', 'buil_us'],
  ])('%s completes code, refresh and revocation', async (_name, client_id, authentication, email, builderId) => {
    const server = await discover();
    const client = { client_id };
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(server.authorization_endpoint!);
    url.search = new URLSearchParams({
      ...{ client_id, redirect_uri: REDIRECT_URI, response_type: 'code', scope: SCOPE, state },
      ...{ code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
    }).toString();
    const back = oauth.validateAuthResponse(server, client, await answerConsent(url, 'Allow', email), state);

    const exchanged = await oauth.authorizationCodeGrantRequest(
      ...([server, client, authentication, back, REDIRECT_URI, verifier, insecure] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchanged);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: SCOPE });

    const refreshed = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      tokens.refresh_token!,
      insecure,
    );
    const renewed = await oauth.processRefreshTokenResponse(server, client, refreshed);
    const me = (token: string) =>
      oauth.protectedResourceRequest(
        token,
        'GET',
        new URL('/me', deployment.baseUrl),
        regionOf(client_id),
        null,
        insecure,
      );
    const response = await me(renewed.access_token);
    expect(await response.json()).toMatchObject({ type: 'user', memberships: [{ builderId }] });

    for (const token of [renewed.access_token, renewed.refresh_token!]) {
      const revoked = await oauth.revocationRequest(server, client, authentication, token, insecure);
      expect(await oauth.processRevocationResponse(revoked)).toBeUndefined();
    }
    await expect(me(renewed.access_token)).rejects.toThrow(oauth.WWWAuthenticateChallengeError);
    const rejected = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      renewed.refresh_token!,
      insecure,
    );
    await expect(oauth.processRefreshTokenResponse(server, client, rejected)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('introspects tokens of a confidential client', async () => {
    const server = await discover();
    const client = { client_id: 'cli_server' };
    const authentication = oauth.ClientSecretPost(secret);
    const ask = async (token: string) =>
      oauth.processIntrospectionResponse(
        ...([
          server,
          client,
          await oauth.introspectionRequest(server, client, authentication, token, insecure),
        ] as const),
      );
    expect(await ask('nonsense')).toEqual({ active: false });
  });

  test('reports access_denied when the user denies access', async () => {
    const server = await discover();
    const client = { client_id: 'cli_app' };
    const url = new URL(server.authorization_endpoint!);
    url.search = new URLSearchParams({
      ...{ client_id: 'cli_app', redirect_uri: REDIRECT_URI, response_type: 'code', scope: SCOPE, state: 'state' },
      ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
    }).toString();
    const back = await answerConsent(url, 'deny');
    expect(() => oauth.validateAuthResponse(server, client, back, 'state')).toThrow(oauth.AuthorizationResponseError);
  });
});

describe('openid-client', () => {
  test.each([
    ['a public client', 'cli_app', undefined],
    ['a confidential client', 'cli_server', secret],
  ])('%s completes code, refresh, revocation and introspection', async (_name, clientId, clientSecret) => {
    const config = await openid.discovery(
      ...([new URL(deployment.baseUrl), clientId, clientSecret, clientSecret ? undefined : openid.None()] as const),
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    );
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const url = openid.buildAuthorizationUrl(config, {
      ...{ redirect_uri: REDIRECT_URI, scope: SCOPE, state: expectedState, code_challenge_method: 'S256' },
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    });
    const back = await answerConsent(url, 'Allow');
    const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState });
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: SCOPE });
    const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token!, { scope: 'read:builders' });
    expect(renewed.scope).toBe('read:builders');
    const response = await openid.fetchProtectedResource(
      ...([config, renewed.access_token, new URL('/me', deployment.baseUrl), 'GET'] as const),
    );
    expect(await response.json()).toMatchObject({ id: 'user_a', scopes: ['read:builders'] });
    if (clientSecret) {
      const { active, sub } = await openid.tokenIntrospection(config, renewed.access_token);
      expect([active, sub]).toEqual([true, 'user_a']);
    }
    await openid.tokenRevocation(config, renewed.refresh_token!);
    if (clientSecret) expect(await openid.tokenIntrospection(config, renewed.access_token)).toEqual({ active: false });
    await expect(openid.refreshTokenGrant(config, renewed.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });
});

const regionOf = (clientId: string) => new Headers(clientId === 'cli_us' ? { 'X-Service-Region-Id': 'us1' } : {});
