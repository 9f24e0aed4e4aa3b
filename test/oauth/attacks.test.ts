import { createHmac } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { Browser } from './browser.ts';
import { exchangeCode, obtainCode, obtainTokens, refreshTokens } from './code-flow.ts';
import {
  addApplication,
  addBuilder,
  addUser,
  authorizationParameters,
  responseParametersOf,
  s256ChallengeOf,
  toQuery,
  VERIFIER,
} from './fixtures.ts';
import { BASE_URL, useOAuth } from './service.ts';

const EVIL = 'https://evil.example/callback';

const service = useOAuth();

beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  await addBuilder(service, 'buil_us', { region: 'us1' });
  await addUser(service, 'user_a', ['buil_a']);
  await addUser(service, 'user_mallory', ['buil_a']);
  await addUser(service, 'user_us', ['buil_us'], { region: 'us1' });
  await addApplication(service, 'cli_app');
  await addApplication(service, 'cli_evil', { redirectUris: [EVIL] });
  await addApplication(service, 'cli_us', { region: 'us1' });
});

const flow = { clientId: 'cli_app', email: 'user_a@example.com' };
const isAccepted = async (token: string) => {
  const claims = await service.tokens.verify('au1', token);
  return claims !== null && (await service.tokenVerifier.isLive(claims, 'au1'));
};

describe('code injection (RFC 9700 section 4.5)', () => {
  test("the victim's code cannot be exchanged with the attacker's verifier in the victim's client", async () => {
    const code = await obtainCode(service, flow);
    const attackers = 'attackers-own-verifier-of-at-least-43-characters';
    expect((await exchangeCode(service, flow, code, { code_verifier: attackers })).body.error).toBe('invalid_grant');
  });

  test("another client cannot exchange or consume the victim's code", async () => {
    const code = await obtainCode(service, flow);
    for (const changes of [{}, { redirect_uri: EVIL }]) {
      expect((await exchangeCode(service, { clientId: 'cli_evil' }, code, changes)).body.error).toBe('invalid_grant');
    }
    expect((await exchangeCode(service, flow, code)).status).toBe(200);
  });
});

describe('PKCE downgrade (RFC 9700 section 4.8.2)', () => {
  test('a code with a challenge cannot be exchanged without the verifier', async () => {
    const code = await obtainCode(service, flow);
    for (const code_verifier of [undefined, '']) {
      expect((await exchangeCode(service, flow, code, { code_verifier })).body.error).toBe('invalid_request');
    }
  });

  test('a request without challenge or without method is rejected (OAU-21)', async () => {
    for (const stripped of ['code_challenge', 'code_challenge_method']) {
      const view = await new Browser(service.app).open(authorizationParameters('cli_app', { [stripped]: undefined }));
      expect(responseParametersOf(view.location!).error).toBe('invalid_request');
    }
  });

  test('an observed S256 challenge cannot be used as the verifier of the method PLAIN', async () => {
    const code = await obtainCode(service, flow);
    const observed = s256ChallengeOf(VERIFIER);
    const changes = { code_verifier: observed, code_challenge_method: 'PLAIN', code_challenge: observed };
    expect((await exchangeCode(service, flow, code, changes)).body.error).toBe('invalid_grant');
  });
});

describe('mix-up (RFC 9207)', () => {
  test('every authorization response, success or error, contains the issuer (OAU-20)', async () => {
    const browser = new Browser(service.app);
    const consent = await browser.signIn(await browser.open(authorizationParameters('cli_app')), flow.email);
    const allowed = await browser.submit(consent, 'Allow');
    const denied = await browser.submit(await browser.open(authorizationParameters('cli_app')), 'deny');
    const wrong = await browser.open(authorizationParameters('cli_app', { scope: 'x' }));
    for (const { location } of [allowed, denied, wrong]) expect(responseParametersOf(location!).iss).toBe(BASE_URL);
  });
});

describe('parameter pollution', () => {
  test('the token endpoint rejects a repeated parameter in any order', async () => {
    const code = await obtainCode(service, flow);
    const fields = { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example/callback' };
    const form = toQuery({ ...fields, client_id: 'cli_app', code_verifier: VERIFIER });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const again of ['client_id=cli_evil', 'code=other', `redirect_uri=${EVIL}`, 'code_verifier=']) {
      for (const payload of [`${form}&${again}`, `${again}&${form}`]) {
        const response = await service.app.inject({ method: 'POST', url: '/oauth/token', headers, payload });
        expect([response.statusCode, response.json().error]).toEqual([400, 'invalid_request']);
      }
    }
    expect((await exchangeCode(service, flow, code)).status).toBe(200);
  });

  test('the state cannot add parameters or headers to the response', async () => {
    const state = 'a&code=injected#fragment\r\nSet-Cookie: a=b';
    const view = await new Browser(service.app).open(authorizationParameters('cli_app', { state, scope: 'x' }));
    const response = new URL(view.location!);
    expect([...response.searchParams.keys()].sort()).toEqual(['error', 'error_description', 'iss', 'state']);
    expect([response.searchParams.get('state'), response.hash]).toEqual([state, '']);
    expect(view.headers['set-cookie']).toBeUndefined();
  });
});

describe('scope widening', () => {
  test('neither an exchange nor a refresh grants more than the user consented to', async () => {
    const code = await obtainCode(service, flow);
    const { body } = await exchangeCode(service, flow, code, { scope: 'read:builders write:photos' });
    expect(body.scope).toBe('read:builders read:projects');
    const wider = await refreshTokens(service, flow, body.refresh_token, { scope: 'read:builders write:photos' });
    expect(wider.body.error).toBe('invalid_scope');
    const narrow = (await refreshTokens(service, flow, body.refresh_token, { scope: 'read:builders' })).body;
    expect(decodeJwt(narrow.access_token).scope).toBe('read:builders');
  });
});

describe("another client's tokens", () => {
  test('cannot be revoked, refreshed or rotated', async () => {
    const tokens = await obtainTokens(service, flow);
    for (const token of Object.values(tokens).filter((value) => typeof value === 'string')) {
      const payload = { client_id: 'cli_evil', token };
      expect((await service.app.inject({ method: 'POST', url: '/oauth/revoke', payload })).statusCode).toBe(200);
    }
    expect((await refreshTokens(service, { clientId: 'cli_evil' }, tokens.refresh_token)).body.error).toBe(
      'invalid_grant',
    );
    expect(await isAccepted(tokens.access_token)).toBe(true);
    expect((await refreshTokens(service, flow, tokens.refresh_token)).status).toBe(200);
  });
});

describe('another region', () => {
  test('accepts neither code nor refresh token nor access token (HDR-9)', async () => {
    const tokens = await obtainTokens(service, { clientId: 'cli_us', email: 'user_us@example.com' });
    const code = await obtainCode(service, { clientId: 'cli_us', email: 'user_us@example.com' });
    expect((await exchangeCode(service, flow, code)).body.error).toBe('invalid_grant');
    expect((await refreshTokens(service, flow, tokens.refresh_token)).body.error).toBe('invalid_grant');
    expect(await isAccepted(tokens.access_token)).toBe(false);
    expect(await service.tokens.verify('au1', tokens.access_token)).toBeNull();
    const claims = (await service.tokens.verify('us1', tokens.access_token))!;
    expect(await service.tokenVerifier.isLive(claims, 'us1')).toBe(true);
    const headers = { 'x-service-region-id': 'au1', 'content-type': 'application/json' };
    const payload = JSON.stringify({ client_id: 'cli_us', token: tokens.access_token });
    const response = await service.app.inject({ method: 'POST', url: '/oauth/revoke', headers, payload });
    expect(response.statusCode).toBe(401);
    expect(await service.tokenVerifier.isLive(claims, 'us1')).toBe(true);
  });
});

describe('a forged access token', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  test('with alg none, or signed with a public value, is rejected', async () => {
    const { access_token } = await obtainTokens(service, flow);
    const [, payload, signature] = access_token.split('.') as [string, string, string];
    const wider = part({ ...decodeJwt(access_token), scope: 'write:photos' });
    for (const alg of ['none', 'None', 'HS384', 'HS512', 'RS256', 'ES256']) {
      const header = part({ ...decodeProtectedHeader(access_token), alg });
      for (const forged of [
        `${header}.${payload}.`,
        `${header}.${payload}.${signature}`,
        `${header}.${wider}.${createHmac('sha256', '').update(`${header}.${wider}`).digest('base64url')}`,
        `${header}.${wider}.${createHmac('sha256', BASE_URL).update(`${header}.${wider}`).digest('base64url')}`,
      ]) {
        expect(await isAccepted(forged)).toBe(false);
      }
    }
    expect(await isAccepted(access_token)).toBe(true);
  });

  test('cannot be replaced by a refresh token or a code', async () => {
    const { refresh_token } = await obtainTokens(service, flow);
    for (const token of [refresh_token, await obtainCode(service, flow), newSecret()])
      expect(await isAccepted(token)).toBe(false);
  });

  test('is rejected 61 minutes later', async () => {
    const { access_token, refresh_token } = await obtainTokens(service, flow);
    service.clock.at += 61 * 60_000;
    expect(await isAccepted(access_token)).toBe(false);
    expect((await refreshTokens(service, flow, refresh_token)).status).toBe(200);
    service.clock.at -= 61 * 60_000;
  });
});

describe('cross-site request forgery', () => {
  test("an attacker's consent form is rejected from the victim's browser", async () => {
    const victim = new Browser(service.app);
    await victim.signIn(await victim.open(authorizationParameters('cli_app')), flow.email);
    const attacker = new Browser(service.app);
    const consent = await attacker.signIn(
      await attacker.open(authorizationParameters('cli_app')),
      'user_mallory@example.com',
    );
    const form = consent.forms.find(({ buttons }) => buttons.some(({ value }) => value === 'allow'))!;
    const view = await victim.send('POST', form.action, toQuery({ ...form.fields, action: 'allow' }));
    expect([view.status, view.location]).toEqual([403, null]);
  });

  test("an attacker's sign-in form does not sign the victim's browser in as the attacker", async () => {
    const attacker = new Browser(service.app);
    const page = await attacker.open(authorizationParameters('cli_app'));
    const form = page.forms.find(({ action }) => action.includes('sign-in'))!;
    const victim = new Browser(service.app);
    await victim.open(authorizationParameters('cli_app'));
    const fields = { ...form.fields, email: 'user_mallory@example.com', password: 'correct horse battery' };
    const view = await victim.send('POST', form.action, toQuery(fields));
    expect(view.status).toBe(403);
    expect((await victim.open(authorizationParameters('cli_app'))).heading).toBe('Sign in');
  });
});

describe('error responses', () => {
  test('contain no code, token or secret (OAU-42)', async () => {
    const code = await obtainCode(service, flow);
    const { refresh_token } = await obtainTokens(service, flow);
    const responses = [
      await exchangeCode(service, flow, code, { code_verifier: 'x'.repeat(43) }),
      await refreshTokens(service, { clientId: 'cli_evil' }, refresh_token),
    ];
    for (const { body } of responses) {
      expect(JSON.stringify(body)).not.toContain(code);
      expect(JSON.stringify(body)).not.toContain(refresh_token);
    }
  });
});
