import { createHmac } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { Browser } from './browser.ts';
import { codeFor, exchange, refresh, tokensFor } from './flow.ts';
import {
  addApplication,
  addBuilder,
  addUser,
  answerIn,
  authorization,
  challengeOf,
  queryOf,
  VERIFIER,
} from './people.ts';
import { BASE_URL, type OAuthService, startOAuth } from './service.ts';

const EVIL = 'https://evil.example/callback';

let service: OAuthService;

beforeAll(async () => {
  service = await startOAuth();
  await addBuilder(service, 'buil_a');
  await addBuilder(service, 'buil_us', { region: 'us1' });
  await addUser(service, 'user_a', ['buil_a']);
  await addUser(service, 'user_mallory', ['buil_a']);
  await addUser(service, 'user_us', ['buil_us'], { region: 'us1' });
  await addApplication(service, 'cli_app');
  await addApplication(service, 'cli_evil', { redirectUris: [EVIL] });
  await addApplication(service, 'cli_us', { region: 'us1' });
});
afterAll(() => service?.close());

const person = { clientId: 'cli_app', email: 'user_a@example.com' };
const live = async (token: string) => {
  const claims = await service.tokens.verify(token);
  return claims !== null && (await service.access.isLive(claims, 'au1'));
};

describe('code injection (RFC 9700 section 4.5)', () => {
  test("the victim's code is worth nothing with the attacker's verifier, in the victim's own client", async () => {
    const code = await codeFor(service, person);
    const attackers = 'attackers-own-verifier-of-at-least-43-characters';
    expect((await exchange(service, person, code, { code_verifier: attackers })).body.error).toBe('invalid_grant');
  });

  test("another client cannot exchange it, whatever it knows of it, and it stays the victim's", async () => {
    const code = await codeFor(service, person);
    for (const changes of [{}, { redirect_uri: EVIL }]) {
      expect((await exchange(service, { clientId: 'cli_evil' }, code, changes)).body.error).toBe('invalid_grant');
    }
    expect((await exchange(service, person, code)).status).toBe(200);
  });
});

describe('PKCE downgrade (RFC 9700 section 4.8.2)', () => {
  test('a challenge was sent and the verifier is left out', async () => {
    const code = await codeFor(service, person);
    for (const code_verifier of [undefined, '']) {
      expect((await exchange(service, person, code, { code_verifier })).body.error).toBe('invalid_request');
    }
  });

  test('no challenge is sent, or the method is stripped from an S256 one (OAU-21)', async () => {
    for (const stripped of ['code_challenge', 'code_challenge_method']) {
      const view = await new Browser(service.app).open(authorization('cli_app', { [stripped]: undefined }));
      expect(answerIn(view.location!).error).toBe('invalid_request');
    }
  });

  test('the method is changed to PLAIN, so that the challenge, which an observer knows, is the verifier', async () => {
    const code = await codeFor(service, person);
    const observed = challengeOf(VERIFIER);
    const changes = { code_verifier: observed, code_challenge_method: 'PLAIN', code_challenge: observed };
    expect((await exchange(service, person, code, changes)).body.error).toBe('invalid_grant');
  });
});

describe('mix-up (RFC 9207)', () => {
  test('every answer, a code or an error, names its issuer (OAU-20)', async () => {
    const browser = new Browser(service.app);
    const consent = await browser.signIn(await browser.open(authorization('cli_app')), person.email);
    const allowed = await browser.press(consent, 'Allow');
    const denied = await browser.press(await browser.open(authorization('cli_app')), 'deny');
    const wrong = await browser.open(authorization('cli_app', { scope: 'x' }));
    for (const { location } of [allowed, denied, wrong]) expect(answerIn(location!).iss).toBe(BASE_URL);
  });
});

describe('parameter pollution', () => {
  test('a repeated parameter is refused at the token endpoint, whichever comes first', async () => {
    const code = await codeFor(service, person);
    const fields = { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example/callback' };
    const form = queryOf({ ...fields, client_id: 'cli_app', code_verifier: VERIFIER });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const again of ['client_id=cli_evil', 'code=other', `redirect_uri=${EVIL}`, 'code_verifier=']) {
      for (const payload of [`${form}&${again}`, `${again}&${form}`]) {
        const response = await service.app.inject({ method: 'POST', url: '/oauth/token', headers, payload });
        expect([response.statusCode, response.json().error]).toEqual([400, 'invalid_request']);
      }
    }
    expect((await exchange(service, person, code)).status).toBe(200);
  });

  test('the state cannot add to the answer', async () => {
    const state = 'a&code=injected#fragment\r\nSet-Cookie: a=b';
    const view = await new Browser(service.app).open(authorization('cli_app', { state, scope: 'x' }));
    const answer = new URL(view.location!);
    expect([...answer.searchParams.keys()].sort()).toEqual(['error', 'error_description', 'iss', 'state']);
    expect([answer.searchParams.get('state'), answer.hash]).toEqual([state, '']);
    expect(view.headers['set-cookie']).toBeUndefined();
  });
});

describe('scope widening', () => {
  test('neither the exchange nor a refresh gives more than the user consented to', async () => {
    const code = await codeFor(service, person);
    const { body } = await exchange(service, person, code, { scope: 'read:builders write:photos' });
    expect(body.scope).toBe('read:builders read:projects');
    const wider = await refresh(service, person, body.refresh_token, { scope: 'read:builders write:photos' });
    expect(wider.body.error).toBe('invalid_scope');
    const narrow = (await refresh(service, person, body.refresh_token, { scope: 'read:builders' })).body;
    expect(decodeJwt(narrow.access_token).scope).toBe('read:builders');
  });
});

describe("another client's tokens", () => {
  test('are not revoked, refreshed or rotated by it', async () => {
    const tokens = await tokensFor(service, person);
    for (const token of Object.values(tokens).filter((value) => typeof value === 'string')) {
      const payload = { client_id: 'cli_evil', token };
      expect((await service.app.inject({ method: 'POST', url: '/oauth/revoke', payload })).statusCode).toBe(200);
    }
    expect((await refresh(service, { clientId: 'cli_evil' }, tokens.refresh_token)).body.error).toBe('invalid_grant');
    expect(await live(tokens.access_token)).toBe(true);
    expect((await refresh(service, person, tokens.refresh_token)).status).toBe(200);
  });
});

describe('another region', () => {
  test('knows neither code nor refresh token nor access token (HDR-9)', async () => {
    const tokens = await tokensFor(service, { clientId: 'cli_us', email: 'user_us@example.com' });
    const code = await codeFor(service, { clientId: 'cli_us', email: 'user_us@example.com' });
    expect((await exchange(service, person, code)).body.error).toBe('invalid_grant');
    expect((await refresh(service, person, tokens.refresh_token)).body.error).toBe('invalid_grant');
    expect(await live(tokens.access_token)).toBe(false);
    const claims = (await service.tokens.verify(tokens.access_token))!;
    expect(await service.access.isLive(claims, 'us1')).toBe(true);
    const headers = { 'x-service-region-id': 'au1', 'content-type': 'application/json' };
    const payload = JSON.stringify({ client_id: 'cli_us', token: tokens.access_token });
    const answer = await service.app.inject({ method: 'POST', url: '/oauth/revoke', headers, payload });
    expect(answer.statusCode).toBe(401);
    expect(await service.access.isLive(claims, 'us1')).toBe(true);
  });
});

describe('a forged access token', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  test('with alg none, or signed with what everybody knows, is none', async () => {
    const { access_token } = await tokensFor(service, person);
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
        expect(await live(forged)).toBe(false);
      }
    }
    expect(await live(access_token)).toBe(true);
  });

  test('is not made of a refresh token or a code', async () => {
    const { refresh_token } = await tokensFor(service, person);
    for (const token of [refresh_token, await codeFor(service, person), newSecret()])
      expect(await live(token)).toBe(false);
  });

  test('does not outlive its hour: 61 minutes later it is over', async () => {
    const { access_token, refresh_token } = await tokensFor(service, person);
    service.clock.at += 61 * 60_000;
    expect(await live(access_token)).toBe(false);
    expect((await refresh(service, person, refresh_token)).status).toBe(200);
    service.clock.at -= 61 * 60_000;
  });
});

describe('cross-site request forgery', () => {
  test("an attacker's consent form, posted by the victim's browser, allows nothing", async () => {
    const victim = new Browser(service.app);
    await victim.signIn(await victim.open(authorization('cli_app')), person.email);
    const attacker = new Browser(service.app);
    const consent = await attacker.signIn(await attacker.open(authorization('cli_app')), 'user_mallory@example.com');
    const form = consent.forms.find(({ buttons }) => buttons.some(({ value }) => value === 'allow'))!;
    const view = await victim.send('POST', form.action, queryOf({ ...form.fields, action: 'allow' }));
    expect([view.status, view.location]).toEqual([403, null]);
  });

  test("an attacker's sign-in form does not sign the victim's browser in as the attacker", async () => {
    const attacker = new Browser(service.app);
    const page = await attacker.open(authorization('cli_app'));
    const form = page.forms.find(({ action }) => action.includes('sign-in'))!;
    const victim = new Browser(service.app);
    await victim.open(authorization('cli_app'));
    const fields = { ...form.fields, email: 'user_mallory@example.com', password: 'correct horse battery' };
    const view = await victim.send('POST', form.action, queryOf(fields));
    expect(view.status).toBe(403);
    expect((await victim.open(authorization('cli_app'))).heading).toBe('Sign in');
  });
});

describe('what a log or an error could give away', () => {
  test('no code, token or secret is in the text of an error (OAU-42)', async () => {
    const code = await codeFor(service, person);
    const { refresh_token } = await tokensFor(service, person);
    const answers = [
      await exchange(service, person, code, { code_verifier: 'x'.repeat(43) }),
      await refresh(service, { clientId: 'cli_evil' }, refresh_token),
    ];
    for (const { body } of answers) {
      expect(JSON.stringify(body)).not.toContain(code);
      expect(JSON.stringify(body)).not.toContain(refresh_token);
    }
  });
});
