import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from './browser.ts';
import { addApplication, addBuilder, addUser, answerIn, authorization, REDIRECT, VERIFIER } from './people.ts';
import { BASE_URL, type OAuthService, postToken, startOAuth } from './service.ts';

let service: OAuthService;

beforeAll(async () => {
  service = await startOAuth();
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
  await addApplication(service, 'cli_app');
});
afterAll(() => service?.close());

test('smoke', async () => {
  const browser = new Browser(service.app);
  const page = await browser.open(authorization('cli_app'));
  expect(page.heading).toBe('Sign in');
  const consent = await browser.signIn(page, 'user_a@example.com');
  expect(consent.heading).toMatch(/^Allow Client cli_app/);
  const done = await browser.press(consent, 'Allow');
  expect(done.status).toBe(303);
  const { code, state, iss } = answerIn(done.location!);
  expect([state, iss]).toEqual(['a state & more', BASE_URL]);
  const answer = await postToken(service.app, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    client_id: 'cli_app',
    code_verifier: VERIFIER,
  });
  expect(answer.body).toMatchObject({ token_type: 'Bearer', scope: 'read:builders read:projects' });
});
